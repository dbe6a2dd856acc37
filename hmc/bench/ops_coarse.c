/* Operations of coarse operators, on aggregates of up to 4^4 sites and a level below; in half precision what has links in
 * half and vectors in single. */
#include "hmc/bench/ops.h"

#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"
#include "operators/coarse.h"

#define SHIFT 0.1  /* mass added for the heavier operator */
#define VECTORS 24 /* null vectors, where aggregates have as many components */

/* The largest aggregates of up to `most` sites along each direction that leave every rank an even number of them. */
static coarse_settings settings(const lattice *lat, int components, int most)
{
    coarse_settings s = {.vectors = VECTORS};
    int box[4], sites = 1;
    lattice_box(lat, box);
    for (int d = 0; d < 4; d++) {
        s.block[d] = 1;
        for (int b = 2; b <= most; b++)
            if (box[d] % b == 0 && box[d] / b % 2 == 0) s.block[d] = b;
        sites *= s.block[d];
    }
    if (s.vectors > sites * components / 2) s.vectors = sites * components / 2;
    return s;
}

static field *random_like(const field *v, uint32_t number)
{
    const field_shape shape = field_shape_of(v);
    field *d = field_create_shape(v->lat, &shape, PREC_DOUBLE, v->par, v->where), *x = field_like(v);
    vector_random(d, 1, RANDOM_TEST, number);
    field_copy(x, d);
    field_destroy(d);
    return x;
}

static void build(coarse *c, const linop *fine, int n)
{
    field *like = linop_vector(fine, 1);
    for (int k = 0; k < n; k++) {
        field *v = random_like(like, 32 + (uint32_t)k);
        coarse_set_vector(c, k, v);
        field_destroy(v);
    }
    field_destroy(like);
    coarse_build(c);
}

void bench_open_coarse(bench *b)
{
    const precision prec = b->prec == PREC_DOUBLE ? PREC_DOUBLE : PREC_SINGLE;
    linop *fine = linop_at(wilson_schur(b->w), prec, b->where);
    coarse_settings first = settings(b->lat, 12, 4);
    first.half_links = b->prec == PREC_HALF;
    linop_refresh(fine);
    b->coarse = coarse_create(fine, &first);
    build(b->coarse, fine, first.vectors);
    b->heavier = coarse_create_shifted(fine, b->coarse);
    linop *system = coarse_system(b->coarse);
    coarse_settings second = settings(system->lat, 2 * first.vectors, 2);
    second.half_links = first.half_links;
    b->coarser = coarse_create(system, &second);
    build(b->coarser, system, second.vectors);
    field *fine_like = linop_vector(fine, 1), *whole = coarse_vector(b->coarse, b->rhs),
          *part = linop_vector(system, b->rhs);
    b->fx = random_like(fine_like, 1);
    b->cx = random_like(whole, 2);
    b->cy = field_like(whole);
    b->px = random_like(part, 3);
    b->py = field_like(part);
    b->c1 = coarse_vector(b->coarse, 1);
    field *several = linop_vector(system, b->rhs > COARSE_TENSOR_RHS ? b->rhs : COARSE_TENSOR_RHS);
    b->tx = random_like(several, 4);
    b->ty = field_like(several);
    field_destroy(several);
    field_destroy(part);
    field_destroy(whole);
    field_destroy(fine_like);
}

void bench_close_coarse(bench *b)
{
    field *const all[] = {b->fx, b->cx, b->cy, b->px, b->py, b->c1, b->tx, b->ty};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    coarse_destroy(b->heavier);
    coarse_destroy(b->coarser);
    coarse_destroy(b->coarse);
}

static void run_system(bench *b)
{
    linop_apply(coarse_system(b->coarse), b->py, b->px, 0);
}

static void run_tensor(bench *b)
{
    coarse_use_products(b->coarse, COARSE_TENSOR_CORES);
    linop_apply(coarse_system(b->coarse), b->ty, b->tx, 0);
    coarse_use_products(b->coarse, COARSE_IN_PRECISION);
}

static void run_whole(bench *b)
{
    coarse_apply(b->coarse, b->cy, b->cx);
}

static void run_restrict(bench *b)
{
    coarse_from_fine(b->coarse, b->c1, b->fx);
}

static void run_prolong(bench *b)
{
    coarse_to_fine(b->coarse, b->fx, b->c1);
}

static void run_build(bench *b)
{
    coarse_set_vector(b->coarse, 0, b->fx);
    b->sums[0] = coarse_build(b->coarse);
}

static void run_build_again(bench *b)
{
    b->sums[0] = coarse_build(b->coarser);
}

static void run_shifted(bench *b)
{
    coarse_build_shifted(b->heavier, &(operator_shift){SHIFT, 0});
    linop_apply(coarse_system(b->heavier), b->py, b->px, 0);
}

#define NEEDS (BENCH_WILSON | BENCH_COARSE)
const bench_op bench_ops_coarse[] = {
    {"coarse_system", "coarse", 1, 0, 1, NEEDS, run_system, 0},
    {"coarse_tensor", "coarse", 1, 0, 1, NEEDS, run_tensor, 0},
    {"coarse_whole", "coarse", 1, 0, 1, NEEDS, run_whole, 0},
    {"coarse_restrict", "coarse", 1, 0, 1, NEEDS, run_restrict, BENCH_ONE_RHS},
    {"coarse_prolong", "coarse", 1, 0, 1, NEEDS, run_prolong, BENCH_ONE_RHS},
    {"coarse_build", "coarse", 1, 0, 1, NEEDS, run_build, BENCH_ONE_RHS},
    {"coarse_shifted", "coarse", 1, 0, 1, NEEDS, run_shifted, BENCH_ONE_RHS},
    {"coarser_build", "coarse", 1, 0, 1, NEEDS, run_build_again, BENCH_ONE_RHS},
    {0},
};
