/* Operations of measurements. */
#include "hmc/bench/ops.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/contract.h"

static void run_spin_pairs(bench *b)
{
    contract_spin_pairs(b->density, b->columns, b->columns, 0, 1);
}

static void run_inner(bench *b)
{
    contract_inner(b->inner, b->columns, b->columns);
}

static void run_colour_triple(bench *b)
{
    contract_colours(b->inner, b->triple, b->triple, b->triple);
}

/* A tensor of two spins with all four pairs, and complex factors. */
static const diquark_pair diquark[DIQUARK_PAIRS] = {
    {{0, 1}, {1, 0}}, {{1, 0}, {-1, 0}}, {{2, 3}, {0, 1}}, {{3, 2}, {0, -1}}};

static void run_baryon_direct(bench *b)
{
    field_clear(b->density);
    contract_baryon_direct(b->density, b->columns, b->columns, b->columns, diquark, diquark);
}

static void run_baryon_crossed(bench *b)
{
    field_clear(b->density);
    contract_baryon_crossed(b->density, b->columns, b->columns, b->columns, diquark, diquark);
}

enum { WAVES = 8 }; /* constant and of one period, along each of x, y and z */

static slice_waves open_waves(const lattice *lat, int (*number)[3])
{
    slice_waves w = {.n = WAVES, .factors = {2, 2, 2}, .number = (const int(*)[3])number};
    for (int d = 0; d < 3; d++) {
        const int extent = lat->size[d];
        double(*f)[2] = calloc(2 * (size_t)extent, sizeof *f);
        REQUIRE_MEMORY(f, "out of memory for waves of %d sites", extent);
        for (int x = 0; x < extent; x++) {
            f[x][0] = 1;
            f[extent + x][0] = cos(2 * M_PI * x / extent);
            f[extent + x][1] = sin(2 * M_PI * x / extent);
        }
        w.factor[d] = (const double(*)[2])f;
        for (int i = 0; i < WAVES; i++) number[i][d] = i >> d & 1;
    }
    return w;
}

/* Tells as many sums as there is room for, of all slices, waves and channels in turn. */
static void run_sums(bench *b, int channels, void (*sum)(exact_sum *sums, const bench *b, const slice_waves *waves))
{
    int number[WAVES][3];
    const int T = b->lat->size[3], of_slice = 2 * WAVES * channels;
    exact_sum *sums = malloc((size_t)(T * of_slice) * sizeof *sums);
    REQUIRE_MEMORY(sums, "out of memory for %d sums", T * of_slice);
    for (int i = 0; i < T * of_slice; i++) sums[i] = exact_zero();
    slice_waves waves = open_waves(b->lat, number);
    sum(sums, b, &waves);
    comm_group_sum_exact(b->lat->group, sums, T * of_slice);
    for (int i = 0; i < BENCH_SUMS; i++) b->sums[i] = exact_value(&sums[i % T * of_slice + i * 37 % of_slice]);
    for (int d = 0; d < 3; d++) free((void *)waves.factor[d]);
    free(sums);
}

static void sum_density(exact_sum *sums, const bench *b, const slice_waves *waves)
{
    contract_slices(sums, b->density, waves);
}

static void sum_columns(exact_sum *sums, const bench *b, const slice_waves *waves)
{
    contract_column_slices(sums, b->columns, b->columns, waves);
}

static void run_column_slices(bench *b)
{
    run_sums(b, SPIN_PAIRS * b->columns->nrhs * b->columns->nrhs, sum_columns);
}

/* Sums of numbers that are there: the density of the columns first. */
static void run_slices(bench *b)
{
    run_spin_pairs(b);
    run_sums(b, SPIN_PAIRS, sum_density);
}

const bench_op bench_ops_measure[] = {
    {"spin_pairs", "contract", 0, 0, 1, BENCH_COLUMNS, run_spin_pairs, 0},
    {"inner", "contract", 0, 0, 1, BENCH_COLUMNS, run_inner, 0},
    {"slice_sums", "contract", 0, 0, 1, BENCH_COLUMNS, run_slices, 0},
    {"column_slices", "contract", 0, 0, 1, BENCH_COLUMNS, run_column_slices, 0},
    {"colour_triple", "contract", 0, 0, 1, BENCH_COLUMNS, run_colour_triple, 0},
    {"baryon_direct", "contract", 0, 0, 1, BENCH_COLUMNS, run_baryon_direct, 0},
    {"baryon_crossed", "contract", 0, 0, 1, BENCH_COLUMNS, run_baryon_crossed, 0},
    {0},
};
