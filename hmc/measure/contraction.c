#include "hmc/measure/contraction.h"

#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

enum { SPIN = GAMMA_SPINS };

/* Sums of the channels of a pair of spins at the source. */
static double complex *sums_of(const contraction *c, int pair, int t, int i)
{
    return c->sums + (((long)pair * c->lat->size[3] + t) * c->p->n + i) * SPIN_PAIRS;
}

void contraction_open(contraction *c, const momenta *p, const field *a, const field *b, const int x0[4])
{
    const int of_pair = a->lat->size[3] * p->n * SPIN_PAIRS;
    const long n = (long)SPIN_PAIRS * of_pair;
    exact_sum *exact = malloc(2 * (size_t)of_pair * sizeof *exact);
    *c = (contraction){.lat = a->lat, .p = p, .start = x0[3], .sums = malloc((size_t)n * sizeof *c->sums)};
    REQUIRE_MEMORY(c->sums && exact, "out of memory for %ld sums", n);
    field *rho = density_create(a, SPIN_PAIRS);
    slice_waves waves = momenta_waves(p, x0);
    for (int pair = 0; pair < SPIN_PAIRS; pair++) {
        double complex *to = sums_of(c, pair, 0, 0);
        for (int k = 0; k < 2 * of_pair; k++) exact[k] = exact_zero();
        contract_spin_pairs(rho, a, b, pair / SPIN, pair % SPIN);
        contract_slices(exact, rho, &waves);
        comm_group_sum_exact(a->lat->group, exact, 2 * of_pair);
        for (int k = 0; k < of_pair; k++) to[k] = exact_value(&exact[2 * k]) + I * exact_value(&exact[2 * k + 1]);
    }
    free(exact);
    momenta_waves_free(&waves);
    field_destroy(rho);
}

void contraction_close(contraction *c)
{
    free(c->sums);
}

void contraction_add(contraction *c, double weight, const double complex *sums, int start)
{
    const int T = c->lat->size[3], of_slice = c->p->n * SPIN_PAIRS;
    for (int pair = 0; pair < SPIN_PAIRS; pair++)
        for (int t = 0; t < T; t++) {
            double complex *to = sums_of(c, pair, (t + c->start) % T, 0);
            const double complex *from = sums + ((long)pair * T + (t + start) % T) * of_slice;
            for (int k = 0; k < of_slice; k++) to[k] += weight * from[k];
        }
}

/* tr [gamma_5 A^dagger gamma_5 sink B source] = sum (gamma_5 sink)_(a a') (source gamma_5)_(b' b) T[b][b'][a][a']. */
double complex contraction_meson(const contraction *c, const spin_matrix *sink, const spin_matrix *source, int i, int t)
{
    const spin_matrix five = gamma_number(GAMMA_5), left = gamma_product(&five, sink),
                      right = gamma_product(source, &five);
    const int at = (t + c->start) % c->lat->size[3];
    double complex value = 0;
    for (int r = 0; r < SPIN; r++)
        for (int k = 0; k < SPIN; k++) {
            const int s = right.at[r], l = left.at[k];
            value += left.value[k] * right.value[r] * sums_of(c, SPIN * s + r, at, i)[SPIN * k + l];
        }
    return value;
}
