/* Defect correction: r = b - A x in the precision of b; A e = r solved by another solver, no further than is wanted; x
 * += e; until the true residual is small enough. The defect has unit norm where it is solved, so that low precisions
 * see numbers of order one. */
#include <math.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/reliable.h"

/* Solves for a correction from low_r into low_x, by `left` applications at most; |r|^2 as the solver claims it, or NaN. */
static double correct(reliable *u, solver *inner, int left, int *iterations)
{
    const double norm = sqrt(u->r2), wanted = sqrt(0.8 * u->target2 / u->r2);
    const solver_settings given = inner->settings;
    const double tolerance = fmax(wanted, given.tolerance);
    inner->settings.tolerance = tolerance;
    if (given.max_iterations > left) inner->settings.max_iterations = left;
    vector_axpby(u->low_r, 1 / norm, u->low_r, 0);
    solve_result r;
    solver_run(inner, u->low_x, u->low_r, &r);
    const int all_left = inner->settings.max_iterations == left;
    inner->settings = given;
    vector_axpby(u->low_x, norm, u->low_x, 0);
    *iterations = r.iterations;
    u->result.inside += r.inside;
    /* The applications in the precision of `low` are booked by the caller. */
    u->result.flops += r.flops - r.iterations * u->low->flops;
    if (r.status == SOLVE_TOO_MANY_ITERATIONS) {
        /* Nothing is claimed. Another correction would end here again, or could not begin. */
        if (all_left || r.iterations == 0) u->step = left + 1;
        return u->r2;
    }
    /* A solve that stalled still brings the residual down; whether enough is seen in the precision of b. */
    return r.status == SOLVE_BROKEN ? NAN : tolerance * tolerance * u->r2;
}

static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    reliable u;
    REQUIRE(s->inner, "refine without a solver of corrections");
    reliable_open(&u, s, x, b, 1, 1);
    while (u.going) {
        int more = 1;
        while (more) {
            int iterations;
            const double claimed2 =
                correct(&u, s->inner, s->settings.max_iterations - u.result.iterations, &iterations);
            reliable_due(&u, iterations, claimed2);
            more = reliable_update(&u, claimed2);
        }
    }
    *each = reliable_close(&u);
}

static const param own[] = {
    {"correction", PARAM_NAME, offsetof(solver_settings, inner_name), "", "solver", NULL,
     "[solver.NAME] that solves for the corrections", 0},
};

static const param_section part = PARAM_PART("solver", "refine", solver_settings, own);

const solver_type solver_refine = {.name = "refine",
                                   .help = "corrections by another solver, for the true residual",
                                   .keys = "inner_precision",
                                   .own = &part,
                                   .inner_key = "correction",
                                   .inner_solves = 1,
                                   .solve = solve};
