#include "hmc/bench_ops.h"

#include <math.h>
#include <stdio.h>

#include "hmc/evolve/action.h"
#include "kernels/base/pool.h"
#include "kernels/gauge.h"
#include "kernels/spinor.h"
#include "kernels/staggered.h"
#include "solvers/multishift.h"
#include "solvers/solver.h"

#define MASS 0.1
#define ROUGHNESS 0.4 /* of the links: exp of so much Gaussian algebra */
#define C_SW 1.0
#define CG_ITERATIONS 25
#define POLES 8   /* of a rational function */
#define SHIFTS 12 /* of a multi-shift solve */

/* ---- what is run ---- */

/* There and back: both parities are read and written in turn, as an operator does. */
static void run_hop(bench *b)
{
    hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = 1, .links = b->links};
    spinor_hop(b->y, PARITY_ODD, b->x, &call);
    spinor_hop(b->z, PARITY_EVEN, b->y, &call);
}

static void run_hop_clover(bench *b)
{
    hop_call call = {.form = HOP_CLOVER, .a = 1, .sign = 1, .links = b->links, .clover = b->clover};
    spinor_hop(b->y, PARITY_ODD, b->x, &call);
    spinor_hop(b->z, PARITY_EVEN, b->y, &call);
}

static void run_clover(bench *b)
{
    spinor_clover(b->z, PARITY_EVEN, b->clover, b->x, 1);
}

static void run_clover_norm2(bench *b)
{
    spinor_sum s;
    spinor_clover_norm2_start(&s, b->z, PARITY_EVEN, b->clover, b->x, 1);
    spinor_sum_finish(&s);
}

static void run_schur(bench *b)
{
    linop_apply(b->schur, b->sy, b->sx, 0);
}

static void run_axpby(bench *b)
{
    spinor_axpby(b->z, 0.5, b->x, 0.5);
}

static void run_norm2(bench *b)
{
    spinor_norm2(b->x, 0);
}

static void run_dot(bench *b)
{
    double value[2];
    spinor_dot(value, b->x, b->z, 0);
}

static void run_axpby_norm2(bench *b)
{
    spinor_axpy_norm2(b->z, 1e-6, b->x, 0);
}

static void run_cg_update(bench *b)
{
    spinor_cg_update(b->sx, b->sy, 1e-6, 0.5, b->z);
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
    double value[2][2];
    spinor_multi_dot(value, 2, pair_of(b), b->sx, 0);
}

static void run_multi_axpy(bench *b)
{
    static const double c[2][2] = {{1e-6, 1e-6}, {1e-6, -1e-6}};
    spinor_multi_axpy(b->sy, 2, c, pair_of(b), 0);
}

static void run_multi_axpby(bench *b)
{
    static const double c[2][2] = {{0.5, 0.1}, {0.5, -0.1}};
    field *const y[2] = {b->sx, b->sy};
    spinor_multi_axpby(2, y, c, pair_of(b), c);
}

static void run_mr_update(bench *b)
{
    static const double a[2] = {1e-6, 1e-6};
    spinor_mr_update(b->sy, b->z, a, b->x);
}

static void run_bicgstab_update(bench *b)
{
    static const double gamma[1][2] = {{1e-6, 1e-6}};
    field *const r[2] = {b->x, b->z}, *const u[2] = {b->sx, b->z};
    double rho[2];
    spinor_bicgstab_update(rho, b->sy, r, u, 1, gamma, b->z, 0);
}

static void run_multishift_update(bench *b)
{
    static const double alpha[1] = {1e-6}, zeta[1] = {0.5}, beta[1] = {0.5};
    spinor_multishift_update(1, &b->sx, &b->sy, alpha, zeta, beta, b->z, 0);
}

static void run_gauge_force(bench *b)
{
    gauge_force(b->momenta, b->links_double, gauge_weights_c1(1e-3, 0));
}

static void run_rectangle_force(bench *b)
{
    gauge_force(b->momenta, b->links_double, gauge_weights_c1(1e-3, -0.331));
}

static void run_parallelogram_force(bench *b)
{
    const gauge_weights w = {1e-3, -5e-5, -5e-6};
    gauge_force(b->momenta, b->links_double, w);
}

static void run_hop_force(bench *b)
{
    hop_force(b->momenta, b->links_double, b->spinor, b->more);
}

static void run_clover_force(bench *b)
{
    clover_force(b->momenta, b->links_double, b->tensor);
}

static void run_loops(bench *b)
{
    gauge_measure(b->links_double, 1);
}

static void run_field_strength(bench *b)
{
    gauge_field_strength(b->tensor, b->links_double);
}

static void run_link_update(bench *b)
{
    gauge_update(b->links_double, 1e-6, b->momenta);
}

/* Some iterations, all in the precision of the fields. */
static void run_cg(bench *b)
{
    const solver_settings s = {
        .type = "cg", .tolerance = 1e-30, .max_iterations = CG_ITERATIONS, .inner_precision = "double", .delta = 0.1};
    b->iterations = solver_precondition(&s, b->normal, b->sy, b->sx).iterations;
}

/* Steps of minimal residual in one block a rank, as GCR-DD has them. */
static void run_schwarz(bench *b)
{
    solver_settings s = {.type = "schwarz", .steps = 10, .relaxation = 1, .colours = 1, .cycles = 1};
    snprintf(s.inner_precision, sizeof s.inner_precision, "%s", precision_names[b->prec]);
    b->iterations = solver_precondition(&s, b->schur, b->sy, b->sx).iterations;
}

/* A whole solve in double, with half precision inside. */
static void solve_with_half(bench *b, linop *op, field *x, const field *source)
{
    const solver_settings s = {
        .type = "cg", .tolerance = 1e-14, .max_iterations = 10000, .inner_precision = "half", .delta = 0.1};
    field_clear(x);
    b->iterations = solver_solve(&s, op, x, source).iterations;
}

static void run_cg_half(bench *b)
{
    solve_with_half(b, b->normal, b->sy, b->sx);
}

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
    const solver_settings s = {
        .type = "cg", .tolerance = 1e-30, .max_iterations = CG_ITERATIONS, .inner_precision = "double", .delta = 0.1};
    linop *op = linop_at(staggered_normal(b->quark), b->prec, b->where);
    b->iterations = solver_precondition(&s, op, b->vz, b->vx).iterations;
}

static void run_staggered_cg_half(bench *b)
{
    solve_with_half(b, staggered_normal(b->quark), b->vz, b->vx);
}

/* Shifts like those of a rational function, from a thousandth of the operator's size to all of it: each to 1e-8, from a
 * Krylov space in single precision. */
static void solve_shifts(bench *b, linop *op, const field *source)
{
    const solver_settings s = {
        .type = "cg", .tolerance = 1e-8, .max_iterations = 10000, .inner_precision = "single", .delta = 0.1};
    double shifts[SHIFTS], tolerances[SHIFTS];
    field *x[SHIFTS];
    for (int i = 0; i < SHIFTS; i++) {
        shifts[i] = 1e-3 * pow(1e4, (double)i / (SHIFTS - 1));
        tolerances[i] = s.tolerance;
        x[i] = field_like(source);
    }
    b->iterations = multishift_solve(&s, op, SHIFTS, shifts, tolerances, x, source).iterations;
    for (int i = 0; i < SHIFTS; i++) field_destroy(x[i]);
}

static void run_multishift(bench *b)
{
    solve_shifts(b, b->normal, b->sx);
}

static void run_staggered_multishift(bench *b)
{
    solve_shifts(b, staggered_normal(b->quark), b->vx);
}

/* One level: all paths of up to 7 links and Lepage's. */
static const staggered_paths paths = {1, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8};

static void run_fatten(bench *b)
{
    staggered_fatten(b->one, b->links_double, LINKS_SPECIAL, &paths);
}

/* Its derivative. */
static void run_fatten_back(bench *b)
{
    staggered_fatten_back(b->two, b->links_double, LINKS_SPECIAL, b->one, &paths);
}

static void run_lengthen(bench *b)
{
    staggered_lengthen(b->one, b->links_double, -1.0 / 24);
}

static void run_project(bench *b)
{
    double undefined;
    staggered_unitarise(b->one, b->links_double, &undefined);
}

/* Both levels, projection, long links and phases. */
static void run_hisq_links(bench *b)
{
    field_out(b->links_double, PARITY_EVEN); /* as if they had changed */
    staggered_links_at(b->hisq, PREC_DOUBLE, b->where);
}

/* From derivatives by fat and long links to momenta. */
static void run_hisq_force(bench *b)
{
    staggered_links_at(b->hisq, PREC_DOUBLE, b->where);
    field_clear(b->three); /* as it is in use: a fresh one */
    staggered_links_back(b->momenta, b->hisq, b->one, b->two, b->three);
}

/* Derivatives by fat and long links of eight poles. */
static void run_outer(bench *b)
{
    double weights[POLES];
    for (int i = 0; i < POLES; i++) weights[i] = 1e-3;
    const staggered_outer_call call = {
        .first = PARITY_EVEN, .near = b->one, .far = b->two, .far_factor = staggered_links_naik(b->hisq)};
    staggered_outer(&call, b->poles, weights);
}

static const bench_op ops[] = {
    {"hop", "hop", 1, 1, 2, BENCH_WILSON, run_hop, 0},
    {"hop_clover", "hop", 1, 1, 2, BENCH_WILSON, run_hop_clover, 0},
    {"clover_apply", "clover", 1, 0, 1, BENCH_WILSON, run_clover, 0},
    {"clover_norm2", "clover", 1, 0, 1, BENCH_WILSON, run_clover_norm2, 1},
    {"wilson_schur", "clover", 1, 1, 2, BENCH_WILSON, run_schur, 0},
    {"axpby", "blas", 1, 0, 1, BENCH_WILSON, run_axpby, 0},
    {"norm2", "blas", 1, 0, 1, BENCH_WILSON, run_norm2, 0},
    {"dot", "blas", 1, 0, 1, BENCH_WILSON, run_dot, 0},
    {"axpby_norm2", "blas", 1, 0, 1, BENCH_WILSON, run_axpby_norm2, 0},
    {"cg_update", "blas", 1, 0, 1, BENCH_WILSON, run_cg_update, 0},
    {"multi_dot", "blas", 1, 0, 1, BENCH_WILSON, run_multi_dot, 0},
    {"multi_axpy", "blas", 1, 0, 1, BENCH_WILSON, run_multi_axpy, 0},
    {"multi_axpby", "blas", 1, 0, 1, BENCH_WILSON, run_multi_axpby, 0},
    {"mr_update", "blas", 1, 0, 1, BENCH_WILSON, run_mr_update, 0},
    {"bicgstab_update", "blas", 1, 0, 1, BENCH_WILSON, run_bicgstab_update, 0},
    {"multishift_update", "blas", 1, 0, 1, BENCH_WILSON, run_multishift_update, 0},
    {"gauge_force", "force", 0, 0, 1, BENCH_DOUBLE, run_gauge_force, 0},
    {"rectangle_force", "force", 0, 0, 1, BENCH_DOUBLE, run_rectangle_force, 0},
    {"parallelogram_force", "force", 0, 0, 1, BENCH_DOUBLE, run_parallelogram_force, 0},
    {"hop_force", "force", 0, 0, 1, BENCH_DOUBLE, run_hop_force, 0},
    {"clover_force", "force", 0, 0, 1, BENCH_DOUBLE, run_clover_force, 0},
    {"loops", "gauge", 0, 0, 1, BENCH_DOUBLE, run_loops, 0},
    {"field_strength", "gauge", 0, 0, 1, BENCH_DOUBLE, run_field_strength, 0},
    {"link_update", "gauge", 0, 0, 1, BENCH_DOUBLE, run_link_update, 0},
    {"staggered_hop", "staggered", 1, 0, 2, BENCH_STAGGERED, run_staggered, 0},
    {"staggered_naive", "staggered", 1, 0, 2, BENCH_STAGGERED, run_naive, 0},
    {"staggered_cg", "staggered", 1, 0, 4, BENCH_STAGGERED, run_staggered_cg, 0},
    {"staggered_cg_half", "staggered", 0, 0, 4, BENCH_STAGGERED, run_staggered_cg_half, 1},
    {"staggered_shifts", "staggered", 0, 0, 4, BENCH_STAGGERED, run_staggered_multishift, 1},
    {"staggered_hop_13", "staggered", 1, 0, 2, BENCH_STAGGERED, run_staggered_13, 0},
    {"staggered_hop_9", "staggered", 1, 0, 2, BENCH_STAGGERED, run_staggered_9, 0},
    {"fatten", "staggered", 0, 0, 3, BENCH_PATHS, run_fatten, 0},
    {"fatten_back", "staggered", 0, 0, 5, BENCH_PATHS, run_fatten_back, 0},
    {"lengthen", "staggered", 0, 0, 1, BENCH_PATHS, run_lengthen, 0},
    {"project_links", "staggered", 0, 0, 1, BENCH_PATHS, run_project, 0},
    {"hisq_links", "staggered", 0, 0, 6, BENCH_PATHS, run_hisq_links, 0},
    {"hisq_force", "staggered", 0, 0, 12, BENCH_PATHS | BENCH_DOUBLE, run_hisq_force, 0},
    {"staggered_outer", "staggered", 0, 0, 1, BENCH_PATHS, run_outer, 0},
    {"cg", "cg", 1, 1, 4, BENCH_WILSON, run_cg, 0},
    {"cg_half", "cg", 0, 1, 4, BENCH_WILSON, run_cg_half, 1},
    {"multishift", "cg", 0, 1, 4, BENCH_WILSON, run_multishift, 1},
    {"schwarz", "cg", 1, 1, 4, BENCH_WILSON, run_schwarz, 1},
};

const bench_op *bench_op_number(int i)
{
    return i < (int)(sizeof ops / sizeof ops[0]) ? &ops[i] : NULL;
}

/* ---- fields ---- */

int bench_op_has(const bench_op *o, precision prec)
{
    return o->all_precisions || prec == PREC_DOUBLE;
}

static field *random_vector(bench *b, field_kind kind, parity p, uint32_t number)
{
    field *d = field_create(b->lat, kind, PREC_DOUBLE, p, b->rhs, PLACE_HOST);
    field *f = field_create(b->lat, kind, b->prec, p, b->rhs, b->where);
    spinor_random(d, 1, RANDOM_TEST, number);
    field_copy(f, d);
    field_destroy(d);
    return f;
}

static field *random_spinor(bench *b, parity p, uint32_t number)
{
    return random_vector(b, FIELD_SPINOR, p, number);
}

static field *copy_to(const field *from, field_kind kind, precision prec, place where)
{
    field *f = field_create(from->lat, kind, prec, from->par, 1, where);
    field_copy(f, from);
    return f;
}

/* For kernels in double. */
static void open_double(bench *b, const field *tensor)
{
    const lattice *lat = b->lat;
    b->tensor = copy_to(tensor, FIELD_TENSOR, PREC_DOUBLE, b->where);
    b->spinor = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    b->more = field_like(b->spinor);
    field *d = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    spinor_random(d, 1, RANDOM_TEST, 5);
    field_copy(b->spinor, d);
    field_copy(b->more, d);
    field_destroy(d);
    b->momenta = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
}

static void open_wilson(bench *b, const field *links, const field *tensor)
{
    const field_kind storage = b->link_reals == 8    ? FIELD_LINKS_EIGHT
                               : b->link_reals == 12 ? FIELD_LINKS_TWO_ROWS
                                                     : FIELD_LINKS;
    field *clover = field_create(b->lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    clover_build(clover, tensor, 4 + MASS, C_SW);
    b->links = copy_to(links, storage, b->prec, b->where);
    b->clover = copy_to(clover, FIELD_CLOVER, b->prec, b->where);
    field_destroy(clover);
    b->x = random_spinor(b, PARITY_EVEN, 1);
    b->y = random_spinor(b, PARITY_ODD, 2);
    b->z = random_spinor(b, PARITY_EVEN, 3);
    b->sx = random_spinor(b, PARITY_EVEN, 4);
    b->sy = field_like(b->sx);
    b->w = wilson_create(b->links_double, &(wilson_settings){MASS, C_SW, SCHUR_ASYMMETRIC, PARITY_EVEN, storage});
    b->schur = linop_at(wilson_schur(b->w), b->prec, b->where);
    b->normal = normal_create(b->schur);
}

static staggered_links *asqtad_links(const bench *b, int long_reals)
{
    const staggered_smearing s = {.kind = STAGGERED_ASQTAD, .u0 = 0.9, .long_reals = long_reals};
    return staggered_links_create(b->links_double, &s);
}

static void open_staggered(bench *b)
{
    b->asqtad = asqtad_links(b, 18);
    b->asqtad_13 = asqtad_links(b, 13);
    b->asqtad_9 = asqtad_links(b, 9);
    b->naive = staggered_links_create(b->links_double, &(staggered_smearing){.kind = STAGGERED_NAIVE});
    b->quark = staggered_create(b->asqtad, MASS, PARITY_EVEN);
    b->vx = random_vector(b, FIELD_VECTOR, PARITY_EVEN, 1);
    b->vy = random_vector(b, FIELD_VECTOR, PARITY_ODD, 2);
    b->vz = random_vector(b, FIELD_VECTOR, PARITY_EVEN, 3);
}

static void open_paths(bench *b)
{
    b->hisq = staggered_links_create(b->links_double, &(staggered_smearing){.kind = STAGGERED_HISQ});
    b->one = field_like(b->links_double);
    b->two = field_like(b->links_double);
    b->three = field_like(b->links_double);
    b->poles = field_create(b->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, POLES, b->where);
    gauge_cold(b->one);
    gauge_cold(b->two);
}

void bench_open(bench *b, int needs)
{
    field *links = field_create(b->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    field *momenta = field_create(b->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST), *tensor = NULL;
    gauge_cold(links);
    momenta_random(momenta, 1, RANDOM_TEST, 0);
    gauge_update(links, ROUGHNESS, momenta);
    field_destroy(momenta);
    b->links_double = copy_to(links, FIELD_LINKS, PREC_DOUBLE, b->where);
    if (needs & (BENCH_WILSON | BENCH_DOUBLE)) {
        tensor = field_create(b->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
        gauge_field_strength(tensor, links);
    }
    if (needs & BENCH_WILSON) open_wilson(b, links, tensor);
    if (needs & BENCH_DOUBLE) open_double(b, tensor);
    if (needs & BENCH_STAGGERED) open_staggered(b);
    if (needs & BENCH_PATHS) open_paths(b);
    field_destroy(tensor);
    field_destroy(links);
}

void bench_close(bench *b)
{
    staggered_destroy(b->quark);
    staggered_links_destroy(b->naive);
    staggered_links_destroy(b->hisq);
    staggered_links_destroy(b->asqtad_13);
    staggered_links_destroy(b->asqtad_9);
    staggered_links_destroy(b->asqtad);
    linop_destroy(b->normal);
    wilson_destroy(b->w);
    field *all[] = {b->links, b->links_double, b->clover, b->tensor, b->x,       b->y,  b->z,
                    b->sx,    b->sy,           b->spinor, b->more,   b->momenta, b->vx, b->vy,
                    b->vz,    b->one,          b->two,    b->three,  b->poles};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    pool_trim(PLACE_HOST);
}
