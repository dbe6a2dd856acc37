#include "solvers/solver.h"

#include <math.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/spinor.h"

#define SOLVER(name, vectors, inner, help)                                                                             \
    solve_result name##_solve(const solver_settings *, linop *, field *, const field *);
#include "solvers/solvers.def"
#undef SOLVER

static const solver_type types[] = {
#define SOLVER(name, vectors, inner, help) {#name, help, vectors, inner, name##_solve},
#include "solvers/solvers.def"
#undef SOLVER
};

const solver_type *solver_types(int *n)
{
    *n = (int)(sizeof types / sizeof types[0]);
    return types;
}

const char *solve_status_text(solve_status status)
{
    static const char *const text[] = {"converged", "too many iterations", "stalled above the tolerance",
                                       "broken (not a number, or an operator that is not positive)"};
    return text[status];
}

static const solver_type *find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    REQUIRE(0, "no solver of type %s", name);
    return NULL;
}

/* |b - A x| / |b| */
static double true_residual(linop *a, const field *x, const field *b)
{
    field *r = field_like(b);
    linop_apply(a, r, x, 0);
    spinor_axpby(r, 1, b, -1);
    const double relative = sqrt(spinor_norm2(r, 0) / spinor_norm2(b, 0));
    field_destroy(r);
    return relative;
}

solve_result solver_solve(const solver_settings *s, linop *a, field *x, const field *b)
{
    const double start = comm_wtime();
    solve_result result = {0};
    REQUIRE(b->groups == 1, "%d right-hand sides for a solver of one", b->groups);
    linop_refresh(a);
    if (spinor_norm2(b, 0) == 0) {
        field_clear(x);
    } else {
        result = find(s->type)->solve(s, a, x, b);
        result.residual = true_residual(a, x, b);
        /* The recurrence may have claimed more than is true; rounding in the check itself is allowed for. */
        if (result.residual != result.residual) result.status = SOLVE_BROKEN;
        else if (result.status == SOLVE_CONVERGED && result.residual > 1.5 * s->tolerance)
            result.status = SOLVE_STALLED;
    }
    result.flops += a->flops;
    result.seconds = comm_wtime() - start;
    return result;
}
