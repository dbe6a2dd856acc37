/* Multi-shift conjugate gradients: (A + shift_i) x_i = b for many shifts from one Krylov space (B. Jegerlehner,
 * hep-lat/9612014), each then refined to its own tolerance. A is Hermitian and positive; nothing else of it is known.
 */
#ifndef PLAQ_MULTISHIFT_H
#define PLAQ_MULTISHIFT_H

#include "solvers/solver.h"

#define MULTISHIFT_MOST 64

typedef struct {
    solve_status status; /* the worst of all */
    int iterations;      /* applications of A, all precisions and shifts together */
    int shared;          /* applications in the Krylov space that shifts share */
    double seconds, flops;
    solve_result each[MULTISHIFT_MOST]; /* iterations: of the shared ones until it dropped out, and its own; residual:
                                           true, |b - (A + shift) x| / |b| */
} multishift_result;

/* Shifts in any order, n <= MULTISHIFT_MOST of them; tolerances of the true residuals. x[i] are vectors of A, b is none
 * of them; they need not be set. With b = 0 the answers are zero. A shift that is negative or no number has no answer
 * here: then all are SOLVE_BROKEN, x is zero, and a warning says why.
 *
 * The Krylov space is made in inner_precision, as far as that is good for; the answers are refined by conjugate
 * gradients with the settings (inner_precision, delta, max_iterations, which is for each solve) on shifted_create().
 * x depends on b alone. Histories (solver_record()) have the points of all shifts, by number: those of the shared
 * iteration until it drops out, then those of its refinement. Collective. */
multishift_result multishift_solve(const solver_settings *s, linop *a, int n, const double *shifts,
                                   const double *tolerances, field *const *x, const field *b);

#endif
