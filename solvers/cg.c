/* Conjugate gradients (M. Hestenes and E. Stiefel, 1952) on a Hermitian positive operator, with reliable updates. */
#include <math.h>

#include "kernels/ops/vector.h"
#include "solvers/reliable.h"

/* Iterates until the end, or until the precision is raised. */
static void iterate(reliable *u, field *p, field *q)
{
    field *const r = u->low_r;
    double r2 = u->r2;
    vector_copy(p, r);
    for (;;) {
        vector_sum sum;
        double rp[2];
        const double pq = linop_apply_dot(u->low, q, p);
        if (!(pq > 0) || isinf(pq)) {
            reliable_break(u);
            return;
        }
        const double alpha = r2 / pq, before = r2;
        vector_axpy_norm2_start(&sum, r, -alpha, q, 0);
        vector_cg_update_by(u->low_x, p, alpha, &sum, before, r);
        r2 = vector_sum_finish(&sum);
        if (!reliable_due(u, 1, r2)) continue;
        /* The direction goes on without its part along the new residual, unless the recurrence had lost its way. Here
         * it is what it was, times r2 / before, and the residual. */
        vector_axpby(p, -1, r, 1);
        if (!reliable_update(u, r2)) return;
        r2 = u->r2;
        const double keep = u->true_over_recurrence < 4 ? u->true_over_recurrence : 0;
        vector_dot(rp, r, p, 0);
        vector_axpby(p, 1 - keep * rp[0] / r2, r, keep);
    }
}

static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    reliable u;
    reliable_open(&u, s, x, b, 1, 0);
    while (u.going) {
        field *p = field_like(u.low_r), *q = field_like(p);
        iterate(&u, p, q);
        field_destroy(q);
        field_destroy(p);
    }
    *each = reliable_close(&u);
}

const solver_type solver_cg = {
    .name = "cg",
    .help = "conjugate gradients on a Hermitian positive operator, with reliable updates (multi-shift "
            "for rational functions)",
    .keys = "inner_precision delta",
    .positive = 1,
    .solve = solve};
