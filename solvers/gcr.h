/* Keys of generalised conjugate residuals. */
#ifndef PLAQ_GCR_H
#define PLAQ_GCR_H

#include "solvers/solver.h"

typedef struct {
    int restart; /* vectors of the Krylov space */
} gcr_keys;

/* Keys in settings of this type. */
static inline gcr_keys *gcr_keys_of(const solver_settings *s)
{
    return (gcr_keys *)(void *)s->own.bytes;
}

/* The solve of all right-hand sides of b with spaces of so many vectors, by a preconditioner or none (null), with the settings
 * of s; for types that iterate like this. `patience` is the number of iterations that may pass until the residual is halved.
 * each[nrhs] are the results. */
void gcr_solve(const solver *s, field *x, const field *b, int restart, int patience, solver *preconditioner,
               solve_result *each);

#endif
