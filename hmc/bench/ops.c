#include "hmc/bench/ops.h"

#include <math.h>

#include "hmc/actions/action.h"
#include "kernels/base/pool.h"
#include "kernels/ops/contract.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"
#include "kernels/run/kernel.h"
#include "solvers/multishift.h"
#include "solvers/solver.h"

#define ROUGHNESS 0.4    /* links: exp of so much Gaussian algebra */
#define SHIFTS 12        /* shifts of a multi-shift solve */
#define BENCH_SOURCES 12 /* columns of a quark */

const bench_op *bench_op_number(int i)
{
    static const bench_op *const tables[] = {bench_ops_wilson,     bench_ops_gauge,  bench_ops_staggered,
                                             bench_ops_domainwall, bench_ops_coarse, bench_ops_measure};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const bench_op *o = tables[t]; o->name; o++)
            if (i-- == 0) return o;
    return NULL;
}

int bench_op_has(const bench_op *o, precision prec)
{
    return o->all_precisions || prec == PREC_DOUBLE;
}

int bench_op_reach(const bench_op *o)
{
    return o->needs & (BENCH_STAGGERED | BENCH_PATHS) ? 3 : BENCH_REACH;
}

int bench_is_packing(int kernel)
{
    return kernel == KERNEL_hop_pack || kernel == KERNEL_staggered_pack || kernel == KERNEL_ghost_pack ||
           kernel == KERNEL_ghost_unpack || kernel == KERNEL_coarse_pack;
}

/* ---- solves ---- */

void bench_cg(bench *b, linop *op, field *x, const field *source)
{
    const solver_settings s = {.type = param_kind(solver_section(0), "cg"),
                               .tolerance = 1e-30,
                               .max_iterations = 25,
                               .inner_precision = PREC_DOUBLE,
                               .delta = 0.1};
    solver *by = solver_create(&s, op);
    solve_result r;
    solver_precondition(by, NULL, x, source, &r);
    b->iterations = r.iterations;
    solver_destroy(by);
}

void bench_solve_with_half(bench *b, linop *op, field *x, const field *source)
{
    const solver_settings s = {.type = param_kind(solver_section(0), "cg"),
                               .tolerance = 1e-14,
                               .max_iterations = 10000,
                               .inner_precision = PREC_HALF,
                               .delta = 0.1};
    field_clear(x);
    solver *by = solver_create(&s, op);
    b->iterations = solver_solve(by, x, source, NULL).iterations;
    solver_destroy(by);
}

void bench_solve_shifts(bench *b, linop *op, const field *source)
{
    const solver_settings s = {.type = param_kind(solver_section(0), "cg"),
                               .tolerance = 1e-8,
                               .max_iterations = 10000,
                               .inner_precision = PREC_SINGLE,
                               .delta = 0.1};
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

/* ---- fields ---- */

static field *random_vector(bench *b, field_kind kind, parity p, uint32_t number)
{
    field *d = field_create(b->lat, kind, PREC_DOUBLE, p, b->rhs, PLACE_HOST);
    field *f = field_create(b->lat, kind, b->prec, p, b->rhs, b->where);
    vector_random(d, 1, RANDOM_TEST, number);
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

/* Makes the fields of kernels that come in double only. */
static void open_double(bench *b, const field *tensor)
{
    const lattice *lat = b->lat;
    b->tensor = copy_to(tensor, FIELD_TENSOR, PREC_DOUBLE, b->where);
    b->spinor = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    b->more = field_like(b->spinor);
    vector_random(b->spinor, 1, RANDOM_TEST, 5);
    field_copy(b->more, b->spinor);
    b->momenta = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    b->force = field_like(b->momenta);
    momenta_random(b->force, 1, RANDOM_TEST, 2);
    b->whole_clover = field_create(lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    clover_build(b->whole_clover, b->tensor, 4 + BENCH_MASS, clover_isotropic(BENCH_C_SW));
    b->inverse = field_like(b->whole_clover);
    b->mu_inverse = field_like(b->whole_clover);
    for (int p = 0; p < 2; p++) {
        double negatives;
        clover_invert(b->inverse, b->whole_clover, (parity)p, &negatives);
    }
    b->other_links = field_like(b->links_double);
    b->rotation = field_create(lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    gauge_random(b->rotation, 1, RANDOM_TEST, 6);
    b->path = field_like(b->rotation);
}

static void open_wilson(bench *b, const field *links, const field *tensor)
{
    const field_kind storage = b->link_reals == 12 ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
    field *clover = field_create(b->lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    clover_build(clover, tensor, 4 + BENCH_MASS, clover_isotropic(BENCH_C_SW));
    b->links = copy_to(links, storage, b->prec, b->where);
    b->clover = copy_to(clover, FIELD_CLOVER, b->prec, b->where);
    field_destroy(clover);
    b->x = random_spinor(b, PARITY_EVEN, 1);
    b->y = random_spinor(b, PARITY_ODD, 2);
    b->z = random_spinor(b, PARITY_EVEN, 3);
    b->sx = random_spinor(b, PARITY_EVEN, 4);
    b->sy = field_like(b->sx);
    const precision converted = b->prec == PREC_DOUBLE ? PREC_SINGLE : PREC_DOUBLE;
    b->converted = field_create(b->lat, FIELD_SPINOR, converted, PARITY_EVEN, b->rhs, b->where);
    b->w = wilson_create(
        b->links_double,
        &(wilson_settings){
            .mass = BENCH_MASS, .c_sw = BENCH_C_SW, .form = SCHUR_ASYMMETRIC, .p = PARITY_EVEN, .storage = storage});
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
    b->quark = staggered_create(b->asqtad, BENCH_MASS, PARITY_EVEN);
    b->vx = random_vector(b, FIELD_VECTOR, PARITY_EVEN, 1);
    b->vy = random_vector(b, FIELD_VECTOR, PARITY_ODD, 2);
    b->vz = random_vector(b, FIELD_VECTOR, PARITY_EVEN, 3);
    b->vectors = field_create(b->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    b->shifted = field_like(b->vectors);
    vector_random(b->vectors, 1, RANDOM_TEST, 4);
}

static void open_wall(bench *b)
{
    const mobius_settings s = {.mass = BENCH_MASS,
                               .M5 = 1.8,
                               .b5 = 1.5,
                               .c5 = 0.5,
                               .Ls = BENCH_SLICES,
                               .p = PARITY_EVEN,
                               .storage = b->link_reals == 18 ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS};
    const field_shape shape = {.kind = FIELD_SPINOR, .nrhs = b->rhs, .Ls = BENCH_SLICES};
    field *d = field_create_shape(b->lat, &shape, PREC_DOUBLE, PARITY_EVEN, PLACE_HOST);
    b->wall = mobius_fermion(b->links_double, &s);
    b->dx = field_create_shape(b->lat, &shape, b->prec, PARITY_EVEN, b->where);
    b->dy = field_like(b->dx);
    vector_random(d, 1, RANDOM_TEST, 1);
    field_copy(b->dx, d);
    field_copy(b->dy, d);
    field_destroy(d);
}

static void open_doublet(bench *b)
{
    const wilson_settings s = {.mass = BENCH_MASS,
                               .c_sw = BENCH_C_SW,
                               .mu = 0.1,
                               .epsilon = 0.1,
                               .doublet = 1,
                               .storage = b->link_reals == 18 ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS};
    b->doublet = wilson_fermion(b->links_double, &s);
    b->ux = linop_vector(linop_at(b->doublet->direct, b->prec, b->where), b->rhs);
    b->uy = field_like(b->ux);
    field *d = linop_vector(b->doublet->direct, b->rhs);
    vector_random(d, 1, RANDOM_TEST, 1);
    field_copy(b->ux, d);
    field_copy(b->uy, d);
    field_destroy(d);
}

static void open_paths(bench *b)
{
    b->hisq = staggered_links_create(b->links_double, &(staggered_smearing){.kind = STAGGERED_HISQ});
    b->one = field_like(b->links_double);
    b->two = field_like(b->links_double);
    b->three = field_like(b->links_double);
    b->poles = field_create(b->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, BENCH_POLES, b->where);
    b->phases = field_create(b->lat, FIELD_PHASES, PREC_DOUBLE, PARITY_BOTH, 1, b->where);
    gauge_random(b->one, 1, RANDOM_TEST, 3);
    gauge_random(b->two, 1, RANDOM_TEST, 4);
    field_copy(b->three, b->links_double);
    staggered_link_phases(b->phases, b->links_double);
    vector_random(b->poles, 1, RANDOM_TEST, 5);
}

static void open_columns(bench *b)
{
    b->columns = field_create(b->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, BENCH_SOURCES, b->where);
    b->triple = field_create(b->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 3, b->where);
    b->density = density_create(b->columns, SPIN_PAIRS);
    b->inner = density_create(b->columns, 1);
    vector_random(b->columns, 1, RANDOM_TEST, 7);
    vector_random(b->triple, 1, RANDOM_TEST, 8);
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
    if (needs & BENCH_WALL) open_wall(b);
    if (needs & BENCH_DOUBLET) open_doublet(b);
    if (needs & BENCH_COARSE) bench_open_coarse(b);
    if (needs & BENCH_COLUMNS) open_columns(b);
    field_destroy(tensor);
    field_destroy(links);
}

static size_t bytes_of(const bench *b, field_kind kind, precision prec, parity p, int rhs)
{
    return field_bytes(b->lat, kind, prec, p, rhs, b->where);
}

size_t bench_bytes(const bench *b, int needs)
{
    const size_t links = bytes_of(b, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1),
                 momenta = bytes_of(b, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1),
                 tensor = bytes_of(b, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1),
                 clover = bytes_of(b, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1);
    size_t sum = links;
    if (needs & BENCH_WILSON)
        sum += 6 * bytes_of(b, FIELD_SPINOR, b->prec, PARITY_EVEN, b->rhs) +
               bytes_of(b, FIELD_CLOVER, b->prec, PARITY_BOTH, 1) + clover;
    if (needs & BENCH_DOUBLE)
        sum += tensor + 2 * bytes_of(b, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1) + 2 * momenta + 3 * clover + links +
               2 * bytes_of(b, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1);
    if (needs & BENCH_STAGGERED)
        sum += 5 * links + 3 * bytes_of(b, FIELD_VECTOR, b->prec, PARITY_EVEN, b->rhs) +
               2 * bytes_of(b, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 1);
    if (needs & BENCH_PATHS)
        sum += 4 * links + bytes_of(b, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, BENCH_POLES) +
               bytes_of(b, FIELD_PHASES, PREC_DOUBLE, PARITY_BOTH, 1);
    if (needs & BENCH_COARSE) {
        const precision prec = b->prec == PREC_DOUBLE ? PREC_DOUBLE : PREC_SINGLE;
        sum += 24 * bytes_of(b, FIELD_SPINOR, prec, PARITY_BOTH, 1);
    }
    if (needs & BENCH_WALL) sum += 5 * BENCH_SLICES * bytes_of(b, FIELD_SPINOR, b->prec, PARITY_EVEN, b->rhs) + links;
    if (needs & BENCH_DOUBLET)
        sum += 8 * bytes_of(b, FIELD_SPINOR, b->prec, PARITY_EVEN, b->rhs) + 2 * links + 3 * clover;
    if (needs & BENCH_COLUMNS)
        sum += bytes_of(b, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, BENCH_SOURCES) +
               bytes_of(b, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 3) +
               bytes_of(b, FIELD_DENSITY, PREC_DOUBLE, PARITY_BOTH, SPIN_PAIRS + 1);
    return sum;
}

int bench_fields(const bench *b, field *fields[BENCH_FIELDS])
{
    field *all[] = {b->links,        b->links_double, b->clover,     b->tensor,      b->x,      b->y,       b->z,
                    b->sx,           b->sy,           b->converted,  b->spinor,      b->more,   b->momenta, b->force,
                    b->whole_clover, b->inverse,      b->mu_inverse, b->other_links, b->vx,     b->vy,      b->vz,
                    b->vectors,      b->shifted,      b->one,        b->two,         b->three,  b->poles,   b->phases,
                    b->dx,           b->dy,           b->rotation,   b->columns,     b->triple, b->density, b->inner,
                    b->path,         b->ux,           b->uy};
    int n = 0;
    _Static_assert(sizeof all / sizeof all[0] <= BENCH_FIELDS, "room for all");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]) fields[n++] = all[i];
    return n;
}

void bench_close(bench *b)
{
    if (b->coarse) bench_close_coarse(b);
    fermion_destroy(b->wall);
    fermion_destroy(b->doublet);
    staggered_destroy(b->quark);
    staggered_links_destroy(b->naive);
    staggered_links_destroy(b->hisq);
    staggered_links_destroy(b->asqtad_13);
    staggered_links_destroy(b->asqtad_9);
    staggered_links_destroy(b->asqtad);
    linop_destroy(b->normal);
    wilson_destroy(b->w);
    field *all[BENCH_FIELDS];
    const int n = bench_fields(b, all);
    for (int i = 0; i < n; i++) field_destroy(all[i]);
    pool_trim(PLACE_HOST);
}
