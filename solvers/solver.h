/* Solvers of A x = b for linear operators.
 *
 * A solver is found by name in solvers.def, is made from its settings, and can be used for any operator again and
 * again. solve() starts from x and ends with the true residual |b - A x| / |b| computed in the precision of b, whatever
 * happened inside. Vectors have one right-hand side. Not converging is a status that the caller has to handle: x then
 * holds the best that was reached. */
#ifndef PLAQ_SOLVER_H
#define PLAQ_SOLVER_H

#include "operators/linop.h"

typedef enum {
    SOLVE_CONVERGED,
    SOLVE_TOO_MANY_ITERATIONS,
    SOLVE_STALLED, /* the residual no longer falls: the tolerance is below what the precision can reach */
    SOLVE_BROKEN   /* NaN, infinity, or an operator that is not positive */
} solve_status;

typedef struct {
    char type[64];
    double tolerance; /* of |b - A x| / |b| */
    int max_iterations;
    char inner_precision[64]; /* cg_mixed: single, half or quarter */
    double inner_tolerance;   /* cg_mixed: reduction of the residual in each inner solve */
    char fallback[256];       /* name of the solver that repeats a failed solve, or empty */
} solver_settings;

typedef struct {
    solve_status status;
    int iterations;  /* applications of A inside, all precisions together */
    double residual; /* true, relative */
    double seconds, flops;
} solve_result;

typedef struct {
    const char *name, *help;
    int vectors, inner_vectors; /* work vectors, in the precision of b and in the inner one */
    /* A is Hermitian and positive for the solvers that say so in their help. */
    solve_result (*solve)(const solver_settings *s, linop *a, field *x, const field *b);
} solver_type;

const char *solve_status_text(solve_status status);
/* The types, for the tables of keys: n of them. */
const solver_type *solver_types(int *n);

/* Solves and measures. x, b: vectors of A, not the same. With b = 0 the answer is x = 0. Collective. */
solve_result solver_solve(const solver_settings *s, linop *a, field *x, const field *b);

#endif
