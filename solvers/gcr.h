/* Keys of generalised conjugate residuals. */
#ifndef PLAQ_GCR_H
#define PLAQ_GCR_H

#include "solvers/solver.h"

typedef struct {
    int restart; /* vectors of the Krylov space */
} gcr_keys;

/* Those of settings of this type. */
static inline gcr_keys *gcr_keys_of(const solver_settings *s)
{
    return (gcr_keys *)(void *)s->own.bytes;
}

#endif
