/* Keys of Schwarz methods. */
#ifndef PLAQ_SCHWARZ_H
#define PLAQ_SCHWARZ_H

#include "solvers/solver.h"

typedef struct {
    int block[4]; /* extents of a block; all zero: the box of a rank */
    int overlap;  /* sites by which blocks are continued on either side */
    int steps;    /* steps in each sweep over the blocks */
    double relaxation;
    int colours, cycles; /* 1 additive, 2 multiplicative; repetitions */
} schwarz_keys;

/* Keys in settings of this type. */
static inline schwarz_keys *schwarz_keys_of(const solver_settings *s)
{
    return (schwarz_keys *)(void *)s->own.bytes;
}

#endif
