#include "hmc/measure/wall_sink.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/exact.h"

/* Sums of one column by global time: [t][real]. */
static void sum_slices(exact_sum *sums, const field *x, double *slice)
{
    const lattice *lat = x->lat;
    const int n = x->reals, *l = lat->local;
    const long sites = (long)l[0] * l[1] * l[2];
    for (int k = 0; k < lat->size[3] * n; k++) sums[k] = exact_zero();
    for (int t = 0; t < field_slices(x); t++) {
        exact_sum *to = sums + (size_t)(t + lat->origin[3]) * (size_t)n;
        field_export(x, t, slice);
#pragma omp parallel for schedule(static)
        for (int k = 0; k < n; k++)
            for (long i = 0; i < sites; i++) exact_add(&to[k], slice[i * n + k]);
    }
    comm_group_sum_exact(lat->group, sums, lat->size[3] * n);
}

void wall_sink(field *columns, const int x0[3])
{
    const lattice *lat = columns->lat;
    const int n = columns->reals, *l = lat->local, *o = lat->origin;
    const long sites = (long)l[0] * l[1] * l[2];
    exact_sum *sums = malloc((size_t)(lat->size[3] * n) * sizeof *sums);
    double *slice = field_slice_buffer(columns);
    long site = 0;
    int here = 1;
    REQUIRE_MEMORY(sums, "out of memory for sums of %d slices", lat->size[3]);
    for (int d = 2; d >= 0; d--) {
        here = here && x0[d] >= o[d] && x0[d] < o[d] + l[d];
        site = site * l[d] + x0[d] - o[d];
    }
    for (int k = 0; k < columns->nrhs; k++) {
        field one = field_rhs(columns, k);
        sum_slices(sums, &one, slice);
        memset(slice, 0, (size_t)(sites * n) * sizeof *slice);
        for (int t = 0; t < field_slices(&one); t++) {
            for (int i = 0; here && i < n; i++) slice[site * n + i] = exact_value(&sums[(t + o[3]) * n + i]);
            field_import(&one, t, slice);
        }
    }
    field_written(columns);
    free(slice);
    free(sums);
}
