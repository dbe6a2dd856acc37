/* Every kernel of families.def gives the same bits with any number of lanes and threads, and on every process grid.
 *
 * Kernels run in the operations of plaq bench, which have their fields, random numbers in every component, from the sites
 * alone. What an operation leaves in its fields, and its sums, is compared with what the first way left (of the same grid,
 * where the operation works on the box of a rank). A kernel that no operation runs fails the test, and one that sums where
 * no operation that runs it tells sums. */
#include "tests/kernels/kit.h"

#include <omp.h>

#include "hmc/bench/ops.h"
#include "kernels/run/kernel.h"

static const struct ref_lattice shape = {{4, 4, 8, 8}};

typedef struct {
    const lattice *lat;
    int threads;
    char text[96];
} way;

enum { MOST_WAYS = 24 };
static way ways[MOST_WAYS];
static int nways;
static int told[KERNEL_COUNTED]; /* operations that ran the kernel and told sums */

/* Threads beside ranks would wait for cores that there are not. */
static void make_ways(void)
{
    int grids[64][4];
    char message[512];
    const int n = kit_grids(shape, grids, 64);
    for (int i = 0; i < n; i++)
        for (int linear = 0; linear < 2; linear++) {
            lattice *plan = plan_lattice(shape.size, grids[i], comm_size(), 3, message, sizeof message);
            const int fits = plan != NULL;
            lattice_destroy(plan);
            for (int threads = 1; fits && threads <= (comm_size() > 1 ? 1 : 3) && nways < MOST_WAYS; threads += 2) {
                way *w = &ways[nways++];
                lattice_use_simd(test_simd && !linear);
                w->lat = lattice_create(shape.size, grids[i], 3, -1);
                w->threads = threads;
                snprintf(w->text, sizeof w->text, "grid %d.%d.%d.%d, %d lanes, %d threads", grids[i][0], grids[i][1],
                         grids[i][2], grids[i][3], field_lanes(w->lat, PREC_SINGLE), threads);
                lattice_use_simd(test_simd);
            }
        }
}

static long calls_of(int kernel)
{
    long calls = 0;
    for (int prec = 0; prec < PREC_COUNT; prec++) calls += kernel_counted((kernel_id)kernel, (precision)prec).calls;
    return calls;
}

/* Runs it, and notes which kernels it ran if it told sums. */
static void run_once(const bench_op *o, bench *b)
{
    long before[KERNEL_COUNTED];
    int sums = 0;
    for (int i = 0; i < BENCH_SUMS; i++) b->sums[i] = NAN;
    for (int k = 0; k < KERNEL_COUNTED; k++) before[k] = calls_of(k);
    o->run(b);
    for (int i = 0; i < BENCH_SUMS; i++) sums += !isnan(b->sums[i]);
    for (int k = 0; k < KERNEL_COUNTED; k++) told[k] += sums > 0 && calls_of(k) > before[k];
}

/* All fields of a bench after one run of the operation, and its sums, one array. */
static double *fields_after(const bench_op *o, const way *w, precision prec, int rhs, size_t *n)
{
    bench b = {.lat = w->lat, .prec = prec, .where = kit_place, .link_reals = 18, .rhs = rhs};
    field *fields[BENCH_FIELDS];
    omp_set_num_threads(w->threads);
    kernel_counts_pause(1);
    bench_open(&b, o->needs);
    kernel_counts_pause(0);
    run_once(o, &b);
    const int count = bench_fields(&b, fields);
    double *all = kit_copy(b.sums, sizeof b.sums);
    *n = BENCH_SUMS;
    for (int i = 0; i < count; i++) {
        double *one = kit_gather(fields[i]);
        const size_t reals = kit_reals(fields[i]);
        all = realloc(all, (*n + reals) * sizeof *all);
        REQUIRE(all, "out of memory for %zu numbers", *n + reals);
        /* What a cleared field in fixed point holds is a zero of either sign. */
        for (size_t k = 0; k < reals; k++) all[*n + k] = one[k] + 0.0;
        *n += reals;
        free(one);
    }
    kernel_counts_pause(1);
    bench_close(&b);
    kernel_counts_pause(0);
    return all;
}

static void check_op(const bench_op *o, precision prec, int rhs)
{
    size_t n = 0, m;
    double *first = NULL;
    for (int i = 0; i < nways; i++) {
        const int anew =
            o->limits & BENCH_BY_RANK && i > 0 && memcmp(ways[i].lat->grid, ways[i - 1].lat->grid, 4 * sizeof(int));
        if (anew) free(first), first = NULL;
        if (!first) {
            first = fields_after(o, &ways[i], prec, rhs, &n);
            continue;
        }
        double *other = fields_after(o, &ways[i], prec, rhs, &m);
        kit_where("%s in %s precision, %d right-hand sides, %s", o->name, kit_prec[prec], rhs, ways[i].text);
        KIT_CHECK(m == n && !memcmp(first, other, n * sizeof *first));
        free(other);
    }
    free(first);
}

int main(int argc, char **argv)
{
    const bench_op *o;
    int tried = 0;
    kit_begin(&argc, &argv);
    make_ways();
    kernel_counts_reset();
    for (int i = 0; nways && (o = bench_op_number(i)); i++)
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            if (!bench_op_has(o, (precision)prec)) continue;
            check_op(o, (precision)prec, prec == PREC_SINGLE && !(o->limits & BENCH_ONE_RHS) ? 2 : 1);
            tried++;
        }
    for (int k = 0; nways && k < KERNEL_COUNTED; k++) {
        if (!check_note(calls_of(k) > 0 || bench_is_packing(k))) printf("no operation runs %s\n", kernel_infos[k].name);
        if (!check_note(told[k] > 0 || !kernel_infos[k].sums))
            printf("no operation tells the sums of %s\n", kernel_infos[k].name);
    }
    if (comm_rank() == 0) printf("%d operations, each in a precision, in %d ways\n", tried, nways);
    for (int i = 0; i < nways; i++) lattice_destroy((lattice *)ways[i].lat);
    return kit_end();
}
