/* Keys of block conjugate gradients. */
#ifndef PLAQ_BLOCK_CG_H
#define PLAQ_BLOCK_CG_H

#include "solvers/solver.h"

typedef struct {
    int block_size; /* right-hand sides solved together, at most */
} block_cg_keys;

/* Keys in settings of this type. */
static inline block_cg_keys *block_cg_keys_of(const solver_settings *s)
{
    return (block_cg_keys *)(void *)s->own.bytes;
}

#endif
