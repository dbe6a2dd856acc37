/* Links and hop of staggered quarks; the formulas stand in kernels/site/staggered_links.h and staggered.h.
 *
 * Link fields are of kind FIELD_LINKS with both parities, and need not be unitary, unless said; ghosts are brought up
 * to date as needed. What makes links is for double precision. Outputs come first and are no inputs, unless said. All
 * functions are collective. */
#ifndef PLAQ_STAGGERED_H
#define PLAQ_STAGGERED_H

#include "kernels/family/staggered.h"
#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Coefficients of the paths of 1, 3, 5 and 7 links, and of Lepage's. Phases are not in the links yet, so those of
 * 3, 5 and 7 have the sign of the first. */
typedef struct {
    double one, three, five, seven, lepage;
} staggered_paths;

/* Group of unitary links as far as it is known: U(3), or SU(3) to rounding. Of the latter, two rows are read at the sides of
 * staples. */
typedef enum { LINKS_GENERAL, LINKS_SPECIAL } links_group;

/* fat = the sum of paths of unitary links. */
void staggered_fatten(field *fat, const field *links, links_group group, const staggered_paths *c);
/* out = coefficient times the product of three links in a row; the lattice's reach is at least 2. */
void staggered_lengthen(field *out, const field *links, double coefficient);
/* Phases, and the sign of the lattice's boundary in t, into links that lead `reach` sites (1 or 3), in place. */
void staggered_phases(field *links, int reach);
/* The phases of the determinants of unitary links over pi, a field of kind FIELD_PHASES. */
void staggered_link_phases(field *phases, const field *links);
/* U = e^(-i phi/3) U R in place, phi from staggered_link_phases() of U, R = 2/3 (all ones) - 1: what long links of 9
 * reals are stored as, in FIELD_LINKS_EIGHT beside the phases. */
void staggered_link_specials(field *links, const field *phases);
/* y = a x; y may be x. */
void staggered_scale(field *y, double a, const field *x);
/* w = v (v^dagger v)^(-1/2), unitary. Returns how many links were so near singular that they took the slow way;
 * *undefined: those with two singular values of zero, which are left as they were. w may be v. */
double staggered_unitarise(field *w, const field *v, double *undefined);

/* ---- derivatives, kernels/site/staggered_force.h ----
 * The derivative of an action by links V is the field A of dS = Re tr A^dagger dV. From that by what a function above
 * makes of `links`, these give that by `links`. */

/* out = the derivative, or with `add` out +=, where a is that by the fat links; out is not a. */
void staggered_fatten_back(field *out, int add, const field *links, links_group group, const field *a,
                           const staggered_paths *c);
/* Flops a site of one staggered_fatten() and one staggered_fatten_back(). */
double staggered_smearing_flops(void);
/* out += the derivative, where a is that by the long links; the lattice's reach is at least 2. */
void staggered_lengthen_back(field *out, const field *links, const field *a, double coefficient);
/* a, the derivative by w = the projection of v, becomes that by v; singular values of v below `least` are taken as
 * that. Returns the number of links which have one. */
double staggered_unitarise_back(field *a, const field *w, const field *v, double least);
/* momenta += the force, in the normalisation of kernels/ops/gauge.h, of the derivative a by the links in SU(3). */
void staggered_momenta_add(field *momenta, const field *links, const field *a);

/* near_mu(s) += sum_i +-weight_i z_i(s) z_i(s+mu)^dagger, with phases and boundary as in the links there; far_mu(s) +=
 * far_factor times the same with z_i(s+3mu); extra += extra_factor times what near gets. The sign is plus for s on
 * parity `first` p, minus on the other, q: where z_i is x_i on p and D x_i on q, and weights are doubled, this is the
 * derivative of sum_i weight_i x_i^dagger D_pq D_qp x_i for fixed x_i by the links without phases. z is in double
 * precision, holds both parities, and is on a lattice of reach 3 where there is `far`. */
typedef struct {
    parity first;
    field *near, *far, *extra; /* far and extra: or null */
    double far_factor, extra_factor;
} staggered_outer_call;
#define STAGGERED_OUTER_MOST OUTER_MOST /* right-hand sides of z, which holds both parities */
void staggered_outer(const staggered_outer_call *call, const field *z, const double *weights);

typedef struct {
    double a, b;
    const field *near, *far; /* fat links, and long ones or null */
    const field *far_phases; /* null; or phases of the determinants of long links in U(3), of which `far` has two rows
                                or the eight reals of staggered_link_specials() */
    double near_scale, far_scale; /* the true links are so many times those that are stored: 1 for whole links in
                                     floating point */
    const field *add;
} staggered_call;
/* out = a D in + b add on parity p, from in on the other one; out may be call->add. b = 0 does not read `add`. Fields
 * may hold both parities. With long links the lattice's reach is 3. */
void staggered_hop(field *out, parity p, const field *in, const staggered_call *call);

/* Shift: one direction of the hop, with another sign from below and other weights of fat and long links; and a sign of the
 * site: of the sum of the coordinates whose bits (1 x, 2 y, 4 z, 8 t) are in `odd`. */
typedef struct {
    int mu, back, odd;       /* back: 1 or -1 */
    const field *near, *far; /* far: or null */
    double near_weight, far_weight;
    const field *far_phases; /* and far_scale: as a hop has them */
    double far_scale;
} staggered_shift_call;
/* out(s) = +-(near_weight [F_mu(s) in(s+mu) + back F_mu(s-mu)^dagger in(s-mu)] + far_weight [the same of L over three
 * sites]). Both hold both parities, in double precision. With long links the lattice's reach is 3. */
void staggered_shift(field *out, const field *in, const staggered_shift_call *call);

#ifdef __cplusplus
}
#endif
#endif
