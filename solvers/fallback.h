/* A solve that is repeated with a safer solver when it fails: each solver may name another one, its fallback. */
#ifndef PLAQ_FALLBACK_H
#define PLAQ_FALLBACK_H

#include <stddef.h>

#include "solvers/solver.h"

typedef struct {
    const char *name;
    const solver_settings *settings;
} named_solver;

/* The solver of that name, or null. */
const named_solver *fallback_find(const named_solver *solvers, int n, const char *name);

/* Solves the caller's system by this solver to this tolerance, from scratch: whatever an earlier attempt left is no
 * better. */
typedef solve_result (*solve_attempt)(const solver_settings *s, double tolerance, void *context);

/* Attempts with `first`, and on failure with its fallback among the n solvers, and so on; on a planned lattice with all
 * of them, as if none but the last did it. `lat` is that of the vectors. Each failure is logged as a warning that begins
 * with `what`. No attempt has a looser tolerance than the first. The result is that of the last attempt, with the
 * iterations of all; when that failed too, `trouble` tells the story. Collective. */
solve_result fallback_try(const named_solver *first, const named_solver *solvers, int n, const lattice *lat,
                          solve_attempt attempt, void *context, const char *what, char *trouble, size_t size);

#endif
