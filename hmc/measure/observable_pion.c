/* pion: the zero-momentum correlator C(t) = sum_x sum |S(x, t; source)|^2 over spins and colours of both ends, of the
 * Wilson-clover propagator from a point source. gamma5 M^-1 gamma5 = (M^-1)^dagger makes it a sum of squares. t counts
 * from the source.
 *
 * Each of the 12 columns of S is a solve of the even-odd system; as many at once as the solver takes. Sites are summed
 * exactly.
 */
#include <stdio.h>

#include "hmc/measure/propagator.h"
#include "hmc/measure/slices.h"

#define COLUMNS 12 /* spins times colours of the source */

typedef struct {
    int source[4];
} pion_keys;

static const measure_column columns[] = {
    {"t", "a", "time from the source"},
    {"pion", "", "zero-momentum pion correlator"},
};
static const measure_column summary[] = {
    PROPAGATOR_COLUMNS("the 12 solves"),
};

typedef struct {
    const int *place;
    int first; /* column of a batch */
    field *source;
    slices sums;
} pion;

static const field *source_of(void *context, int k)
{
    pion *p = context;
    simulation_point_source(p->source, p->place, p->first + k);
    return p->source;
}

static void add_column(void *context, int k, const field *x)
{
    static const int plain = 0;
    pion *p = context;
    (void)k;
    slices_add(&p->sums, 0, 1, &plain, x, x);
}

static int measure_pion(const measure_context *c, const measure_params *m, measure_result *r)
{
    const lattice *lat = c->links->lat;
    pion p = {.place = OBSERVABLE_OWN(pion_keys, m)->source};
    propagator q;
    propagator_check_source(c, p.place, r);
    propagator_open(&q, c, m);
    slices_open(&p.sums, lat, 1);
    p.source = fermion_physical(q.quark);
    field *x = field_like(p.source);
    const propagator_batch_of columns_of = {source_of, add_column, &p, x};
    int status = MEASURE_DONE;
    for (int n; p.first < COLUMNS && status == MEASURE_DONE; p.first += n) {
        char what[64];
        n = COLUMNS - p.first < propagator_batch(&q) ? COLUMNS - p.first : propagator_batch(&q);
        if (n == 1) snprintf(what, sizeof what, "the propagator's column %d", p.first);
        else snprintf(what, sizeof what, "the propagator's columns %d to %d", p.first, p.first + n - 1);
        status = propagator_solve_batch(&q, n, &columns_of, what, r);
    }
    if (status == MEASURE_DONE) {
        slices_sum(&p.sums);
        for (int t = 0; t < lat->size[3]; t++)
            measure_add_row(r, (const double[]){t, slices_value(&p.sums, 0, p.place[3], t)});
        propagator_summary(&q, r->summary);
    }
    field_destroy(x);
    field_destroy(p.source);
    slices_close(&p.sums);
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
