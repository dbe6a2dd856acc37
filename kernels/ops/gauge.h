/* Operations on links, momenta, field strength and the clover term (double precision).
 *
 * Links and tensors hold both parities; ghosts are brought up to date as needed. Sums are over all ranks and exact.
 * A force F is defined by dP/dt = -F with H = -sum tr P^2 + S, P = p^a T_a, T_a = i lambda_a / 2: F^a = dS(exp(w T_a)
 * U)/dw. All functions are collective. */
#ifndef PLAQ_GAUGE_H
#define PLAQ_GAUGE_H

#include "kernels/field/field.h"

/* Averages on lattices bounded in time (kernels/lattice/lattice.h) are over the loops and links that there are. */
typedef struct {
    double plaquette, plaquette_space, plaquette_time; /* Re tr / 3 averaged: all planes, spatial, temporal */
    double rectangle;                                  /* 1x2, both orientations */
    double link_trace;
} gauge_loops;

typedef struct {
    double temporal, spatial; /* -tr F F summed over planes, averaged over sites; E = temporal + spatial */
    double charge;
} gauge_energy;

#ifdef __cplusplus
extern "C" {
#endif

/* rectangles: whether that average is wanted (NaN otherwise). */
gauge_loops gauge_measure(const field *links, int rectangles);
/* Plaquette and link trace as files record them: averages over six planes and four links a site whatever the boundary in time, to
 * which inactive links and their loops give zero. No rectangle. */
gauge_loops gauge_measure_recorded(const field *links);

/* Weights of the loops of an action, with the coupling in them. plaquette: [0] in spatial planes, [1] in planes with time.
 * rectangle, of 1x2: [0] in spatial planes, [1] two links long in space and one in time, [2] one in space and two in time.
 * Parallelograms are mu nu rho -mu -nu -rho.
 *
 * c_G: of lattices bounded in time, of the lower and of the upper end. Open: loops in space on the end slice have c_G / 2 times their
 * weights. Wall of a Schroedinger functional: plaquettes in time with an edge on it have c_G times theirs, and loops on it none. All
 * other loops that there are count in full (M. Luescher and S. Schaefer, arXiv:1206.2809, appendix A), but for rectangles at walls, of
 * which there are two treatments, equal to leading order in a: rectangles with two links on the wall and one in time have `along_wall`
 * times their weight, 3/2 (S. Aoki, R. Frezzotti and P. Weisz, hep-lat/9808007, choice B), and twice_at_wall = 0; or along_wall = 1 and
 * plaquettes P in time with an edge on the wall add twice_at_wall = 1/2 times the weight of those rectangles of (1 - Re tr P^2 / 3), for
 * a rectangle that a reflection at the wall folds (openQCD). */
typedef struct {
    double plaquette[2], rectangle[3], parallelogram, c_G[2], along_wall, twice_at_wall;
} gauge_weights;

/* Initialiser: equal weights in all planes, c_G = 1, plaquettes that wind twice at walls. */
#define GAUGE_WEIGHTS(plaquette, rectangle, parallelogram)                                                             \
    {                                                                                                                  \
        {plaquette, plaquette}, {rectangle, rectangle, rectangle}, parallelogram, {1, 1}, 1, 0.5                       \
    }

/* beta (1 - 8 c1), beta c1, and no parallelograms. */
gauge_weights gauge_weights_c1(double beta, double c1);
/* The weights on an anisotropic lattice, a_s = xi_0 a_t at tree level: of loops in space over xi_0, of loops with time times
 * xi_0. Parallelograms have to be zero. */
gauge_weights gauge_weights_anisotropic(gauge_weights w, double xi_0);
/* S = sum over loops, each once in one sense, of weight (1 - Re tr / 3). */
double gauge_action(const field *links, gauge_weights w);
/* force += its force; the links are taken to be in SU(3). */
void gauge_force(field *force, const field *links, gauge_weights w);
/* Floating-point operations of that, a site. */
double gauge_force_flops(gauge_weights w);

/* tensor = Fhat of all planes (M. Luescher et al., hep-lat/9605038, eq. (2.19), without its factor 1/a^2); zero on the end slices of
 * bounded lattices. */
void gauge_field_strength(field *tensor, const field *links);
gauge_energy gauge_field_energy(const field *tensor);
/* The first three complex channels of a density (kernels/ops/contract.h): re and im are -tr F F in temporal and in spatial planes; the charge,
 * and 3 - Re tr summed over the site's spatial plaquettes; the same of its temporal plaquettes, those that there are, and zero. */
void gauge_energy_density(field *rho, const field *tensor, const field *links);

/* Links, momenta, tensors or spinors on the slices next to the ends of time, by a factor; a factor of 0 also clears what is not finite.
 * Nothing happens on periodic lattices. */
typedef enum {
    SLICES_INACTIVE_LINKS, /* links in time of the last slice, and all of idle ones */
    SLICES_FIXED_LINKS,    /* inactive ones, and links in space of walls */
    SLICES_OPEN_LINKS,     /* links in space of the open end slices */
    SLICES_QUARK_LINKS,    /* links that touch an end slice, and all of idle ones */
    SLICES_ENDS            /* everything on the end slices, and on idle ones */
} slice_choice;
void slices_scale(field *f, slice_choice choice, double factor);
/* Momenta, or a force, of links that do not move become zero. Forces of inactive links are zero by themselves, and those of walls are not. */
void momenta_clear_fixed(field *p);

/* links = exp(dt P) links; and with a step of their own for links in time. */
void gauge_update(field *links, double dt, const field *momenta);
void gauge_update_by(field *links, double space, double time, const field *momenta);
/* Projects the links to SU(3); returns the root mean square deviation per link before. */
double gauge_unitarise(field *links);
/* Links, or a colour matrix, all one; inactive links are zero. */
void gauge_cold(field *links);
/* Walls, of those ends that are one: links in space of the first slice are exp(i low / L) with the diagonal matrix of these phases and
 * the extent L along the link, those of the last slice exp(i up / L). Phases of a wall add up to a multiple of 2 pi. And the classical
 * solution between the walls, exp(i (t up + (T - t) low) / (T L)) with links in time one (M. Luescher et al., hep-lat/9207009, section
 * 6); inactive links become zero. */
void gauge_walls(field *links, const double low[3], const double up[3]);
void gauge_background(field *links, const double low[3], const double up[3]);
/* Links, or a colour matrix, uniform on the group. */
void gauge_random(field *links, uint64_t seed, uint32_t purpose, uint32_t number);
/* y = factor_mu x for links of direction mu; y may be x. */
void links_scale(field *y, const field *x, const double factor[4]);
/* y = e^(i angle_mu) x for links of direction mu, which are in U(3) then; y may be x. */
void links_twist(field *y, const field *x, const double angle[4]);

/* Sum over all links of |x - y|^2, the squares of all elements of their difference. */
double links_distance2(const field *x, const field *y);

void momenta_zero(field *p);
void momenta_random(field *p, uint64_t seed, uint32_t purpose, uint32_t number);
void momenta_add(field *y, double a, const field *x);                     /* y += a x */
void momenta_add_by(field *y, double space, double time, const field *x); /* factors of links in space and in time */
/* p_mu(x) += a times the covariant second difference of p_mu along mu, U_mu(x) p_mu(x+mu) U_mu(x)^dagger + U_mu(x-mu)^dagger
 * p_mu(x-mu) U_mu(x-mu) - 2 p_mu(x). */
void momenta_laplace(field *p, double a, const field *links);
double momenta_dot(const field *x, const field *y); /* -sum tr X Y = x^a y^a / 2 */
/* Product with weights of links in space and in time. */
double momenta_dot_by(double space, double time, const field *x, const field *y);
double momenta_norm2(const field *p); /* kinetic energy: momenta_dot() of p with itself */

#ifdef __cplusplus
}
#endif
#endif
