/* Keys of minimal residuals. */
#ifndef PLAQ_MR_H
#define PLAQ_MR_H

#include "solvers/solver.h"

typedef struct {
    int steps; /* steps as a preconditioner */
    double relaxation;
} mr_keys;

/* Keys in settings of this type. */
static inline mr_keys *mr_keys_of(const solver_settings *s)
{
    return (mr_keys *)(void *)s->own.bytes;
}

/* Takes one step with A of x and its residual r, with room for q = A r, of each right-hand side that has going[]: fall[] is
 * that of |r|^2, INFINITY of one whose step is impossible, which is left alone like the others. At most SOLVER_BLOCK_MOST. */
void mr_step(double *fall, const char *going, double relaxation, linop *a, field *x, field *r, field *q);

#endif
