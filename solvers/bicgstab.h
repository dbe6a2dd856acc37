/* Keys of BiCGStab(l). */
#ifndef PLAQ_BICGSTAB_H
#define PLAQ_BICGSTAB_H

#include "solvers/solver.h"

typedef struct {
    int l; /* degree of the minimal-residual polynomial */
} bicgstab_keys;

/* Keys in settings of this type. */
static inline bicgstab_keys *bicgstab_keys_of(const solver_settings *s)
{
    return (bicgstab_keys *)(void *)s->own.bytes;
}

#endif
