/* Adaptive multigrid: keys, levels and cycle (solvers/multigrid.c), set-up (solvers/multigrid_setup.c), how it follows
 * links that change (solvers/multigrid_follow.c), and which aggregates there are (solvers/multigrid_blocks.c). */
#ifndef PLAQ_MULTIGRID_H
#define PLAQ_MULTIGRID_H

#include "operators/coarse.h"
#include "solvers/solver.h"

#define MULTIGRID_LEVELS 4
#define MULTIGRID_SPACE 14   /* vectors of the Krylov space of a lower level, at most */
#define MULTIGRID_STEPS 8    /* steps of CA-GCR on the coarsest level, between sums */
#define MULTIGRID_DELTA 1e-3 /* drop of the residual at which the outer GCR computes the true one */

#define MULTIGRID_CYCLES(X) X(CYCLE_K, "k") X(CYCLE_V, "v") X(CYCLE_W, "w")
#define MULTIGRID_BOTTOMS(X) X(BOTTOM_GCR, "gcr") X(BOTTOM_CA_GCR, "ca_gcr") X(BOTTOM_BICGSTAB, "bicgstab")
enum { MULTIGRID_CYCLES(PARAM_CONSTANT) };
enum { MULTIGRID_BOTTOMS(PARAM_CONSTANT) };

typedef struct {
    double relaxation, coarse_tolerance, bottom_tolerance, refresh_at;
    double mu_factor; /* factor of a twisted mass on the coarsest lattice */
    int levels;
    int block[MULTIGRID_LEVELS - 1][4]; /* zero: chosen */
    int vectors[MULTIGRID_LEVELS - 1];
    int ranks[MULTIGRID_LEVELS - 1]; /* ranks of the lattice below, at most */
    int pre_steps, post_steps, coarse_iterations, bottom_iterations;
    int setup_iterations, coarse_setup_iterations, refinements, refresh_iterations;
    int restart;
    int right_hand_sides; /* solved together, at most */
    int share_setup, half_links, tensor_cores;
    int cycle, bottom_solver;
} multigrid_keys;
_Static_assert(sizeof(multigrid_keys) == offsetof(multigrid_keys, bottom_solver) + sizeof(int),
               "keys are compared by their bytes, without padding");

static inline multigrid_keys *multigrid_keys_of(const solver_settings *s)
{
    return (multigrid_keys *)(void *)s->own.bytes;
}

/* A level, finest first: its system, the coarse operator below, solvers, and work vectors, of as many right-hand sides as cycles
 * were last asked for. */
typedef struct {
    linop *op;
    coarse *below;    /* null on the coarsest */
    solver *smoother; /* smoother of the cycle; null on the coarsest */
    solver *solver;   /* solver of this system to a few digits; null on the finest, around which multigrid.c solves */
    field *b, *x, *r, *q;     /* vectors of the system */
    field *left, *again;      /* residual and correction of a second cycle; null where there is none */
    field *whole_b, *whole_x; /* vectors of the whole lattice below */
    field **vectors; /* null vectors as they were relaxed, of the system; null where they are those of the owner */
    int nvectors;
    long solves, steps; /* counts on this level, of the solve that goes on around the finest cycle */
} multigrid_level;

/* Cycles and what they gain, from which it is seen whether the set-up still serves the links. */
typedef struct {
    int cycles;       /* cycles of the solve that goes on */
    double digits;    /* digits by which its residual has fallen */
    double last2;     /* |r|^2 at its last cycle */
    double worst;     /* cycles a digit: the most of the solves on these links; 0: not known */
    double reference; /* worst when the set-up was new; 0: not known yet */
    int solves;       /* since the set-up was made or refreshed */
} multigrid_pace;

/* Levels, which solvers of a family on one operator with the same keys share; opened before their first set-up. In actions quarks that
 * differ by their masses alone, twisted ones too, have the null vectors of the lightest of those there are by then, which leads:
 * P^dagger (M + s) P = P^dagger M P + s. */
typedef struct multigrid {
    multigrid_keys keys;
    int follows;               /* settings.follows */
    struct multigrid **family; /* list of the family that it is in; null: there is none */
    int n, columns;            /* levels, 0 before they are opened; right-hand sides of work vectors */
    multigrid_level levels[MULTIGRID_LEVELS];
    struct multigrid *owner;       /* owner of the set-up: this one or another; null before levels are opened */
    struct multigrid *next_sharer; /* the next of those that have the same */
    operator_shift shift;          /* M less that of the owner */
    unsigned long setup_taken;     /* number of the owner's set-up that coarse operators are of */
    int applications;              /* applications of the finest operator, since last looked at */
    double flops;
    int visits; /* visits of each level in a cycle of the one above; 0: a Krylov solve with it inside */
    multigrid_pace pace;
    /* Members of an owner: */
    unsigned long number;              /* number of set-ups so far */
    unsigned long version;             /* version of the links that cycles work on */
    double dependent;                  /* null vectors that depend on others: then the set-up is no use */
    int renew;                         /* the next set-up is to be from random vectors */
    unsigned long setup_links_version; /* version of the links of the last such set-up, and of nothing since; else 0 */
    int refreshed;                     /* solves are the first after a refresh */
    int users;                         /* solvers on the operator */
    struct multigrid *next;
} multigrid;

/* Levels that a solver of this type works by, for tests. */
const multigrid *multigrid_levels_of(const solver *s);

/* Levels of an operator for such settings, with one user more; made when they are first asked for. And one user less. */
multigrid *multigrid_levels(const solver_settings *s, linop *op);
void multigrid_release(multigrid *m);
/* Opens levels that are not. */
void multigrid_open(multigrid *m);
/* Work vectors of all levels become those of so many right-hand sides. */
void multigrid_reserve(multigrid *m, int columns);
/* x = K b on a level, from x = 0, of the right-hand sides that have going[]: as many as are reserved. b is left alone. A null
 * smoother is that of the level. */
void multigrid_cycle(multigrid *m, int level, solver *smoother, const char *going, field *x, const field *b);
/* The solver of a level below the finest: the cycle there, a Krylov solver with it inside, or the coarsest lattice's. */
solver *multigrid_level_solver(multigrid *m, int level);

/* Aggregates that the keys leave open on a lattice of extents `size` whose ranks hold boxes of extents `box`, which they
 * divide: 0 where the lattice is too small for another level. `first`: the lattice is the finest. */
int multigrid_choose_block(const int size[4], const int box[4], int first, int block[4]);
/* The extents of aggregates of so many null vectors that a lattice of so many components has on its ranks, at most `most` of
 * them into blocks[], the most sensible first; returns how many. `first`: the lattice is the finest. */
int multigrid_blockings(const lattice *lat, int components, int vectors, int first, int (*blocks)[4], int most);
/* Aggregates of a level on this lattice, of which size and grid count, as the keys have them or choose them; 0 where there
 * is no such level. */
int multigrid_level_settings(const multigrid_keys *k, const lattice *lat, int level, coarse_settings *s);
/* Extents and ranks of a lattice become those of the one below. */
void multigrid_below(lattice *at, const coarse_settings *s);
/* True if the set-up or solve is to be given up (solver_interrupted()). Collective. */
int multigrid_given_up(const multigrid *m);
/* Null vectors and coarse operators of all levels, from random vectors. Collective. */
void multigrid_setup(multigrid *m);
/* Null vectors relaxed a little from those that there are, and coarse operators. Collective. */
void multigrid_refresh(multigrid *m);

/* Coarse operators from those of the owner. Collective. */
void multigrid_take(multigrid *m);

/* Before a solve: decides what the set-up needs on the links as they are, and does it. Collective. */
void multigrid_follow(multigrid *m);
/* Before a cycle on a residual of this norm squared. */
void multigrid_note(multigrid *m, double r2);
/* The next set-up comes from the links alone, unless that is so already. */
void multigrid_forget(multigrid *m);
/* The most iterations of a solve to this tolerance that a set-up deserves which may be out of date. */
int multigrid_patience(const multigrid *m, double tolerance);
/* After a solve that failed: makes the set-up anew, where it does not come from these very links. Returns whether it did.
 * Collective. */
int multigrid_renew(multigrid *m, const char *why);

#endif
