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
static view spins_of(view v)
{
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

void contract_spin_pairs(field *rho, const field *a, const field *b, int s, int r)
{
    expect_columns(a, rho);
    expect_columns(b, rho);
    const double sites = (double)field_units(rho) * rho->lay->lanes, pair = SPIN_PAIRS * 3 * CONTRACT_COLOURS;
    FOR_PARITIES(p, rho)
    {
        const spin_pairs_args args = {.a = spins_of(field_in(a, (parity)p)),
                                      .b = spins_of(field_in(b, (parity)p)),
                                      .out = field_out(rho, (parity)p),
                                      .first_a = CONTRACT_COLOURS * s,
                                      .first_b = CONTRACT_COLOURS * r};
        kernel_run(KERNEL_spin_pairs, rho, &args,
                   (kernel_work){.n = field_units(rho),
                                 .flops = 8 * pair * sites,
                                 .bytes = 8.0 * (2 * 24 * CONTRACT_COLOURS + 2 * SPIN_PAIRS) * sites});
    }
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
        const baryon_args args = {.a = spins_of(field_in(lines[0], (parity)p)),
                                  .b = spins_of(field_in(lines[1], (parity)p)),
                                  .c = spins_of(field_in(lines[2], (parity)p)),
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
static int parts_for(const field *like, long units)
{
    const int pairs = like->lay->sub[2] / 2;
    int parts = 1;
    while (like->where == PLACE_HOST && parts < pairs && (parts * units < UNITS_ENOUGH || pairs % parts)) parts++;
    return parts;
}

static long chunks(int n, int most)
{
    return (n + most - 1) / most;
}

static long of_slice(const wave_sums *s)
{
    return 2L * s->waves * s->channels;
}

static size_t sums_bytes(const wave_sums *s)
{
    return (size_t)(s->parts * s->slices * of_slice(s)) * sizeof *s->sums;
}

/* Sums of all slices of the rank in memory of the field's place, with `units` units a part. */
static wave_sums open_sums(const field *like, const slice_waves *waves, const wave_tables *tables, int channels,
                           long units)
{
    wave_sums s = {.g = field_geom(like),
                   .factors = tables->factors,
                   .first = tables->first,
                   .waves = waves->n,
                   .channels = channels,
                   .parts = parts_for(like, units),
                   .slices = like->lat->local[3]};
    s.sums = pool_take(lattice_pool(like->lat, like->where), sums_bytes(&s));
    if (like->where == PLACE_HOST && !like->lat->planned) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < s.parts * s.slices * of_slice(&s); i++) s.sums[i] = exact_zero();
    }
    return s;
}

/* Merges the sums of all parts into those of all slices of the lattice, and frees them. */
static void close_sums(exact_sum *to, const field *like, const wave_sums *s)
{
    const long n = s->slices * of_slice(s);
    const int device = like->where == PLACE_DEVICE;
    exact_sum *made = s->sums;
    if (device && !like->lat->planned) {
        made = malloc(sums_bytes(s));
        REQUIRE_MEMORY(made, "out of memory for %ld sums", n);
        gpu_copy(made, PLACE_HOST, s->sums, PLACE_DEVICE, sums_bytes(s));
    }
    to += like->lat->origin[3] * of_slice(s);
    if (!like->lat->planned) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < n; i++)
            for (int part = 0; part < s->parts; part++) exact_merge(&to[i], &made[part * n + i]);
    }
    if (made != s->sums) free(made);
    pool_give(lattice_pool(like->lat, like->where), s->sums, sums_bytes(s));
}

void contract_slices(exact_sum *sums, const field *rho, const slice_waves *waves)
{
    expect_density(rho, rho->nrhs, rho);
    if (rho->lat->local_volume == 0) return;
    const long units = rho->lay->sub[3] * chunks(waves->n, SLICE_WAVES) * chunks(rho->nrhs, SLICE_CHANNELS);
    const double cubes = (double)rho->lat->local_volume / 8;
    wave_tables tables = open_waves(rho, waves);
    const slice_sums_args args = {.s = open_sums(rho, waves, &tables, rho->nrhs, units), .rho = field_all(rho)};
    kernel_run(KERNEL_slice_sums, rho, &args,
               (kernel_work){.n = units * args.s.parts,
                             .flops = kernel_infos[KERNEL_slice_sums].flops * cubes * waves->n * rho->nrhs,
                             .bytes = (double)rho->bytes});
    close_sums(sums, rho, &args.s);
    close_waves(rho, &tables);
}

static void expect_spinors(const field *f, const field *like)
{
    expect_kind(f, FIELD_SPINOR, like);
    REQUIRE(f->par == PARITY_BOTH && f->prec == PREC_DOUBLE && f->Ls == 1,
            "columns of parity %d and %d slices in %s precision", f->par, f->Ls, precision_names[f->prec]);
}

void contract_column_slices(exact_sum *sums, const field *a, const field *b, const slice_waves *waves)
{
    expect_spinors(a, b);
    expect_spinors(b, a);
    if (a->lat->local_volume == 0) return;
    const long units =
        a->lay->sub[3] * chunks(waves->n, SLICE_WAVES) * chunks(a->nrhs, COLUMN_TILE) * chunks(b->nrhs, COLUMN_TILE);
    const double pairs = (double)a->nrhs * b->nrhs, cubes = (double)a->lat->local_volume / 8,
                 of_wave = kernel_infos[KERNEL_slice_sums].flops * SPIN_PAIRS;
    wave_tables tables = open_waves(a, waves);
    const column_slices_args args = {.s = open_sums(a, waves, &tables, SPIN_PAIRS * a->nrhs * b->nrhs, units),
                                     .a = spins_of(field_all(a)),
                                     .b = spins_of(field_all(b)),
                                     .columns_a = a->nrhs,
                                     .columns_b = b->nrhs};
    kernel_run(
        KERNEL_column_slices, a, &args,
        (kernel_work){.n = units * args.s.parts,
                      .flops = (kernel_infos[KERNEL_column_slices].flops + of_wave * (waves->n - 1)) * cubes * pairs,
                      .bytes = 8.0 * 24 * (a->nrhs + b->nrhs) * (double)a->lat->local_volume});
    close_sums(sums, a, &args.s);
    close_waves(a, &tables);
}
