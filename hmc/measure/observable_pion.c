/* pion: the zero-momentum correlator C(t) = sum_x sum |S(x, t; source)|^2 over spins and colours of both ends, of the
 * Wilson-clover propagator from a point source. gamma5 M^-1 gamma5 = (M^-1)^dagger makes it a sum of squares. t counts
 * from the source.
 *
 * Each of the 12 columns of S is a solve of the even-odd system. Sites are summed exactly.
 */
#include <stdio.h>

#include "hmc/measure/propagator.h"

typedef struct {
    int source[4];
} pion_keys;

static const measure_column columns[] = {
    {"t", "a", "time from the source"},
    {"pion", "", "zero-momentum pion correlator"},
};
static const measure_column summary[] = {
    {"residual", "", "largest |b - M x| / |b| of the 12 solves, of the whole operator"},
    {"iterations", "", "of all solves together"},
};

static int measure_pion(const measure_context *c, const measure_params *m, measure_result *r)
{
    const int *place = OBSERVABLE_OWN(pion_keys, m)->source;
    static const int plain = 0;
    const lattice *lat = c->links->lat;
    propagator q;
    slices sums;
    propagator_check_source(c, place, r);
    propagator_open(&q, c, m);
    slices_open(&sums, lat, 1);
    field *source = fermion_physical(q.quark), *x = field_like(source);
    int status = MEASURE_DONE;
    for (int column = 0; column < 12 && status == MEASURE_DONE; column++) {
        char what[64];
        snprintf(what, sizeof what, "the propagator's column %d", column);
        simulation_point_source(source, place, column);
        status = propagator_solve(&q, x, source, what, r);
        if (status == MEASURE_DONE) slices_add(&sums, 0, 1, &plain, x, x);
    }
    if (status == MEASURE_DONE) {
        slices_sum(&sums);
        for (int t = 0; t < lat->size[3]; t++)
            measure_add_row(r, (const double[]){t, slices_value(&sums, 0, place[3], t)});
        propagator_summary(&q, r->summary);
    }
    field_destroy(x);
    field_destroy(source);
    slices_close(&sums);
    propagator_close(&q);
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    return propagator_source_fits(p, m->name, OBSERVABLE_OWN(pion_keys, &m->p)->source, message, size);
}

static const param own[] = {
    {"source", PARAM_INT4, OBSERVABLE_KEY(pion_keys, source), "0.0.0.0", "[0,inf)", "sites",
     "place of the point source", 0},
};
static const param_section part = PARAM_PART("measure", "pion", measure_params, own);
_Static_assert(sizeof(pion_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of pion");

const observable observable_pion = {.name = "pion",
                                    .help = "zero-momentum pion correlator from a point source",
                                    .own = &part,
                                    .check = check,
                                    .quarks = MEASURE_WILSON,
                                    .columns = columns,
                                    .ncolumns = sizeof columns / sizeof columns[0],
                                    .axis = "t",
                                    .summary = summary,
                                    .nsummary = sizeof summary / sizeof summary[0],
                                    .measure = measure_pion};
