/* Keys of the multisplitting preconditioner. */
#ifndef PLAQ_MULTISPLITTING_H
#define PLAQ_MULTISPLITTING_H

#include "solvers/solver.h"

typedef struct {
    int block[4]; /* extents of a block; all zero: the box of a rank */
    int steps;    /* steps of conjugate gradients in each block */
    int snakes;   /* paths that leave a block and come back count */
} multisplitting_keys;

/* Keys in settings of this type. */
static inline multisplitting_keys *multisplitting_keys_of(const solver_settings *s)
{
    return (multisplitting_keys *)(void *)s->own.bytes;
}

#endif
