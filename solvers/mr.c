/* Minimal residuals (Y. Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithm 5.3), for
 * operators whose Hermitian part is positive: a step along r as long as makes |r| smallest, times `relaxation`. As a
 * preconditioner a fixed number of steps from zero, in which only the length of each step is summed. */
#include <math.h>

#include "kernels/ops/vector.h"
#include "solvers/mr.h"
#include "solvers/reliable.h"

#define SUBTRACTED_TO 1e-4

void mr_step(double *fall, const char *going, double relaxation, linop *a, field *x, field *r, field *q)
{
    double d[SOLVER_BLOCK_MOST][2][2], length[SOLVER_BLOCK_MOST][2];
    char moves[SOLVER_BLOCK_MOST];
    field *const both[2] = {q, r};
    linop_apply(a, q, r, 0);
    /* (q, q) and (r, q) = conj (q, r) */
    vector_multi_dot_each(&d[0][0], going, 2, both, q);
    for (int k = 0; k < x->nrhs; k++) {
        moves[k] = going[k] && d[k][0][0] > 0;
        if (going[k]) fall[k] = INFINITY;
        if (!moves[k]) continue;
        const double q2 = d[k][0][0], *along = d[k][1];
        length[k][0] = relaxation * along[0] / q2;
        length[k][1] = -relaxation * along[1] / q2;
        fall[k] = relaxation * (2 - relaxation) * (along[0] * along[0] + along[1] * along[1]) / q2;
    }
    vector_mr_update_each(moves, x, r, (const double(*)[2])length, q);
}

/* The step of one right-hand side. */
static double step_one(double relaxation, linop *a, field *x, field *r, field *q)
{
    double fall;
    mr_step(&fall, &(const char){1}, relaxation, a, x, r, q);
    return fall;
}

static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    reliable u;
    reliable_open(&u, s, x, b, 1, 0);
    u.patience = pace_of(&s->settings);
    while (u.going) {
        field *q = field_like(u.low_r);
        double r2 = u.r2;
        for (;;) {
            const double fall = step_one(mr_keys_of(&s->settings)->relaxation, u.low, u.low_x, u.low_r, q);
            if (!(fall < INFINITY)) {
                reliable_break(&u);
                break;
            }
            r2 -= fall;
            /* Repeated subtraction costs r2 its digits: then |r|^2 is summed. */
            if (!(r2 > SUBTRACTED_TO * u.r2)) r2 = vector_norm2(u.low_r, 0);
            if (!reliable_due(&u, 1, r2)) continue;
            if (!reliable_update(&u, fabs(r2))) break;
            r2 = u.r2;
        }
        field_destroy(q);
    }
    *each = reliable_close(&u);
}

static void precondition(solver *of, const char *going, field *x, const field *b, solve_result *each)
{
    (void)going;
    const mr_keys *s = mr_keys_of(&of->settings);
    linop *low = linop_at(of->a, solver_precision(&of->settings, b->prec), b->where);
    const int one = low->prec == b->prec;
    field *r = linop_vector(low, 1), *q = field_like(r), *y = one ? x : field_like(r);
    solve_result result = {.status = SOLVE_CONVERGED};
    linop_refresh(low);
    vector_copy(r, b);
    field_clear(y);
    for (int k = 0; k < s->steps && result.status == SOLVE_CONVERGED; k++) {
        if (!(step_one(s->relaxation, low, y, r, q) < INFINITY)) result.status = SOLVE_BROKEN;
        result.iterations++;
    }
    if (!one) {
        vector_copy(x, y);
        field_destroy(y);
    }
    field_destroy(q);
    field_destroy(r);
    result.flops = result.iterations * low->flops;
    *each = result;
}

static void smooth(solver *s, char *going, field *x, field *r, field *q)
{
    double fall[SOLVER_BLOCK_MOST];
    mr_step(fall, going, mr_keys_of(&s->settings)->relaxation, solver_operator(s, r), x, r, q);
    for (int k = 0; k < r->nrhs; k++) going[k] = going[k] && fall[k] < INFINITY;
}

static const param own[] = {
    {"steps", PARAM_INT, SOLVER_KEY(mr_keys, steps), "8", "[1,1000]", NULL, "number of steps as a preconditioner", 0},
    {"relaxation", PARAM_REAL, SOLVER_KEY(mr_keys, relaxation), "1", "(0,2)", NULL, "relaxation factor of each step",
     0},
};

static const param_section part = PARAM_PART("solver", "mr", solver_settings, own);
_Static_assert(sizeof(mr_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of mr");

const solver_type solver_mr = {.name = "mr",
                               .help =
                                   "minimal residuals, for operators with positive real part; a few steps precondition",
                               .keys = "inner_precision delta",
                               .own = &part,
                               .keys_inside = "steps",
                               .solve = solve,
                               .precondition = precondition,
                               .smooth = smooth};
