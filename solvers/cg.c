/* Conjugate gradients (M. Hestenes and E. Stiefel, 1952) on a Hermitian positive operator, with reliable updates. */
#include <math.h>

#include "kernels/spinor.h"
#include "solvers/reliable.h"

/* Until the end, or until the precision is raised. */
static void iterate(reliable *u, field *p, field *q)
{
    field *const r = u->low_r;
    double r2 = u->r2;
    spinor_copy(p, r);
    for (;;) {
        double rp[2];
        const double pq = linop_apply_dot(u->low, q, p);
        if (!(pq > 0) || isinf(pq)) {
            reliable_break(u);
            return;
        }
        const double alpha = r2 / pq, before = r2;
        r2 = spinor_axpy_norm2(r, -alpha, q, 0);
        if (!reliable_due(u, 1, r2)) {
            spinor_cg_update(u->low_x, p, alpha, r2 / before, r);
            continue;
        }
        spinor_axpby(u->low_x, alpha, p, 1);
        if (!reliable_update(u, r2)) return;
        /* The direction goes on without its part along the new residual, unless the recurrence had lost its way. */
        r2 = u->r2;
        const double beta = u->honest < 4 ? r2 / before : 0;
        spinor_dot(rp, r, p, 0);
        spinor_axpby(p, 1 - beta * rp[0] / r2, r, beta);
    }
}

solve_result cg_solve(const solver_settings *s, linop *a, field *x, const field *b)
{
    reliable u;
    reliable_open(&u, s, a, x, b, 1, 0);
    while (u.going) {
        field *p = field_like(u.low_r), *q = field_like(p);
        iterate(&u, p, q);
        field_destroy(q);
        field_destroy(p);
    }
    return reliable_close(&u);
}
