/* The Wilson-clover operator and its even-odd Schur complements.
 *
 * M = 4 + m + (i c_sw / 4) sigma F + i mu gamma_5 - D / 2 with D the hop of kernels/site/hop.h (eq. (2) of M. Clark et al.,
 * arXiv:1612.07873; clover term in the normalisation of hep-lat/9605038; twisted mass of one flavour of a doublet as in R.
 * Frezzotti et al., hep-lat/0101001). The other flavour of a doublet has -mu, and M(-mu) = gamma_5 M(mu)^dagger gamma_5. With
 * A the site-diagonal part on parity p or the other, q, and H = -D / 2:
 *
 *   asymmetric  Mhat = A_pp - H_pq A_qq^-1 H_qp,        det M = det A_qq det Mhat
 *   symmetric   Mhat = 1 - A_pp^-1 H_pq A_qq^-1 H_qp,   det M = det A det Mhat
 *
 * A non-degenerate doublet (R. Frezzotti and G. C. Rossi, hep-lat/0311008; T. Chiarappa et al., hep-lat/0606011) has two
 * flavours, slices 0 and 1 of its fields, and
 *
 *   M = D + X, X = i mu gamma_5 tau_2 + epsilon tau_3, a real matrix: mu gamma_5 from slice 1 to 0 and -mu gamma_5 back,
 *
 * D the same as above without a twisted mass. It is i mu gamma_5 tau_1 + epsilon tau_3 of the literature, mu = mu_sigma and
 * epsilon = mu_delta, and i mu gamma_5 tau_3 + epsilon tau_1, mu = mubar and epsilon = epsbar, up to a rotation of flavours,
 * which no determinant sees. gamma_5 tau_3 M gamma_5 tau_3 = M^dagger, so that det M is real. X^2 = epsilon^2 - mu^2, and
 * gamma_5 commutes with the site-diagonal part C of D, so (C + X)^-1 = (C - X) K, K = (C^2 + mu^2 - epsilon^2)^-1.
 *
 * On an anisotropic lattice, a_s = xi a_t, spatial hops have the factor nu / xi_0 of the bare anisotropy xi_0 (R. Edwards,
 * B. Joo and H.-W. Lin, arXiv:0803.3960), in units of a_t:
 *
 *   M = 1 + 3 nu / xi_0 + m + (i / 4) [c_R / xi_0 sum over spatial planes + c_T sum over planes with time] sigma F
 *         + i mu gamma_5 - D_t / 2 - (nu / xi_0) D_s / 2.
 *
 * A `wilson` owns what is derived from the links (clover, its inverse, copies in other precisions) and rebuilds it when
 * the links have changed. The links are borrowed, and may be smeared (link_map.h), both hop and clover term; the time
 * boundary is the lattice's. A twist is in the hop alone, since it cancels in the loops of the clover term. Forces see all
 * 18 reals of the links. */
#ifndef PLAQ_WILSON_H
#define PLAQ_WILSON_H

#include "kernels/base/param.h"
#include "kernels/ops/wilson.h"
#include "operators/fermion.h"
#include "operators/link_map.h"

#define SCHUR_FORMS(X) X(SCHUR_ASYMMETRIC, "asymmetric") X(SCHUR_SYMMETRIC, "symmetric")
typedef enum { SCHUR_FORMS(PARAM_CONSTANT) } schur_form;

/* Anisotropic lattice; xi_0 = 0: isotropic. */
typedef struct {
    double xi_0, nu, c_R, c_T;
} wilson_anisotropy;

typedef struct {
    double mass, c_sw;            /* c_sw: of an isotropic lattice */
    wilson_anisotropy anisotropy; /* gives the coefficients of the clover term in place of c_sw */
    schur_form form;
    parity p;           /* parity of the Schur complement's vectors */
    field_kind storage; /* hop links: FIELD_LINKS, or FIELD_LINKS_TWO_ROWS for less traffic, without a twist */
    link_map *map;      /* link map of hop and clover term; null: the links themselves */
    int thin_clover;    /* the clover term is made of the links themselves, the hop alone of the map's */
    int exponential;    /* exponential clover term (A. Francis et al., arXiv:1911.04533), else the linear one */
    double mu;          /* twisted mass in units of 1/a, of either sign */
    double inside
        [2]; /* c_F - 1 of the lower and the upper end of lattices bounded in time, added to M on the slices next to them; else 0 */
    int doublet; /* non-degenerate doublet of twisted mass mu and mass splitting epsilon; else epsilon is 0 */
    double epsilon;
} wilson_settings;

typedef struct wilson wilson;

/* The factor of the hop's spatial directions, and the coefficients of the clover term. */
double wilson_space(const wilson_settings *s);
clover_coefficients wilson_clover(const wilson_settings *s);
/* True if the factor of the determinant that even-odd takes out is the same on all links: of plain Wilson quarks, and of exponential
 * clover terms, whose exponents have no trace, with no twisted mass and no c_F beside them. */
int wilson_has_constant_det(const wilson_settings *s);

/* Wilson quark as a fermion; links are borrowed. */
fermion *wilson_fermion(const field *links, const wilson_settings *s);

wilson *wilson_create(const field *links, const wilson_settings *s);
void wilson_destroy(wilson *w);

/* The Schur complement in double where the links are; owned by w. */
linop *wilson_schur(wilson *w);

/* Rebuilds what is out of date; implied by the following. */
void wilson_refresh(wilson *w);
/* log |det A| over the parities that the form takes out of det M, for a doublet half of it; *negatives: pivots of A, or of
 * C^2 + mu^2 - epsilon^2 with a twisted mass or a doublet, with the wrong sign. */
double wilson_log_det(wilson *w, double *negatives);

/* The right-hand side of the Schur system for M x = b, and x from its solution: b and x hold both parities, the others
 * parity p. */
void wilson_prepare(wilson *w, field *schur_source, const field *source);
void wilson_reconstruct(wilson *w, field *x, const field *schur_x, const field *source);
/* y = M x or M^dagger x on both parities, in double precision where the links are. The clover term that this takes is kept
 * until the links change. */
void wilson_apply(wilson *w, field *y, const field *x, int dagger);

/* Forces, gathered term by term: open, add, close. The insertions of all clover terms meet in one tensor, of which
 * close() makes the dearest part of the force once; until then forces are incomplete. Operators of one sum share the
 * links of the clover term and nothing else. Work fields are made as needed. Collective. */
typedef struct {
    const field *links;
    field *of_hop, *of_clover, *tensor; /* two borrowed forces; tensor of its own, made when a term needs it */
    field *outer; /* products of vectors that the exponential clover term of an operator waits for */
    wilson *of;   /* operator of outer */
} wilson_force;

/* links: those of the clover term. The forces, which may be one field, are those of the hop's links but for their twist and
 * of the clover term's links. Twists of the operators may differ. */
wilson_force wilson_force_open(field *of_hop, field *of_clover, const field *links);
/* forces += those of S with dS = -2 factor Re Y^dagger dMhat X; X, Y and mx = Mhat X on parity p; y may be mx. */
void wilson_force_add(wilson_force *f, wilson *w, double factor, const field *x, const field *y, const field *mx);
/* forces += those of -weight * wilson_log_det(). */
void wilson_force_add_log_det(wilson_force *f, wilson *w, double weight);
void wilson_force_close(wilson_force *f);

#endif
