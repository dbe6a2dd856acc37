#include "hmc/bench/ops.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/multiblas.h"
#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"

static void staggered_there_and_back(bench *b, staggered_links *links)
{
    const staggered_pair *l = staggered_links_at(links, b->prec, b->where);
    const staggered_call call = {.a = 1,
                                 .near = l->near,
                                 .far = l->far,
                                 .far_phases = l->far_phases,
                                 .near_scale = l->near_scale,
                                 .far_scale = l->far_scale};
    staggered_hop(b->vy, PARITY_ODD, b->vx, &call);
    staggered_hop(b->vz, PARITY_EVEN, b->vy, &call);
}

static void run_staggered(bench *b)
{
    staggered_there_and_back(b, b->asqtad);
}

static void run_staggered_13(bench *b)
{
    staggered_there_and_back(b, b->asqtad_13);
}

static void run_staggered_9(bench *b)
{
    staggered_there_and_back(b, b->asqtad_9);
}

static void run_naive(bench *b)
{
    staggered_there_and_back(b, b->naive);
}

static void run_staggered_cg(bench *b)
{
    bench_cg(b, linop_at(staggered_normal(b->quark), b->prec, b->where), b->vz, b->vx);
}

static void run_staggered_cg_half(bench *b)
{
    bench_solve_with_half(b, staggered_normal(b->quark), b->vz, b->vx);
}

static void run_staggered_multishift(bench *b)
{
    bench_solve_shifts(b, staggered_normal(b->quark), b->vx);
}

/* Hop in one direction, as the currents of mesons take it. */
static void run_shift(bench *b)
{
    const staggered_pair *l = staggered_links_at(b->asqtad, PREC_DOUBLE, b->where);
    const staggered_shift_call call = {
        .back = 1, .near = l->near, .far = l->far, .near_weight = 1, .far_weight = 1, .far_scale = l->far_scale};
    staggered_shift(b->shifted, b->vectors, &call);
}

/* Fat links of one level: paths of up to 7 links and Lepage's. */
static const staggered_paths paths = {1, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8};

static void run_fatten(bench *b)
{
    staggered_fatten(b->one, b->links_double, LINKS_SPECIAL, &paths);
}

/* Derivative of the fat links. */
static void run_fatten_back(bench *b)
{
    staggered_fatten_back(b->two, 1, b->links_double, LINKS_SPECIAL, b->one, &paths);
}

static void run_lengthen(bench *b)
{
    staggered_lengthen(b->one, b->links_double, -1.0 / 24);
}

static void run_project(bench *b)
{
    b->sums[0] = staggered_unitarise(b->one, b->links_double, &b->sums[1]);
}

/* HISQ links: both levels, projection, long links and phases. */
static void run_hisq_links(bench *b)
{
    field_out(b->links_double, PARITY_EVEN); /* links count as changed, so that all is made anew */
    staggered_links_at(b->hisq, PREC_DOUBLE, b->where);
}

/* HISQ force: derivatives by fat and long links taken to momenta. */
static void run_hisq_force(bench *b)
{
    staggered_links_at(b->hisq, PREC_DOUBLE, b->where);
    field_clear(b->three); /* a fresh field, as in a run */
    staggered_links_back(b->momenta, b->hisq, b->one, b->two, b->three);
}

/* Derivatives by fat and long links of eight poles. */
static void run_outer(bench *b)
{
    double weights[BENCH_POLES];
    for (int i = 0; i < BENCH_POLES; i++) weights[i] = 1e-3;
    const staggered_outer_call call = {
        .first = PARITY_EVEN, .near = b->one, .far = b->two, .far_factor = staggered_links_naik(b->hisq)};
    staggered_outer(&call, b->poles, weights);
}

/* The map back from long links, and from links to momenta. */
static void run_lengthen_back(bench *b)
{
    staggered_lengthen_back(b->two, b->links_double, b->one, -1e-6);
}

/* Derivatives that come out go in again, and do not grow. */
static void run_project_back(bench *b)
{
    b->sums[0] = staggered_unitarise_back(b->two, b->links_double, b->links_double, 1e-3);
}

static void run_links_to_momenta(bench *b)
{
    staggered_momenta_add(b->momenta, b->links_double, b->one);
}

static void run_phases(bench *b)
{
    staggered_phases(b->one, 1);
}

static void run_scale(bench *b)
{
    staggered_scale(b->two, 0.5, b->one);
}

/* Long links of nine reals are made by these two kernels. */
static void run_phases_of_links(bench *b)
{
    staggered_link_phases(b->phases, b->links_double);
}

static void run_special_links(bench *b)
{
    staggered_link_specials(b->three, b->phases);
}

/* Links for charm, of the links for the other quarks. */
static void run_sibling(bench *b)
{
    staggered_links *charm = staggered_links_sibling(b->hisq, -0.12, 18);
    staggered_links_at(charm, PREC_DOUBLE, b->where);
    staggered_links_destroy(charm);
}

/* X^dagger Y of all right-hand sides; told are those of each with itself. */
static void run_staggered_block_dot(bench *b)
{
    static double all[BENCH_MOST_RHS * BENCH_MOST_RHS][2];
    multiblas_dot(all, b->vx, b->vz, 0);
    for (int r = 0; r < b->rhs; r++) b->sums[r] = all[r * (b->rhs + 1)][0];
}

/* Z += X a */
static void run_staggered_block_axpy(bench *b)
{
    static double a[BENCH_MOST_RHS * BENCH_MOST_RHS][2];
    for (int k = 0; k < b->rhs * b->rhs; k++) a[k][0] = a[k][1] = 1e-6;
    multiblas_axpy(b->vz, a, b->vx, 1, b->vz);
}

const bench_op bench_ops_staggered[] = {
    {"staggered_hop", "staggered", 1, 0, 2, BENCH_STAGGERED, run_staggered, 0},
    {"staggered_naive", "staggered", 1, 0, 2, BENCH_STAGGERED, run_naive, 0},
    {"staggered_cg", "staggered", 1, 0, 4, BENCH_STAGGERED, run_staggered_cg, BENCH_ONE_RHS},
    {"staggered_cg_half", "staggered", 0, 0, 4, BENCH_STAGGERED, run_staggered_cg_half, BENCH_ONE_RHS},
    {"staggered_shifts", "staggered", 0, 0, 4, BENCH_STAGGERED, run_staggered_multishift, BENCH_ONE_RHS},
    {"staggered_hop_13", "staggered", 1, 0, 2, BENCH_STAGGERED, run_staggered_13, 0},
    {"staggered_hop_9", "staggered", 1, 0, 2, BENCH_STAGGERED, run_staggered_9, 0},
    {"staggered_block_dot", "staggered", 1, 0, 1, BENCH_STAGGERED, run_staggered_block_dot, 0},
    {"staggered_block_axpy", "staggered", 1, 0, 1, BENCH_STAGGERED, run_staggered_block_axpy, 0},
    {"staggered_shift", "staggered", 0, 0, 2, BENCH_STAGGERED, run_shift, 0},
    {"fatten", "staggered", 0, 0, 3, BENCH_PATHS, run_fatten, 0},
    {"fatten_back", "staggered", 0, 0, 5, BENCH_PATHS, run_fatten_back, 0},
    {"lengthen", "staggered", 0, 0, 1, BENCH_PATHS, run_lengthen, 0},
    {"lengthen_back", "staggered", 0, 0, 1, BENCH_PATHS, run_lengthen_back, 0},
    {"project_links", "staggered", 0, 0, 1, BENCH_PATHS, run_project, 0},
    {"project_back", "staggered", 0, 0, 1, BENCH_PATHS, run_project_back, 0},
    {"links_to_momenta", "staggered", 0, 0, 1, BENCH_PATHS | BENCH_DOUBLE, run_links_to_momenta, 0},
    {"phases", "staggered", 0, 0, 1, BENCH_PATHS, run_phases, 0},
    {"scale_links", "staggered", 0, 0, 1, BENCH_PATHS, run_scale, 0},
    {"phases_of_links", "staggered", 0, 0, 1, BENCH_PATHS, run_phases_of_links, 0},
    {"special_links", "staggered", 0, 0, 1, BENCH_PATHS, run_special_links, 0},
    {"hisq_links", "staggered", 0, 0, 6, BENCH_PATHS, run_hisq_links, 0},
    {"hisq_sibling", "staggered", 0, 0, 4, BENCH_PATHS, run_sibling, 0},
    {"hisq_force", "staggered", 0, 0, 12, BENCH_PATHS | BENCH_DOUBLE, run_hisq_force, 0},
    {"staggered_outer", "staggered", 0, 0, 1, BENCH_PATHS, run_outer, 0},
    {0},
};
