#include "hmc/measure/contraction.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

enum {
    SPIN = GAMMA_SPINS,
    COLOURS = 3,
    COLUMN = 24,
    SITE = COLUMNS_OF_SOURCE * COLUMN,
    NUMBERS = 2 * CONTRACTION_PAIRS
};

static exact_sum *sums_of(const contraction *c, int t, int i)
{
    return c->sums + ((long)t * c->p->n + i) * NUMBERS;
}

/* The pairs of spins of one site. */
static void site_pairs(double pairs[NUMBERS], const double *a, const double *b)
{
    for (int s = 0; s < SPIN; s++)
        for (int r = 0; r < SPIN; r++) {
            double re[SPIN * SPIN] = {0}, im[SPIN * SPIN] = {0};
            for (int d = 0; d < COLOURS; d++) {
                const double *u = a + COLUMN * (COLOURS * s + d), *v = b + COLUMN * (COLOURS * r + d);
                for (int k = 0; k < SPIN; k++)
                    for (int l = 0; l < SPIN; l++)
                        for (int c = 0; c < 2 * COLOURS; c += 2) {
                            const double *x = u + 6 * k + c, *y = v + 6 * l + c;
                            re[SPIN * k + l] += x[0] * y[0] + x[1] * y[1];
                            im[SPIN * k + l] += x[0] * y[1] - x[1] * y[0];
                        }
            }
            double *to = pairs + 2 * SPIN * SPIN * (SPIN * s + r);
            for (int k = 0; k < SPIN * SPIN; k++) {
                to[2 * k] = re[k];
                to[2 * k + 1] = im[k];
            }
        }
}

/* Sums of a thread, and its room to work in. */
typedef struct {
    exact_sum *sums; /* [momentum][NUMBERS] */
    double *cube;    /* sums of one cube */
} worker;

/* The eight sites of a cube, whose corner is at x of the rank's slice. */
static void add_cube(const contraction *c, worker *w, const double *a, const double *b, const int x[3], const int x0[4])
{
    const int *l = c->lat->local, *o = c->lat->origin;
    double pairs[NUMBERS];
    memset(w->cube, 0, (size_t)c->p->n * NUMBERS * sizeof *w->cube);
    for (int corner = 0; corner < 8; corner++) {
        int at[3], from[3];
        for (int d = 0; d < 3; d++) {
            at[d] = x[d] + (corner >> d & 1);
            from[d] = at[d] + o[d] - x0[d];
        }
        const size_t site = ((size_t)at[2] * l[1] + at[1]) * l[0] + at[0];
        site_pairs(pairs, a + SITE * site, b + SITE * site);
        for (int i = 0; i < c->p->n; i++) {
            const double complex wave = momenta_wave(c->p, i, from);
            const double re = creal(wave), im = cimag(wave);
            double *to = w->cube + (size_t)i * NUMBERS;
            for (int k = 0; k < NUMBERS; k += 2) {
                to[k] += re * pairs[k] - im * pairs[k + 1];
                to[k + 1] += re * pairs[k + 1] + im * pairs[k];
            }
        }
    }
    for (long k = 0; k < (long)c->p->n * NUMBERS; k++) exact_add(&w->sums[k], w->cube[k]);
}

/* Cubes of a slice, shared by the threads. */
static void add_slice(const contraction *c, int t, const double *a, const double *b, const int x0[4])
{
    const int *l = c->lat->local;
    const int nx = l[0] / 2, ny = l[1] / 2, cubes = nx * ny * (l[2] / 2);
    const long n = (long)c->p->n * NUMBERS;
    exact_sum *to = sums_of(c, t, 0);
#pragma omp parallel
    {
        worker w = {malloc((size_t)n * sizeof *w.sums), malloc((size_t)n * sizeof *w.cube)};
        REQUIRE_MEMORY(w.sums && w.cube, "out of memory for %ld sums", n);
        for (long k = 0; k < n; k++) w.sums[k] = exact_zero();
#pragma omp for schedule(static)
        for (int i = 0; i < cubes; i++) {
            const int x[3] = {2 * (i % nx), 2 * (i / nx % ny), 2 * (i / nx / ny)};
            add_cube(c, &w, a, b, x, x0);
        }
#pragma omp critical
        for (long k = 0; k < n; k++) exact_merge(&to[k], &w.sums[k]);
        free(w.cube);
        free(w.sums);
    }
}

void contraction_open(contraction *c, const momenta *p, const field *a, const field *b, const int x0[4])
{
    const lattice *lat = a->lat;
    const int T = lat->size[3];
    const long n = (long)T * p->n * NUMBERS;
    REQUIRE(a->nrhs == COLUMNS_OF_SOURCE && b->nrhs == COLUMNS_OF_SOURCE && a->kind == FIELD_SPINOR,
            "propagators of %d and %d columns", a->nrhs, b->nrhs);
    *c = (contraction){.lat = lat, .p = p, .sums = malloc((size_t)n * sizeof *c->sums)};
    REQUIRE_MEMORY(c->sums, "out of memory for %ld sums", n);
    for (long k = 0; k < n; k++) c->sums[k] = exact_zero();
    double *of_a = field_slice_buffer(a), *of_b = a == b ? of_a : field_slice_buffer(b);
    for (int t = 0; t < field_slices(a); t++) {
        field_export(a, t, of_a);
        if (a != b) field_export(b, t, of_b);
        add_slice(c, (lat->origin[3] + t - x0[3] + T) % T, of_a, of_b, x0);
    }
    if (a != b) free(of_b);
    free(of_a);
    for (int t = 0; t < T; t++) comm_group_sum_exact(lat->group, sums_of(c, t, 0), p->n * NUMBERS);
}

void contraction_close(contraction *c)
{
    free(c->sums);
}

/* tr [gamma_5 A^dagger gamma_5 sink B source] = sum (gamma_5 sink)_(a a') (source gamma_5)_(b' b) T[b][b'][a][a']. */
double complex contraction_meson(const contraction *c, const spin_matrix *sink, const spin_matrix *source, int i, int t)
{
    const spin_matrix five = gamma_number(GAMMA_5), left = gamma_product(&five, sink),
                      right = gamma_product(source, &five);
    const exact_sum *sums = sums_of(c, t, i);
    double complex value = 0;
    for (int r = 0; r < SPIN; r++)
        for (int k = 0; k < SPIN; k++) {
            const int s = right.at[r], l = left.at[k];
            const exact_sum *pair = sums + 2 * (SPIN * SPIN * (SPIN * s + r) + SPIN * k + l);
            value += left.value[k] * right.value[r] * (exact_value(&pair[0]) + I * exact_value(&pair[1]));
        }
    return value;
}
