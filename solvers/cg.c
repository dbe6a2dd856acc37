/* Conjugate gradients (M. Hestenes and E. Stiefel, 1952) on a Hermitian positive operator, with reliable updates. */
#include <math.h>

#include "kernels/ops/vector.h"
#include "solvers/reliable.h"

/* Iterates until the end, or until the precision is raised. Coefficients are quotients of sums that stay on a device, where
 * kernels make them: the host looks at a step while A p of the next one is made, which is for nothing where the step asks for
 * an update. Where that may be, the host looks first. */
static void iterate(reliable *u, field *p, field *q)
{
    field *const r = u->low_r;
    vector_sum r2[2] = {vector_sum_known(u->r2)}, pq[2];
    int ahead = 0; /* q is there before its step */
    vector_copy(p, r);
    for (int now = 0;; now = !now) {
        vector_sum *const before = &r2[now], *const after = &r2[!now];
        const vector_ratio alpha = {1, before, &pq[now]}, minus_alpha = {-1, before, &pq[now]},
                           beta = {1, after, before};
        if (!ahead) linop_apply_dot(u->low, q, p, &pq[now]);
        vector_axpy_by_norm2_start(after, r, minus_alpha, q, 0);
        vector_cg_update_by(u->low_x, p, alpha, beta, r);
        ahead = after->travels && !reliable_nears(u, before->value);
        if (ahead) linop_apply_dot(u->low, q, p, &pq[!now]);
        const double step = vector_sum_finish(&pq[now]), claimed2 = vector_sum_finish(after);
        const int broken = !(step > 0) || isinf(step);
        if (!broken && !reliable_due(u, 1, claimed2)) continue;
        if (ahead) vector_sum_finish(&pq[!now]);
        ahead = 0;
        if (broken) {
            reliable_break(u);
            return;
        }
        /* The direction goes on without its part along the new residual, unless the recurrence had lost its way. Here
         * it is what it was, times r2 / before, and the residual. */
        vector_axpby(p, -1, r, 1);
        if (!reliable_update(u, claimed2)) return;
        *after = vector_sum_known(u->r2);
        const double keep = u->true_over_recurrence < 4 ? u->true_over_recurrence : 0;
        double rp[2];
        vector_dot(rp, r, p, 0);
        vector_axpby(p, 1 - keep * rp[0] / u->r2, r, keep);
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
