#include <stdio.h>

#include "hmc/bench/ops.h"
#include "kernels/ops/multiblas.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"
#include "solvers/multisplitting.h"
#include "solvers/schwarz.h"

/* Hops there and back, so that both parities are read and written in turn, as an operator does. */
static void run_hop(bench *b)
{
    wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = 1, .links = b->links};
    wilson_hop(b->y, PARITY_ODD, b->x, &call);
    wilson_hop(b->z, PARITY_EVEN, b->y, &call);
}

static void run_hop_clover(bench *b)
{
    wilson_hop_call call = {.form = HOP_CLOVER, .a = 1, .sign = 1, .links = b->links, .clover = b->clover};
    wilson_hop(b->y, PARITY_ODD, b->x, &call);
    wilson_hop(b->z, PARITY_EVEN, b->y, &call);
}

/* The clover term stands for K, too. */
static void run_hop_twisted(bench *b)
{
    wilson_hop_call call = {.form = HOP_CLOVER,
                            .a = 1,
                            .sign = 1,
                            .links = b->links,
                            .clover = b->clover,
                            .mu = 0.1,
                            .mu_clover = b->clover};
    wilson_hop(b->y, PARITY_ODD, b->x, &call);
    wilson_hop(b->z, PARITY_EVEN, b->y, &call);
}

static void run_twisted(bench *b)
{
    twisted_apply(b->z, PARITY_EVEN, b->clover, b->clover, 0.1, b->x, 1);
}

/* The clover term stands for K, too. */
static void run_doublet(bench *b)
{
    doublet_apply(b->uy, PARITY_EVEN, b->clover, b->clover, 0.1, 0.1, b->ux, 1);
}

static void run_doublet_schur(bench *b)
{
    linop_apply(linop_at(b->doublet->direct, b->prec, b->where), b->uy, b->ux, 0);
}

static void run_clover(bench *b)
{
    clover_apply(b->z, PARITY_EVEN, b->clover, b->x, 1);
}

static void run_clover_norm2(bench *b)
{
    vector_sum s;
    clover_apply_norm2_start(&s, b->z, PARITY_EVEN, b->clover, b->x, 1);
    b->sums[0] = vector_sum_finish(&s);
}

static void run_schur(bench *b)
{
    linop_apply(b->schur, b->sy, b->sx, 0);
}

static void run_axpby(bench *b)
{
    vector_axpby(b->z, 0.5, b->x, 0.5);
}

static void run_norm2(bench *b)
{
    b->sums[0] = vector_norm2(b->x, 0);
}

static void run_dot(bench *b)
{
    vector_dot(b->sums, b->x, b->z, 0);
}

static void run_real_dot(bench *b)
{
    vector_sum s;
    vector_real_dot_start(&s, b->x, b->z, 0);
    b->sums[0] = vector_sum_finish(&s);
}

static void run_axpby_norm2(bench *b)
{
    b->sums[0] = vector_axpy_norm2(b->z, 1e-6, b->x, 0);
}

/* Sums as an operation of vectors wants them, pairs re, im. */
static double (*pairs_of(bench *b))[2]
{
    return (double(*)[2])(void *)b->sums;
}

static void run_norm2_each(bench *b)
{
    vector_norm2_each(b->sums, b->x);
}

static void run_dot_each(bench *b)
{
    vector_dot_each(pairs_of(b), b->x, b->z);
}

static void run_axpby_norm2_each(bench *b)
{
    double one[BENCH_MOST_RHS], small[BENCH_MOST_RHS];
    for (int r = 0; r < b->rhs; r++) {
        small[r] = 1e-6;
        one[r] = 1;
    }
    vector_axpby_norm2_each(b->sums, b->z, small, b->x, one);
}

/* X^dagger Y of all right-hand sides; told are those of each with itself. */
static void run_multiblas_dot(bench *b)
{
    static double all[BENCH_MOST_RHS * BENCH_MOST_RHS][2];
    multiblas_dot(all, b->x, b->z, 0);
    for (int r = 0; r < b->rhs; r++)
        for (int c = 0; c < 2; c++) pairs_of(b)[r][c] = all[r * (b->rhs + 1)][c];
}

/* Z += X a */
static void run_multiblas_axpy(bench *b)
{
    static double a[BENCH_MOST_RHS * BENCH_MOST_RHS][2];
    for (int k = 0; k < b->rhs * b->rhs; k++) a[k][0] = a[k][1] = 1e-6;
    multiblas_axpy(b->z, a, b->x, 1, b->z);
}

static void run_cg_update(bench *b)
{
    vector_cg_update(b->sx, b->sy, 1e-6, 0.5, b->z);
}

static field *const *pair_of(bench *b)
{
    static field *both[2];
    both[0] = b->x;
    both[1] = b->z;
    return both;
}

static void run_multi_dot(bench *b)
{
    vector_multi_dot(pairs_of(b), 2, pair_of(b), b->sx, 0);
}

static void run_multi_axpy(bench *b)
{
    static const double c[2][2] = {{1e-6, 1e-6}, {1e-6, -1e-6}};
    b->sums[0] = vector_multi_axpy(b->sy, 2, c, pair_of(b), 0);
}

static void run_gcr_step(bench *b)
{
    enum { VECTORS = 2 };
    char going[SOLVER_BLOCK_MOST];
    double c[SOLVER_BLOCK_MOST * VECTORS][2], a[SOLVER_BLOCK_MOST][2];
    for (int k = 0; k < b->sy->nrhs; k++) {
        going[k] = 1;
        a[k][0] = a[k][1] = 1e-6;
        for (int j = 0; j < VECTORS; j++) c[k * VECTORS + j][0] = c[k * VECTORS + j][1] = j ? -1e-6 : 1e-6;
    }
    vector_gcr_step_each(going, b->sx, b->sx, (const double(*)[2])a, b->sy, VECTORS, (const double(*)[2])c, pair_of(b));
}

static void run_multi_axpby(bench *b)
{
    static const double c[2][2] = {{0.5, 0.1}, {0.5, -0.1}};
    field *const y[2] = {b->sx, b->sy};
    vector_multi_axpby(2, y, c, pair_of(b), c);
}

static void run_mr_update(bench *b)
{
    char going[SOLVER_BLOCK_MOST];
    double a[SOLVER_BLOCK_MOST][2];
    for (int k = 0; k < b->sy->nrhs; k++) {
        going[k] = 1;
        a[k][0] = a[k][1] = 1e-6;
    }
    vector_mr_update_each(going, b->sy, b->z, (const double(*)[2])a, b->x);
}

static void run_bicgstab_update(bench *b)
{
    static const double gamma[1][2] = {{1e-6, 1e-6}};
    field *const r[2] = {b->x, b->z}, *const u[2] = {b->sx, b->z};
    b->sums[2] = vector_bicgstab_update(b->sums, b->sy, r, u, 1, gamma, b->z, 0);
}

static void run_multishift_update(bench *b)
{
    static const double alpha[1] = {1e-6}, zeta[1] = {0.5}, beta[1] = {0.5};
    vector_multishift_update(1, &b->sx, &b->sy, alpha, zeta, beta, b->z, 0);
}

/* Conversion to another precision and back, as in solvers of mixed precision. */
static void run_convert(bench *b)
{
    field_copy(b->converted, b->sx);
    field_copy(b->sy, b->converted);
}

static void run_cg(bench *b)
{
    bench_cg(b, b->normal, b->sy, b->sx);
}

/* Steps of minimal residual in one block per rank, as GCR-DD has them. */
static void run_schwarz(bench *b)
{
    solver_settings s = {.type = param_kind(solver_section(0), "schwarz"), .inner_precision = b->prec};
    *schwarz_keys_of(&s) = (schwarz_keys){.steps = 10, .relaxation = 1, .colours = 1, .cycles = 1};
    solver *by = solver_create(&s, b->schur);
    solve_result r;
    solver_precondition(by, NULL, b->sy, b->sx, &r);
    b->iterations = r.iterations;
    solver_destroy(by);
}

/* Steps of conjugate gradients with snake terms in one block per rank. */
static void run_multisplitting(bench *b)
{
    solver_settings s = {.type = param_kind(solver_section(0), "multisplitting"), .inner_precision = b->prec};
    *multisplitting_keys_of(&s) = (multisplitting_keys){.steps = 6, .snakes = 1};
    solver *by = solver_create(&s, b->normal);
    solve_result r;
    solver_precondition(by, NULL, b->sy, b->sx, &r);
    b->iterations = r.iterations;
    solver_destroy(by);
}

static void run_cg_half(bench *b)
{
    bench_solve_with_half(b, b->normal, b->sy, b->sx);
}

static void run_multishift(bench *b)
{
    bench_solve_shifts(b, b->normal, b->sx);
}

const bench_op bench_ops_wilson[] = {
    {"hop", "hop", 1, 1, 2, BENCH_WILSON, run_hop, 0},
    {"hop_clover", "hop", 1, 1, 2, BENCH_WILSON, run_hop_clover, 0},
    {"hop_twisted", "hop", 1, 1, 2, BENCH_WILSON, run_hop_twisted, 0},
    {"clover_apply", "clover", 1, 0, 1, BENCH_WILSON, run_clover, 0},
    {"twisted_apply", "clover", 1, 0, 1, BENCH_WILSON, run_twisted, 0},
    {"doublet_apply", "clover", 1, 0, 1, BENCH_WILSON | BENCH_DOUBLET, run_doublet, 0},
    {"doublet_schur", "clover", 1, 1, 2, BENCH_DOUBLET, run_doublet_schur, 0},
    {"clover_norm2", "clover", 1, 0, 1, BENCH_WILSON, run_clover_norm2, BENCH_ONE_RHS},
    {"wilson_schur", "clover", 1, 1, 2, BENCH_WILSON, run_schur, 0},
    {"axpby", "blas", 1, 0, 1, BENCH_WILSON, run_axpby, 0},
    {"norm2", "blas", 1, 0, 1, BENCH_WILSON, run_norm2, 0},
    {"dot", "blas", 1, 0, 1, BENCH_WILSON, run_dot, 0},
    {"real_dot", "blas", 1, 0, 1, BENCH_WILSON, run_real_dot, 0},
    {"axpby_norm2", "blas", 1, 0, 1, BENCH_WILSON, run_axpby_norm2, 0},
    {"norm2_each", "blas", 1, 0, 1, BENCH_WILSON, run_norm2_each, 0},
    {"dot_each", "blas", 1, 0, 1, BENCH_WILSON, run_dot_each, 0},
    {"axpby_norm2_each", "blas", 1, 0, 1, BENCH_WILSON, run_axpby_norm2_each, 0},
    {"multiblas_dot", "blas", 1, 0, 1, BENCH_WILSON, run_multiblas_dot, 0},
    {"multiblas_axpy", "blas", 1, 0, 1, BENCH_WILSON, run_multiblas_axpy, 0},
    {"cg_update", "blas", 1, 0, 1, BENCH_WILSON, run_cg_update, 0},
    {"multi_dot", "blas", 1, 0, 1, BENCH_WILSON, run_multi_dot, 0},
    {"multi_axpy", "blas", 1, 0, 1, BENCH_WILSON, run_multi_axpy, 0},
    {"multi_axpby", "blas", 1, 0, 1, BENCH_WILSON, run_multi_axpby, 0},
    {"gcr_step", "blas", 1, 0, 1, BENCH_WILSON, run_gcr_step, 0},
    {"mr_update", "blas", 1, 0, 1, BENCH_WILSON, run_mr_update, 0},
    {"bicgstab_update", "blas", 1, 0, 1, BENCH_WILSON, run_bicgstab_update, 0},
    {"multishift_update", "blas", 1, 0, 1, BENCH_WILSON, run_multishift_update, 0},
    {"convert", "blas", 1, 0, 2, BENCH_WILSON, run_convert, 0},
    {"cg", "cg", 1, 1, 4, BENCH_WILSON, run_cg, BENCH_ONE_RHS},
    {"cg_half", "cg", 0, 1, 4, BENCH_WILSON, run_cg_half, BENCH_ONE_RHS},
    {"multishift", "cg", 0, 1, 4, BENCH_WILSON, run_multishift, BENCH_ONE_RHS},
    {"schwarz", "cg", 1, 1, 4, BENCH_WILSON, run_schwarz, BENCH_ONE_RHS | BENCH_BY_RANK},
    {"multisplitting", "cg", 1, 1, 4, BENCH_WILSON, run_multisplitting, BENCH_ONE_RHS | BENCH_BY_RANK},
    {0},
};
