/* One quark's M x = b by its even-odd system, whatever its kind: what measurements and plaq solve need of it.
 *
 *              direct            normal
 *   Wilson     Mhat, on a parity Mhat^dagger Mhat
 *   staggered  A = m^2 - D D / 4, which is Hermitian and positive itself, for both
 *
 * Vectors on both parities are in double precision where the links are. All calls are collective. */
#ifndef PLAQ_QUARK_H
#define PLAQ_QUARK_H

#include "hmc/build/simulation.h"

typedef struct {
    wilson *w;              /* either this */
    staggered *s;           /* or that */
    staggered_links *fat;   /* of s */
    linop *direct, *normal; /* see above */
    field *work;            /* a vector of direct */
    int owner;              /* of w, or of s and its links */
} quark;

/* The quark of a section [fermion.NAME] on these links, which are borrowed; or an operator of a run: w or s, the other
 * one null, which is borrowed. */
void quark_open(quark *q, const field *links, const fermion_params *f);
void quark_borrow(quark *q, wilson *w, staggered *s);
void quark_close(quark *q);

/* A vector on both parities, all zero. */
field *quark_vector(const quark *q);
/* The right-hand sides of both systems for M x = source; either may be null. */
void quark_prepare(quark *q, field *direct, field *normal, const field *source);
/* x from the solution of either. */
void quark_reconstruct(quark *q, field *x, const field *half, const field *source);
/* |M x - source| / |source|; work is overwritten. */
double quark_residual(quark *q, field *work, const field *x, const field *source);

#endif
