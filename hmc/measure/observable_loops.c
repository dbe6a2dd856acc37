/* loops: plaquette, 1x2 rectangle and link trace, Re tr / 3 averaged. */
#include "hmc/measure/measure.h"
#include "kernels/ops/gauge.h"

static const measure_column columns[] = {
    {"plaquette", "", "Re tr / 3 of plaquettes, all planes"},
    {"plaquette_space", "", "the same, spatial planes"},
    {"plaquette_time", "", "the same, temporal planes"},
    {"rectangle", "", "Re tr / 3 of 1x2 rectangles, both orientations in all planes"},
    {"link_trace", "", "Re tr / 3 of links"},
};

static int measure_loops(const measure_context *c, const measure_params *m, measure_result *r)
{
    (void)m;
    const gauge_loops l = gauge_measure(c->links, 1);
    measure_add_row(r, (const double[]){l.plaquette, l.plaquette_space, l.plaquette_time, l.rectangle, l.link_trace});
    return MEASURE_DONE;
}

const observable observable_loops = {.name = "loops",
                                     .help = "plaquette, 1x2 rectangle and link trace",
                                     .columns = columns,
                                     .ncolumns = sizeof columns / sizeof columns[0],
                                     .measure = measure_loops};
