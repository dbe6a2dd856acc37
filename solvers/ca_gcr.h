/* GCR that avoids communication: its step, and keys. */
#ifndef PLAQ_CA_GCR_H
#define PLAQ_CA_GCR_H

#include "solvers/solver.h"

#define CA_GCR_MOST 16

typedef struct {
    int steps; /* applications of A between sums */
} ca_gcr_keys;

/* Keys in settings of this type. */
static inline ca_gcr_keys *ca_gcr_keys_of(const solver_settings *s)
{
    return (ca_gcr_keys *)(void *)s->own.bytes;
}

/* `steps` applications of A to the residual r of x, into v[steps]; x and r take the best step in their space, of each
 * right-hand side that has going[]. r2[] is then |r|^2, or NaN of one whose step is impossible, which is left alone like
 * the others. Ranks add up twice. */
void ca_gcr_step(double *r2, const char *going, int steps, linop *a, field *x, field *r, field *const *v);

#endif
