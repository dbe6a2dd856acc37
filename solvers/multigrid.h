/* Adaptive multigrid: keys, levels and cycle (solvers/multigrid.c), set-up (solvers/multigrid_setup.c). */
#ifndef PLAQ_MULTIGRID_H
#define PLAQ_MULTIGRID_H

#include "operators/coarse.h"
#include "solvers/solver.h"

#define MULTIGRID_LEVELS 4
#define MULTIGRID_SPACE 16   /* vectors of the Krylov space of a lower level, at most */
#define MULTIGRID_DELTA 1e-3 /* drop of the residual at which the outer GCR computes the true one */

typedef struct {
    double relaxation, coarse_tolerance, bottom_tolerance;
    int levels;
    int block[MULTIGRID_LEVELS - 1][4]; /* zero: chosen */
    int vectors[MULTIGRID_LEVELS - 1];
    int pre_steps, post_steps, coarse_iterations, bottom_iterations;
    int setup_iterations, coarse_setup_iterations, refinements;
    int restart;
} multigrid_keys;

static inline multigrid_keys *multigrid_keys_of(const solver_settings *s)
{
    return (multigrid_keys *)(void *)s->own.bytes;
}

/* A Krylov space of flexible GCR: directions p and z = A p. */
typedef struct {
    int most;
    field **p, **z;
} multigrid_space;

/* A level, finest first: its system, the coarse operator below, and work vectors. */
typedef struct {
    linop *op;
    coarse *below;            /* null on the coarsest */
    field *b, *x, *r, *q;     /* vectors of the system */
    field *whole_b, *whole_x; /* of the lattice below */
    multigrid_space space;    /* of the solve on this level; not on the finest */
    field **vectors;          /* null vectors as they were relaxed, of the system */
    int nvectors;
} multigrid_level;

typedef struct {
    multigrid_keys keys;
    int n;
    multigrid_level levels[MULTIGRID_LEVELS];
    unsigned long version; /* of what the set-up was made for */
    double dependent;      /* null vectors that depend on others: then the set-up is no use */
    double setup_seconds;
    int applications; /* of the finest operator, since it was last looked at */
    double flops;
} multigrid;

/* x = K b on a level, from x = 0; b is left alone. */
void multigrid_cycle(multigrid *m, int level, field *x, const field *b);

/* The extents of aggregates that the keys leave open on a lattice of these extents: 0 where it is too small for another
 * level. */
int multigrid_choose_block(const int size[4], int first, int block[4]);
/* Null vectors and coarse operators of all levels, from random vectors. Collective. */
void multigrid_setup(multigrid *m);

#endif
