#include "hmc/measure/positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/propagator.h"
#include "kernels/base/error.h"
#include "kernels/lattice/philox.h"
#include "kernels/lattice/purpose.h"

/* Solves at position k, all of them rough or none; not moved: at the places that sources name. */
typedef struct {
    int moved, k, rough;
} pass;

typedef struct {
    const measure_context *c;
    const measure_calls *calls;
    int due[MAX_NAMED];
    measure_result sum[MAX_NAMED]; /* sum of the passes so far; no `what`: none */
    int passes[MAX_NAMED];         /* still to come, this one included */
    int stopped;
    low_store *low;
    solves_store *solves;
} campaign;

measure_result measure(const measure_context *c, const named_measure *m)
{
    const observable *o = observable_of(&m->p);
    REQUIRE(o->nsummary <= MEASURE_MAX_SUMMARY, "%d values in the summary of %s", o->nsummary, o->name);
    measure_result r = {.what = o, .name = m->name};
    for (int i = 0; i < MEASURE_MAX_SUMMARY; i++) r.summary[i] = NAN;
    const double start = comm_wtime();
    link_map *map = measure_map(c, m->p.links);
    measure_context on = *c;
    if (map) on.links = link_map_links(map);
    if (!c->propagators && o->propagators) on.propagators = propagator_store_open(c, NULL, NULL);
    const int status = o->measure(&on, &m->p, &r);
    if (!c->propagators && o->propagators) propagator_store_close(on.propagators);
    if (c->propagators) propagator_store_done(c->propagators, m);
    link_map_destroy(map);
    r.failed = status != MEASURE_DONE;
    r.given_up = status == MEASURE_GIVEN_UP;
    r.seconds = comm_wtime() - start;
    return r;
}

void measure_shift(const measure_context *c, int k, int shift[4])
{
    const uint64_t seed = measure_noise_seed(c);
    uint32_t word[4] = {(uint32_t)k, 0, 0, RANDOM_POSITION};
    philox(word, (uint32_t)seed, (uint32_t)(seed >> 32));
    for (int d = 0; d < 4; d++) shift[d] = (int)(2 * (word[d] % (uint32_t)(c->links->lat->size[d] / 2)));
    if (c->links->lat->time != TIME_PERIODIC) shift[3] = 0;
}

/* Positions that are measured; more than one take no more memory. */
static int positions_of(const measure_context *c, const measure_params *m)
{
    return c->links->lat->planned ? 1 : m->positions;
}

static int takes_part(const measure_context *c, const measure_params *m, pass a)
{
    if (a.moved != (m->positions > 1) || a.k >= positions_of(c, m)) return 0;
    return measure_is_rough(m) ? a.rough || a.k < m->exact_positions : !a.rough;
}

static int passes_of(const measure_context *c, const measure_params *m)
{
    int n = 0;
    for (pass a = {.moved = m->positions > 1}; a.k < positions_of(c, m); a.k++)
        for (a.rough = 0; a.rough < 2; a.rough++) n += takes_part(c, m, a);
    return n;
}

/* Weight of the values of a pass in the mean. */
static double weight_of(const measure_params *m, pass a)
{
    const double all = 1.0 / m->positions;
    if (!measure_is_rough(m)) return all;
    const double exact = 1.0 / m->exact_positions;
    return !a.rough ? exact : a.k < m->exact_positions ? all - exact : all;
}

static void scale(measure_result *r, double weight)
{
    const int columns = r->what->ncolumns;
    for (long i = 0; i < r->nrows; i++)
        for (int j = observable_axis(r->what) + 1; j < columns; j++) r->rows[i * columns + j] *= weight;
}

/* Labels and times of all passes are the same. Residuals and errors are the largest of solves that are not rough. */
static void add_pass(measure_result *sum, const measure_result *r, double weight, int rough)
{
    const int columns = r->what->ncolumns;
    REQUIRE(sum->nrows == r->nrows, "%ld rows of %s at one position, %ld at another", r->nrows, r->name, sum->nrows);
    for (long i = 0; i < r->nrows; i++)
        for (int j = observable_axis(r->what) + 1; j < columns; j++)
            sum->rows[i * columns + j] += weight * r->rows[i * columns + j];
    if (rough) sum->summary[SOLVES_ITERATIONS] += r->summary[SOLVES_ITERATIONS];
    else solves_merge(sum->summary, r->summary, 1);
    sum->seconds += r->seconds;
}

/* Takes the result of a pass, and frees it or keeps it as the first. */
static void take(campaign *g, int i, measure_result *r, pass a)
{
    const measure_params *m = &g->c->p->measures[i].p;
    measure_result *sum = &g->sum[i];
    if (g->c->links->lat->planned) {
        measure_result_free(sum);
        *sum = *r;
    } else if (r->failed) {
        g->passes[i] = 1;
        measure_result_free(sum);
        *sum = *r;
    } else if (!sum->what) {
        *sum = *r;
        if (m->positions > 1) scale(sum, weight_of(m, a));
    } else {
        add_pass(sum, r, weight_of(m, a), a.rough);
        measure_result_free(r);
    }
    if (--g->passes[i]) return;
    measure_result through = *sum;
    *sum = (measure_result){0};
    g->stopped = g->calls->done(g->calls->context, i, &through);
}

static void describe(const measure_params *m, pass a, char *text, size_t size)
{
    text[0] = 0;
    if (m->positions > 1)
        snprintf(text, size, ", position %d of %d%s", a.k + 1, m->positions, a.rough ? ", rough" : "");
}

/* Measurements of a pass, on one store of propagators. */
static void make_pass(campaign *g, pass a)
{
    const parameters *p = g->c->p;
    measure_context c = *g->c;
    int here[MAX_NAMED] = {0}, later[MAX_NAMED] = {0}, any = 0;
    propagator_place place = {.rough = a.rough, .low = g->low, .solves = g->solves, .later = later};
    for (int i = 0; i < p->nmeasures; i++) {
        here[i] = g->passes[i] > 0 && takes_part(&c, &p->measures[i].p, a);
        later[i] = g->passes[i] > here[i];
        any = any || here[i];
    }
    if (!any) return;
    if (a.moved) measure_shift(&c, a.k, place.shift);
    c.propagators = propagator_store_open(&c, here, &place);
    for (int i = 0; i < p->nmeasures && !g->stopped; i++) {
        char where[64];
        if (!here[i]) continue;
        describe(&p->measures[i].p, a, where, sizeof where);
        g->calls->begin(g->calls->context, i, where);
        measure_result r = measure(&c, &p->measures[i]);
        take(g, i, &r, a);
    }
    propagator_store_close(c.propagators);
}

void measure_due(const measure_context *c, const int due[MAX_NAMED], const measure_calls *calls)
{
    campaign g = {.c = c, .calls = calls, .low = low_store_open(), .solves = solves_store_open(c)};
    int most = 1;
    for (int i = 0; i < c->p->nmeasures; i++) {
        const measure_params *m = &c->p->measures[i].p;
        if (due[i]) g.passes[i] = passes_of(c, m);
        if (due[i] && positions_of(c, m) > most) most = positions_of(c, m);
    }
    make_pass(&g, (pass){0, 0, 0});
    for (pass a = {.moved = 1}; a.k < most; a.k++)
        for (a.rough = 0; a.rough < 2 && !g.stopped; a.rough++) make_pass(&g, a);
    low_store_close(g.low);
    solves_store_close(g.solves);
    for (int i = 0; i < MAX_NAMED; i++) measure_result_free(&g.sum[i]);
}
