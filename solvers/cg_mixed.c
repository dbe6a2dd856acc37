/* Defect correction: r = b - A x in double; A e = r solved by conjugate gradients in a lower precision to a modest
 * tolerance; x += e; until the true residual is small enough. The defect is scaled to unit norm, so that low precisions
 * see numbers of order one. */
#include <math.h>

#include "kernels/spinor.h"
#include "solvers/cg.h"

solve_result cg_mixed_solve(const solver_settings *s, linop *a, field *x, const field *b)
{
    linop *low = linop_at(a, precision_named(s->inner_precision), a->where);
    linop_refresh(low);
    field *r = field_like(b), *source = linop_vector(low, 1), *correction = linop_vector(low, 1), *e = field_like(b);
    const double b2 = spinor_norm2(b, 0), target2 = s->tolerance * s->tolerance * b2;
    solve_result result = {.status = SOLVE_CONVERGED};
    double last2 = INFINITY;
    for (;;) {
        linop_apply(a, r, x, 0);
        spinor_axpby(r, 1, b, -1);
        const double r2 = spinor_norm2(r, 0);
        result.flops += a->flops;
        if (r2 != r2) result.status = SOLVE_BROKEN;
        else if (r2 <= target2) break;
        else if (result.iterations >= s->max_iterations) result.status = SOLVE_TOO_MANY_ITERATIONS;
        else if (r2 > 0.25 * last2) result.status = SOLVE_STALLED;
        if (result.status != SOLVE_CONVERGED) break;
        last2 = r2;
        const double norm = sqrt(r2), wanted = 0.8 * sqrt(target2 / r2);
        spinor_axpby(r, 1 / norm, r, 0);
        spinor_copy(source, r);
        field_clear(correction);
        const double tolerance = wanted > s->inner_tolerance ? wanted : s->inner_tolerance;
        const solve_result inner = cg_run(low, correction, source, tolerance, s->max_iterations - result.iterations);
        result.iterations += inner.iterations;
        result.flops += inner.flops;
        /* An inner solve that stalled still brings the residual down; whether enough is seen above. */
        if (inner.status == SOLVE_BROKEN) {
            result.status = SOLVE_BROKEN;
            break;
        }
        spinor_copy(e, correction);
        spinor_axpby(x, norm, e, 1);
    }
    field_destroy(e);
    field_destroy(correction);
    field_destroy(source);
    field_destroy(r);
    return result;
}
