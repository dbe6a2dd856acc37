/* Conjugate gradients without settings, for use inside other solvers; see cg.c. The result has no true residual. */
#ifndef PLAQ_CG_H
#define PLAQ_CG_H

#include "solvers/solver.h"

solve_result cg_run(linop *a, field *x, const field *b, double tolerance, int max_iterations);

#endif
