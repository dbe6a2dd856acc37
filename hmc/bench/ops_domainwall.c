#include "hmc/bench/ops.h"
#include "kernels/ops/domainwall.h"

/* A dense one, as the inverse of the diagonal part is. */
static const fifth_matrix *matrix(int Ls)
{
    static fifth_matrix m;
    m = domainwall_matrix(Ls, Ls);
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < Ls; s++)
            for (int t = 0; t < Ls; t++) m.of[c][s][t] = 1.0 / (1 + s + 2 * t + c);
    return &m;
}

static void run_fifth(bench *b)
{
    domainwall_fifth(b->dy, PARITY_EVEN, 1, matrix(b->dx->Ls), 0, b->dx, 0, NULL);
}

static void run_schur(bench *b)
{
    linop_apply(linop_at(b->wall->direct, b->prec, b->where), b->dy, b->dx, 0);
}

static void run_normal(bench *b)
{
    linop_apply(linop_at(b->wall->normal, b->prec, b->where), b->dy, b->dx, 0);
}

static void run_cg(bench *b)
{
    bench_cg(b, linop_at(b->wall->normal, b->prec, b->where), b->dy, b->dx);
}

const bench_op bench_ops_domainwall[] = {
    {"fifth", "domainwall", 1, 0, 1, BENCH_WALL, run_fifth, 0},
    {"mobius_schur", "domainwall", 1, 1, 2, BENCH_WALL, run_schur, 0},
    {"mobius_normal", "domainwall", 1, 1, 4, BENCH_WALL, run_normal, 0},
    {"mobius_cg", "cg", 1, 1, 4, BENCH_WALL, run_cg, BENCH_ONE_RHS},
    {0},
};
