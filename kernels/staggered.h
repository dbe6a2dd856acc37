/* Links and hop of staggered quarks; the formulas stand in kernels/site/staggered.h.
 *
 * Link fields are of kind FIELD_LINKS with both parities, and need not be unitary; ghosts are brought up to date as
 * needed. What makes links is for double precision. Outputs come first and are no inputs, unless said. All functions
 * are collective. */
#ifndef PLAQ_STAGGERED_H
#define PLAQ_STAGGERED_H

#include "kernels/lattice/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Coefficients of the paths of 1, 3, 5 and 7 links, and of Lepage's. Phases are not in the links yet, so those of
 * 3, 5 and 7 have the sign of the first. */
typedef struct {
    double one, three, five, seven, lepage;
} staggered_paths;

/* fat = the sum of paths of unitary links. */
void staggered_fatten(field *fat, const field *links, const staggered_paths *c);
/* out = coefficient times the product of three links in a row; the lattice's reach is at least 2. */
void staggered_lengthen(field *out, const field *links, double coefficient);
/* Phases, and the sign of the lattice's boundary in t, into links that lead `reach` sites (1 or 3), in place. */
void staggered_phases(field *links, int reach);
/* y = a x; y may be x. */
void staggered_scale(field *y, double a, const field *x);
/* w = v (v^dagger v)^(-1/2), unitary. Returns how many links were so near singular that they took the slow way;
 * *undefined: those with two singular values of zero, which are left as they were. w may be v. */
double staggered_unitarise(field *w, const field *v, double *undefined);

typedef struct {
    double a, b;
    const field *near, *far;      /* fat links, and long ones or null */
    double near_scale, far_scale; /* the true links are so many times those that are stored; 1 but in fixed point */
    const field *add;
} staggered_call;
/* out = a D in + b add on parity p, from in on the other one; out may be call->add. b = 0 does not read `add`. Fields
 * may hold both parities. With long links the lattice's reach is 3. */
void staggered_hop(field *out, parity p, const field *in, const staggered_call *call);

#ifdef __cplusplus
}
#endif
#endif
