/* pion: the zero-momentum correlator C(t) = sum_x sum |S(x, t; source)|^2 over spins and colours of both ends, of the
 * propagator of a Wilson-clover or domain wall quark. gamma5 M^-1 gamma5 = (M^-1)^dagger makes it a sum of squares. t counts
 * from the source. Sites are summed exactly. */
#include "hmc/measure/propagator.h"
#include "hmc/measure/slices.h"

static const measure_column columns[] = {
    {"t", "a", "time from the source"},
    {"pion", "", "zero-momentum pion correlator"},
};
static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

static int measure_pion(const measure_context *c, const measure_params *m, measure_result *r)
{
    static const int plain = 0;
    const lattice *lat = c->links->lat;
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    if (status != MEASURE_DONE) return status;
    slices sums;
    slices_open(&sums, lat, 1);
    slices_add(&sums, 0, 1, &plain, p[0]->columns, p[0]->columns);
    slices_sum(&sums);
    for (int t = 0; t < lat->size[3]; t++)
        measure_add_row(r, (const double[]){t, slices_value(&sums, 0, p[0]->place[3], t)});
    slices_close(&sums);
    return MEASURE_DONE;
}

const observable observable_pion = {.name = "pion",
                                    .help = "zero-momentum pion correlator, of a quark with spin",
                                    .quarks = MEASURE_WILSON,
                                    .propagators = 1,
                                    .columns = columns,
                                    .ncolumns = sizeof columns / sizeof columns[0],
                                    .axis = "t",
                                    .summary = summary,
                                    .nsummary = sizeof summary / sizeof summary[0],
                                    .measure = measure_pion};
