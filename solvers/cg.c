/* Conjugate gradients (M. Hestenes and E. Stiefel, 1952) on a Hermitian positive operator.
 *
 * The residual of the recurrence drifts from the true one by rounding, so convergence claimed by the recurrence is
 * checked: the true residual is computed, and the iteration restarted from it when it is not small enough. */
#include <math.h>

#include "kernels/spinor.h"
#include "solvers/cg.h"

typedef struct {
    field *r, *p, *q;
} cg_work;

/* One run of the recurrence from r = b - A x: until |r|^2 <= target2. */
static solve_status iterate(linop *a, field *x, cg_work w, double r2, double target2, int *iterations,
                            int max_iterations)
{
    spinor_copy(w.p, w.r);
    while (r2 > target2) {
        double pq[2];
        if (*iterations >= max_iterations) return SOLVE_TOO_MANY_ITERATIONS;
        linop_apply(a, w.q, w.p, 0);
        spinor_dot(pq, w.p, w.q, 0);
        ++*iterations;
        if (!(pq[0] > 0) || isinf(pq[0])) return SOLVE_BROKEN;
        const double alpha = r2 / pq[0], before = r2;
        r2 = spinor_axpy_norm2(w.r, -alpha, w.q, 0);
        if (r2 != r2) return SOLVE_BROKEN;
        spinor_cg_update(x, w.p, alpha, r2 / before, w.r);
    }
    return SOLVE_CONVERGED;
}

solve_result cg_run(linop *a, field *x, const field *b, double tolerance, int max_iterations)
{
    cg_work w = {field_like(b), field_like(b), field_like(b)};
    const double target2 = tolerance * tolerance * spinor_norm2(b, 0);
    solve_result result = {.status = SOLVE_CONVERGED};
    double last2 = INFINITY;
    for (;;) {
        linop_apply(a, w.r, x, 0);
        spinor_axpby(w.r, 1, b, -1);
        const double r2 = spinor_norm2(w.r, 0);
        if (r2 != r2) result.status = SOLVE_BROKEN;
        else if (r2 <= target2) result.status = SOLVE_CONVERGED;
        else if (result.status == SOLVE_CONVERGED && r2 > 0.25 * last2) result.status = SOLVE_STALLED;
        if (result.status != SOLVE_CONVERGED || r2 <= target2) break;
        last2 = r2;
        /* A little beyond the target, so that rounding does not ask for one more restart. */
        result.status = iterate(a, x, w, r2, 0.8 * target2, &result.iterations, max_iterations);
        if (result.status != SOLVE_CONVERGED) break;
    }
    result.flops = result.iterations * a->flops;
    field_destroy(w.q);
    field_destroy(w.p);
    field_destroy(w.r);
    return result;
}

solve_result cg_solve(const solver_settings *s, linop *a, field *x, const field *b)
{
    return cg_run(a, x, b, s->tolerance, s->max_iterations);
}
