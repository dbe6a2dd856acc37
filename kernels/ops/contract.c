#include "kernels/ops/contract.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/base/pool.h"
#include "kernels/family/contract.h"
#include "kernels/ops/expect.h"
#include "kernels/run/kernel.h"

static void expect_density(const field *rho, int channels, const field *like)
{
    expect_kind(rho, FIELD_DENSITY, like);
    REQUIRE(rho->nrhs == channels && rho->par == PARITY_BOTH && like->par == PARITY_BOTH && like->prec == PREC_DOUBLE,
            "%d channels of parity %d from a %s of parity %d in %s precision", rho->nrhs, rho->par,
            field_kinds[like->kind].name, like->par, precision_names[like->prec]);
}

field *density_create(const field *f, int channels)
{
    return field_create(f->lat, FIELD_DENSITY, PREC_DOUBLE, PARITY_BOTH, channels, f->where);
}

/* Spinors in double precision as colour vectors, which stand in memory as they would by themselves: group 4 column + spin. */
static view spins_of(const field *columns, int p)
{
    view v = field_in(columns, (parity)p);
    v.groups *= 4;
    v.group_stride /= 4;
    return v;
}

/* Columns of a quark beside a density of pairs of spins. */
static void expect_columns(const field *columns, const field *rho)
{
    expect_density(rho, SPIN_PAIRS, columns);
    expect_kind(columns, FIELD_SPINOR, rho);
    REQUIRE(columns->nrhs == 12 && columns->Ls == 1, "%d columns of %d slices", columns->nrhs, columns->Ls);
}

/* Pairs of spins of `columns` columns of a and b from these on. */
static void run_spin_pairs(field *rho, const field *a, int first_a, const field *b, int first_b, int columns)
{
    const double sites = (double)field_units(rho) * rho->lay->lanes, pair = 16 * 3 * columns;
    FOR_PARITIES(p, rho)
    {
        const spin_pairs_args args = {.a = spins_of(a, p),
                                      .b = spins_of(b, p),
                                      .out = field_out(rho, (parity)p),
                                      .first_a = first_a,
                                      .first_b = first_b,
                                      .columns = columns};
        kernel_run(KERNEL_spin_pairs, rho, &args,
                   (kernel_work){.n = field_units(rho),
                                 .flops = 8 * pair * sites,
                                 .bytes = 8.0 * (2 * 24 * columns + 2 * SPIN_PAIRS) * sites});
    }
}

void contract_spin_pairs(field *rho, const field *a, const field *b, int s, int r)
{
    expect_columns(a, rho);
    expect_columns(b, rho);
    run_spin_pairs(rho, a, CONTRACT_COLOURS * s, b, CONTRACT_COLOURS * r, CONTRACT_COLOURS);
}

void contract_column_pairs(field *rho, const field *a, int i, const field *b, int j)
{
    expect_density(rho, SPIN_PAIRS, a);
    expect_kind(a, FIELD_SPINOR, rho);
    expect_kind(b, FIELD_SPINOR, rho);
    REQUIRE(i >= 0 && i < a->nrhs && j >= 0 && j < b->nrhs && a->Ls == 1 && b->Ls == 1 && b->par == PARITY_BOTH &&
                b->prec == PREC_DOUBLE,
            "columns %d of %d and %d of %d", i, a->nrhs, j, b->nrhs);
    run_spin_pairs(rho, a, i, b, j, 1);
}

void contract_inner(field *rho, const field *x, const field *y)
{
    expect_density(rho, 1, x);
    expect_vector(y, x->kind, x);
    REQUIRE((x->reals == 24 || x->reals == 6) && y->par == PARITY_BOTH, "%s of parity %d", field_kinds[x->kind].name,
            y->par);
    FOR_PARITIES(p, rho)
    {
        const inner_args args = {.x = field_in(x, (parity)p),
                                 .y = field_in(y, (parity)p),
                                 .out = field_out(rho, (parity)p),
                                 .reals = x->reals};
        const double reals = (double)field_units(x) * x->lay->lanes * x->groups * x->reals;
        kernel_run(KERNEL_inner, rho, &args,
                   (kernel_work){.n = field_units(rho), .flops = 4 * reals, .bytes = 16 * reals});
    }
}

void contract_colours(field *rho, const field *a, const field *b, const field *c)
{
    const field *const lines[3] = {a, b, c};
    expect_density(rho, 1, a);
    for (int i = 0; i < 3; i++) {
        expect_vector(lines[i], FIELD_VECTOR, a);
        REQUIRE(lines[i]->nrhs == CONTRACT_COLOURS && lines[i]->par == PARITY_BOTH, "%d columns", lines[i]->nrhs);
    }
    FOR_PARITIES(p, rho)
    {
        const colour_triple_args args = {.a = field_in(a, (parity)p),
                                         .b = field_in(b, (parity)p),
                                         .c = field_in(c, (parity)p),
                                         .out = field_out(rho, (parity)p)};
        kernel_run(KERNEL_colour_triple, rho, &args, (kernel_work){.n = field_units(rho)});
    }
}

static diquark_table table_of(const diquark_pair *pairs)
{
    diquark_table t;
    _Static_assert(DIQUARK_PAIRS == DIQUARK_TERMS, "a term a pair");
    for (int k = 0; k < DIQUARK_TERMS; k++)
        for (int i = 0; i < 2; i++) {
            t.at[k][i] = pairs[k].at[i];
            t.value[k][i] = pairs[k].factor[i];
        }
    return t;
}

static void run_baryon(kernel_id id, field *rho, const field *const lines[3], const diquark_pair *sink,
                       const diquark_pair *source)
{
    for (int i = 0; i < 3; i++) expect_columns(lines[i], rho);
    FOR_PARITIES(p, rho)
    {
        const baryon_args args = {.a = spins_of(lines[0], p),
                                  .b = spins_of(lines[1], p),
                                  .c = spins_of(lines[2], p),
                                  .out = field_out(rho, (parity)p),
                                  .sink = table_of(sink),
                                  .source = table_of(source)};
        kernel_run(id, rho, &args, (kernel_work){.n = field_units(rho)});
    }
}

void contract_baryon_direct(field *rho, const field *a, const field *b, const field *c, const diquark_pair *sink,
                            const diquark_pair *source)
{
    run_baryon(KERNEL_baryon_direct, rho, (const field *const[]){a, b, c}, sink, source);
}

void contract_baryon_crossed(field *rho, const field *a, const field *b, const field *c, const diquark_pair *sink,
                             const diquark_pair *source)
{
    run_baryon(KERNEL_baryon_crossed, rho, (const field *const[]){a, b, c}, sink, source);
}

/* ---- sums over slices ---- */

/* Tables of waves for the kernel, in memory of the field's place. */
typedef struct {
    void *factors, *first;
    size_t factor_bytes, first_bytes;
} wave_tables;

static void *placed(const field *like, const void *from, size_t bytes)
{
    void *to = pool_take(lattice_pool(like->lat, like->where), bytes);
    if (like->lat->planned) return to;
    if (like->where == PLACE_DEVICE) gpu_copy(to, PLACE_DEVICE, from, PLACE_HOST, bytes);
    else memcpy(to, from, bytes);
    return to;
}

/* Copies such memory back, and gives it back. */
static void fetch(void *to, const field *like, void *from, size_t bytes)
{
    const int planned = like->lat->planned;
    if (!planned && like->where == PLACE_DEVICE) gpu_copy(to, PLACE_HOST, from, PLACE_DEVICE, bytes);
    else if (!planned) memcpy(to, from, bytes);
    pool_give(lattice_pool(like->lat, like->where), from, bytes);
}

/* Factors along d at the layout's coordinates, lane by lane. */
static void fill_factors(double *to, const field *like, const slice_waves *w, int d)
{
    const layout *lay = like->lay;
    for (int n = 0; n < w->factors[d]; n++)
        for (int x = 0; x < lay->sub[d]; x++)
            for (int c = 0; c < 2; c++)
                for (int lane = 0; lane < lay->lanes; lane++) {
                    const int at = x + lay->g.lane_origin[4 * lane + d];
                    *to++ = w->factor[d][(long)n * like->lat->size[d] + at][c];
                }
}

static wave_tables open_waves(const field *like, const slice_waves *w)
{
    const layout *lay = like->lay;
    int start[3], numbers = 0;
    for (int d = 0; d < 3; d++) {
        start[d] = numbers;
        numbers += w->factors[d] * lay->sub[d];
    }
    wave_tables t = {.factor_bytes = 2 * (size_t)numbers * (size_t)lay->lanes * sizeof(double),
                     .first_bytes = 3 * (size_t)w->n * sizeof(int32_t)};
    double *factors = malloc(t.factor_bytes);
    int32_t *first = malloc(t.first_bytes);
    REQUIRE_MEMORY(factors && first, "out of memory for %d factors of waves", numbers);
    for (int d = 0; d < 3 && !like->lat->planned; d++) {
        fill_factors(factors + 2 * (size_t)start[d] * (size_t)lay->lanes, like, w, d);
        for (int i = 0; i < w->n; i++) first[3 * i + d] = start[d] + w->number[i][d] * lay->sub[d];
    }
    t.factors = placed(like, factors, t.factor_bytes);
    t.first = placed(like, first, t.first_bytes);
    free(first);
    free(factors);
    return t;
}

static void close_waves(const field *like, wave_tables *t)
{
    const int pool = lattice_pool(like->lat, like->where);
    pool_give(pool, t->first, t->first_bytes);
    pool_give(pool, t->factors, t->factor_bytes);
}

/* Units that keep the threads of a processor busy. */
#define UNITS_ENOUGH 128

/* Stretches of planes of cubes, so that there are units for all threads. */
static int parts_for(const field *rho, long units)
{
    const int pairs = rho->lay->sub[2] / 2;
    int parts = 1;
    while (rho->where == PLACE_HOST && parts < pairs && (parts * units < UNITS_ENOUGH || pairs % parts)) parts++;
    return parts;
}

static long chunks(int n, int most)
{
    return (n + most - 1) / most;
}

/* Runs the kernel on sums in memory of the field's place, with `units` of them a part. */
static void run_slices(const slice_sums_args *args, const field *rho, long units)
{
    const double cubes = (double)rho->lat->local_volume / 8 * args->waves * args->channels;
    const kernel_work work = {
        .n = units * args->parts, .flops = kernel_infos[KERNEL_slice_sums].flops * cubes, .bytes = (double)rho->bytes};
    kernel_run(KERNEL_slice_sums, rho, args, work);
}

void contract_slices(exact_sum *sums, const field *rho, const slice_waves *waves)
{
    const lattice *lat = rho->lat;
    expect_density(rho, rho->nrhs, rho);
    if (lat->local_volume == 0) return;
    const long units = rho->lay->sub[3] * chunks(waves->n, SLICE_WAVES) * chunks(rho->nrhs, SLICE_CHANNELS);
    wave_tables tables = open_waves(rho, waves);
    slice_sums_args args = {.g = field_geom(rho),
                            .rho = field_all(rho),
                            .factors = tables.factors,
                            .first = tables.first,
                            .waves = waves->n,
                            .channels = rho->nrhs,
                            .parts = parts_for(rho, units),
                            .slices = lat->local[3]};
    const long of_slice = 2L * waves->n * rho->nrhs, n = args.parts * lat->local[3] * of_slice;
    const size_t bytes = (size_t)n * sizeof *sums;
    exact_sum *made = malloc(bytes);
    REQUIRE_MEMORY(made, "out of memory for %ld sums", n);
    for (long i = 0; i < n; i++) made[i] = exact_zero();
    args.sums = placed(rho, made, bytes);
    run_slices(&args, rho, units);
    fetch(made, rho, args.sums, bytes);
    close_waves(rho, &tables);
    for (long i = 0; i < n; i++)
        exact_merge(&sums[lat->origin[3] * of_slice + i % (lat->local[3] * of_slice)], &made[i]);
    free(made);
}
