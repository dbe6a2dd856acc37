/* polyakov: L = sum_x (1/3) tr prod_t U_t(x, t) / (spatial volume).
 *
 * The product runs from t = 0 upwards. Ranks above each other in t pass it on, each appends its own links, so every
 * product is made in the same order on any process grid; the traces are summed exactly by the topmost ranks. */
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/measure.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

static const measure_column columns[] = {
    {"polyakov_re", "", "real part of the Polyakov loop, tr / 3 averaged over space"},
    {"polyakov_im", "", "its imaginary part"},
};

/* a = a b, [row][column][re, im] */
static void times(double a[18], const double *b)
{
    double c[18];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < 3; k++) {
                const double *x = a + 6 * i + 2 * k, *y = b + 6 * k + 2 * j;
                re += x[0] * y[0] - x[1] * y[1];
                im += x[0] * y[1] + x[1] * y[0];
            }
            c[6 * i + 2 * j] = re;
            c[6 * i + 2 * j + 1] = im;
        }
    memcpy(a, c, sizeof c);
}

/* The time-like links of this rank, multiplied to the products of the ranks below. */
static void append_links(double *product, long sites, const field *links)
{
    double *slice = field_slice_buffer(links);
    for (int t = 0; t < field_slices(links); t++) {
        field_export(links, t, slice);
#pragma omp parallel for schedule(static)
        for (long i = 0; i < sites; i++) times(product + 18 * i, slice + 72 * i + 54);
    }
    free(slice);
}

static int measure_polyakov(const measure_context *c, const measure_params *m, measure_result *r)
{
    (void)m;
    const lattice *lat = c->links->lat;
    const long sites = (long)lat->local[0] * lat->local[1] * lat->local[2];
    const size_t bytes = (size_t)sites * 18 * sizeof(double);
    const int first = lat->coord[3] == 0, last = lat->coord[3] == lat->grid[3] - 1;
    double *product = calloc(1, bytes);
    REQUIRE_MEMORY(product, "out of memory for %ld Polyakov lines", sites);
    if (first) {
        for (long i = 0; i < sites; i++) product[18 * i] = product[18 * i + 8] = product[18 * i + 16] = 1;
    } else {
        comm_start_receive(product, bytes, lat->neighbour[7], 0);
        comm_wait();
    }
    append_links(product, sites, c->links);
    if (!last) {
        comm_start_send(product, bytes, lat->neighbour[6], 0);
        comm_wait();
    }
    exact_sum s[2] = {exact_zero(), exact_zero()};
    for (long i = 0; last && i < sites; i++)
        for (int k = 0; k < 2; k++) {
            const double *p = product + 18 * i + k;
            exact_add(&s[k], p[0] + p[8] + p[16]);
        }
    comm_group_sum_exact(lat->group, s, 2);
    free(product);
    const double n = 3 * ((double)lat->volume / lat->size[3]);
    measure_add_row(r, (const double[]){exact_value(&s[0]) / n, exact_value(&s[1]) / n});
    return MEASURE_DONE;
}

const observable observable_polyakov = {.name = "polyakov",
                                        .periodic = "every line in time passes an inactive link",
                                        .help = "Polyakov loop",
                                        .columns = columns,
                                        .ncolumns = sizeof columns / sizeof columns[0],
                                        .measure = measure_polyakov};
