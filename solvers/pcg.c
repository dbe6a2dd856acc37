/* Preconditioned conjugate gradients on a Hermitian positive operator (algorithm 1 of J. Tu et al., arXiv:2104.05615), with
 * reliable updates. The preconditioner K may change from step to step, as a fixed number of steps of another iteration
 * does: beta is that of Polak and Ribiere, (z', r' - r) / (z, r) with z = K r, which keeps each direction conjugate to the
 * one before whatever K is (G. Golub and Q. Ye, SIAM J. Sci. Comput. 21 (1999) 1305). With r' - r = -alpha A p and
 * alpha = (p, r) / (p, A p) it is -(z', A p) / (p, A p), and no residual has to be kept. */
#include <math.h>

#include "kernels/ops/vector.h"
#include "solvers/reliable.h"

typedef struct {
    reliable u;
    solver *preconditioner; /* or null */
    field *p, *q, *z;       /* q = A p, z = K r */
} iteration;

/* z = K r, with (r, z) and (q, z). */
static void precondition(iteration *s, double with[2])
{
    reliable *u = &s->u;
    double c[2][2];
    field *const both[2] = {u->low_r, s->q};
    if (s->preconditioner) {
        solve_result r;
        solver_precondition(s->preconditioner, NULL, s->z, u->low_r, &r);
        u->result.inside += r.iterations + r.inside;
        u->result.flops += r.flops;
    } else {
        vector_copy(s->z, u->low_r);
    }
    vector_multi_dot(c, 2, both, s->z, 0);
    for (int k = 0; k < 2; k++) with[k] = c[k][0];
}

/* Iterates until the end, or until the precision is raised. */
static void iterate(iteration *s)
{
    reliable *u = &s->u;
    double with[2], rp, alpha, pq;
    precondition(s, with);
    vector_copy(s->p, s->z);
    rp = with[0];
    for (;;) {
        vector_sum product;
        linop_apply_dot(u->low, s->q, s->p, &product);
        pq = vector_sum_finish(&product);
        /* (r, p) is no sum of squares, and zero where vectors are only counted. */
        if (!(pq > 0) || isinf(pq) || !(rp >= 0) || isinf(rp)) {
            reliable_break(u);
            return;
        }
        alpha = rp / pq;
        const double r2 = vector_axpy_norm2(u->low_r, -alpha, s->q, 0);
        if (!reliable_due(u, 1, r2)) {
            precondition(s, with);
            vector_cg_update(u->low_x, s->p, alpha, -with[1] / pq, s->z);
            rp = with[0];
            continue;
        }
        vector_axpby(u->low_x, alpha, s->p, 1);
        if (!reliable_update(u, r2)) return;
        /* The direction goes on, unless the recurrence had lost its way. The true residual has a part along it. */
        double before[2];
        precondition(s, with);
        vector_dot(before, u->low_r, s->p, 0);
        const double beta = u->true_over_recurrence < 4 ? -with[1] / pq : 0;
        vector_axpby(s->p, 1, s->z, beta);
        rp = with[0] + beta * before[0];
    }
}

static void solve(solver *of, field *x, const field *b, solve_result *each)
{
    iteration s = {.preconditioner = of->inner};
    reliable_open(&s.u, of, x, b, 1, 0);
    s.u.vectors_after = 2; /* A keeps work vectors from its first application on, beside those of the next K */
    while (s.u.going) {
        s.p = field_like(s.u.low_r);
        s.q = field_like(s.p);
        s.z = field_like(s.p);
        iterate(&s);
        field_destroy(s.z);
        field_destroy(s.q);
        field_destroy(s.p);
    }
    *each = reliable_close(&s.u);
}

static const param own[] = {
    {"preconditioner", PARAM_NAME, offsetof(solver_settings, inner_name), "", "solver", NULL,
     "[solver.NAME] of the preconditioner, which works on the Hermitian positive operator; empty: none", 0},
};

static const param_section part = PARAM_PART("solver", "pcg", solver_settings, own);

const solver_type solver_pcg = {
    .name = "pcg",
    .help = "conjugate gradients on a Hermitian positive operator, with any preconditioner that is near positive; "
            "MSPCG with type multisplitting inside",
    .keys = "inner_precision delta",
    .own = &part,
    .positive = 1,
    .inner_key = "preconditioner",
    .solve = solve};
