/* staggered_baryons: the local baryon of staggered quarks, the nucleon of three light ones, with momenta,
 *
 *   C(p, t) = sum_x exp(-i p.(x - x_0)) epsilon_abc epsilon_a'b'c' A_aa'(x) A_bb'(x) B_cc'(x),
 *
 * over the sites x whose distances from x_0 are even in x, y and z. A is `propagator` and B is `propagator_2`, of colours of the sink
 * and the source, from one source at x_0 = (source, t_0); t counts from t_0. The operator epsilon chi chi chi on one corner of the
 * hypercubes is in the representation 8 of the group of time slices (M. Golterman and J. Smit, Nucl. Phys. B255 (1985) 328), which
 * has the nucleon, and with the sign (-1)^t its parity partner. The sign of an antiperiodic edge in time is taken out. Of one
 * quark C(0, t) is 6 sum_x det A(x); MILC's M is twice ours, and its correlator C / 48. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/momentum.h"
#include "hmc/measure/propagator.h"
#include "hmc/sources/source.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

typedef struct {
    int momentum2;
} baryon_keys;

static const measure_column columns[] = {
    MOMENTUM_COLUMNS,
    {"t", "a", "time from the source"},
    {"real", "", "Re C"},
    {"imaginary", "", "Im C"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

/* The waves of all momenta on sites at even distances from x0, zero elsewhere. */
static slice_waves corner_waves(const momenta *m, const int x0[3])
{
    slice_waves w = momenta_waves(m, x0);
    for (int d = 0; d < 3; d++) {
        double(*factor)[2] = (double(*)[2])(void *)w.factor[d];
        for (int n = 0; n < w.factors[d]; n++)
            for (int x = 0; x < m->size[d]; x++)
                for (int c = 0; c < 2 && (x - x0[d]) % 2; c++) factor[n * m->size[d] + x][c] = 0;
    }
    return w;
}

static void contract(const baryon_keys *k, const propagator *const *q, measure_result *r)
{
    const lattice *lat = q[0]->columns->lat;
    const int T = lat->size[3], *x0 = q[0]->place;
    momenta p;
    momenta_open(&p, lat, k->momentum2);
    const int n = 2 * T * p.n;
    field *rho = density_create(q[0]->columns, 1);
    exact_sum *sums = malloc((size_t)n * sizeof *sums);
    REQUIRE_MEMORY(sums, "out of memory for %d sums", n);
    for (int i = 0; i < n; i++) sums[i] = exact_zero();
    slice_waves waves = corner_waves(&p, x0);
    contract_colours(rho, q[0]->columns, q[0]->columns, q[1]->columns);
    contract_slices(sums, rho, &waves);
    comm_group_sum_exact(lat->group, sums, n);
    for (int i = 0; i < p.n; i++)
        for (int t = 0; t < T; t++) {
            const int *of = p.number[i];
            const exact_sum *at = sums + 2L * ((long)((t + x0[3]) % T) * p.n + i);
            const double sign = t + x0[3] < T ? 1 : lat->time_sign;
            measure_add_row(r, (const double[COLUMNS]){of[0], of[1], of[2], t, sign * exact_value(&at[0]),
                                                       sign * exact_value(&at[1])});
        }
    momenta_waves_free(&waves);
    free(sums);
    field_destroy(rho);
    momenta_close(&p);
}

static int measure_baryons(const measure_context *c, const measure_params *m, measure_result *r)
{
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    if (status == MEASURE_DONE) contract(OBSERVABLE_OWN(baryon_keys, m), p, r);
    return status;
}

/* ---- keys ---- */

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const named_source *s = parameters_source(p, parameters_propagator(p, measure_propagator(&m->p, 0))->p.source);
    if (!source_kind_of(&s->p)->noise) return NULL;
    snprintf(message, size,
             "[measure.%s] three quarks from [source.%s] of kind %s have no mean: give a propagator from a point or a "
             "corner",
             m->name, s->name, source_kind_of(&s->p)->name);
    return "propagator";
}

static const param own[] = {
    MOMENTUM2_KEY(OBSERVABLE_KEY(baryon_keys, momentum2)),
};
static const param_section part = PARAM_PART("measure", "staggered_baryons", measure_params, own);
_Static_assert(sizeof(baryon_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of staggered_baryons");

const observable observable_staggered_baryons = {
    .name = "staggered_baryons",
    .help = "the local baryon of staggered quarks, two of propagator and one of propagator_2, with momenta",
    .own = &part,
    .check = check,
    .quarks = MEASURE_STAGGERED,
    .propagators = 2,
    .columns = columns,
    .ncolumns = COLUMNS,
    .axis = "t",
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_baryons};
