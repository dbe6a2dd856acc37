#include "hmc/measure/slices.h"

#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/contract.h"
#include "kernels/ops/gauge.h"

enum { SIGNS = 8 }; /* waves of -1 along any of x, y and z */

void slices_open(slices *s, const lattice *lat, int channels)
{
    const int n = channels * lat->size[3];
    *s = (slices){.lat = lat, .channels = channels, .sums = malloc((size_t)n * sizeof *s->sums)};
    REQUIRE_MEMORY(s->sums, "out of memory");
    for (int i = 0; i < n; i++) s->sums[i] = exact_zero();
}

void slices_close(slices *s)
{
    free(s->sums);
}

/* Factors 1 and (-1)^x of one direction. */
static double (*factors_of(int extent))[2]
{
    double(*f)[2] = calloc(2 * (size_t)extent, sizeof *f);
    REQUIRE_MEMORY(f, "out of memory for signs of %d sites", extent);
    for (int x = 0; x < extent; x++) {
        f[x][0] = 1;
        f[extent + x][0] = x % 2 ? -1 : 1;
    }
    return f;
}

/* Sums of the density over this rank, with the signs of each channel along x, y and z: [t][wave][re, im], wave place[i] of
 * channel i; each wave once. Returns how many there are. */
static int sum_signs(exact_sum *sums, int *place, const slices *s, int n, const int *odd, const field *rho)
{
    int number[SIGNS][3], wave_of[SIGNS], waves = 0;
    for (int sign = 0; sign < SIGNS; sign++) wave_of[sign] = -1;
    for (int i = 0; i < n; i++) {
        int *wave = &wave_of[odd[i] & 7];
        if (*wave < 0) {
            *wave = waves++;
            for (int d = 0; d < 3; d++) number[*wave][d] = odd[i] >> d & 1;
        }
        place[i] = *wave;
    }
    slice_waves w = {.n = waves, .factors = {2, 2, 2}, .number = (const int(*)[3])number};
    for (int d = 0; d < 3; d++) w.factor[d] = (const double(*)[2])factors_of(s->lat->size[d]);
    for (int i = 0; i < 2 * waves * s->lat->size[3]; i++) sums[i] = exact_zero();
    contract_slices(sums, rho, &w);
    for (int d = 0; d < 3; d++) free((void *)w.factor[d]);
    return waves;
}

void slices_add(slices *s, int first, int n, const int *odd, const field *x, const field *y)
{
    const int T = s->lat->size[3];
    exact_sum *sums = malloc((size_t)(2 * SIGNS * T) * sizeof *sums);
    int *place = malloc((size_t)n * sizeof *place);
    REQUIRE_MEMORY(sums && place, "out of memory for sums of %d slices", T);
    field *rho = density_create(x, 1);
    contract_inner(rho, y, x);
    const int waves = sum_signs(sums, place, s, n, odd, rho);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            exact_sum sum = sums[2 * (t * waves + place[i])];
            for (int k = 0; k < 3 && t & odd[i] >> 3; k++) sum.fold[k] = -sum.fold[k];
            exact_merge(&s->sums[(first + i) * T + t], &sum);
        }
    field_destroy(rho);
    free(place);
    free(sums);
}

void slices_sum(slices *s)
{
    comm_group_sum_exact(s->lat->group, s->sums, s->channels * s->lat->size[3]);
}

double slices_value(const slices *s, int channel, int source_time, int t)
{
    const int n = s->lat->size[3];
    return exact_value(&s->sums[channel * n + (t + source_time) % n]);
}

void slices_energy(slice_energy *of, const field *links, field *tensor)
{
    enum { TEMPORAL, SPATIAL, CHARGE, IN_SPACE, IN_TIME, SUMS = 6 };
    static const int number[1][3];
    const lattice *lat = links->lat;
    const int T = lat->size[3], bounded = lat->time != TIME_PERIODIC;
    exact_sum *sums = malloc((size_t)(SUMS * T) * sizeof *sums);
    REQUIRE_MEMORY(sums, "out of memory for sums of %d slices", T);
    for (int i = 0; i < SUMS * T; i++) sums[i] = exact_zero();
    gauge_field_strength(tensor, links);
    field *rho = density_create(links, SUMS / 2);
    gauge_energy_density(rho, tensor, links);
    slice_waves one = {.n = 1, .factors = {1, 1, 1}, .number = number};
    for (int d = 0; d < 3; d++) one.factor[d] = (const double(*)[2])factors_of(lat->size[d]);
    contract_slices(sums, rho, &one);
    for (int d = 0; d < 3; d++) free((void *)one.factor[d]);
    comm_group_sum_exact(lat->group, sums, SUMS * T);
    for (int t = 0; t < T; t++) {
        const exact_sum *here = sums + SUMS * t, *below = sums + SUMS * ((t + T - 1) % T);
        const double half = bounded && (t == 0 || t == lattice_last_slice(lat)) ? 0.5 : 1;
        const double in_time = 0.5 * (exact_value(&here[IN_TIME]) + exact_value(&below[IN_TIME]));
        of[t] = (slice_energy){exact_value(&here[TEMPORAL]), exact_value(&here[SPATIAL]),
                               2 * (half * exact_value(&here[IN_SPACE]) + in_time), exact_value(&here[CHARGE])};
    }
    field_destroy(rho);
    free(sums);
}
