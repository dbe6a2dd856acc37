/* Keys of minimal residuals. */
#ifndef PLAQ_MR_H
#define PLAQ_MR_H

#include "solvers/solver.h"

typedef struct {
    int steps; /* as a preconditioner */
    double relaxation;
} mr_keys;

/* Those of settings of this type. */
static inline mr_keys *mr_keys_of(const solver_settings *s)
{
    return (mr_keys *)(void *)s->own.bytes;
}

/* One step: x += w (q, r) / (q, q) r and r -= A of that, with q = A r and w the relaxation. Returns the fall of |r|^2,
 * infinite when there is no step. */
double mr_step(double relaxation, linop *a, field *x, field *r, field *q);

#endif
