#include "hmc/plan/campaign.h"

#include <stdio.h>
#include <string.h>

#include "hmc/measure/positions.h"
#include "hmc/quarks/quark.h"
#include "hmc/tell/text.h"
#include "kernels/base/log.h"

/* Positions at which a propagator is solved for: where its source names it, and elsewhere, by either solver. */
typedef struct {
    int there, exact, rough;
} passes;

static int names(const parameters *p, const measure_params *m, const char *propagator)
{
    const char *name;
    for (int i = 0; (name = measure_propagator(m, i)); i++)
        for (; name; name = parameters_made_of(p, name))
            if (!strcmp(name, propagator)) return 1;
    return 0;
}

static void most(int *x, int y)
{
    if (y > *x) *x = y;
}

/* Measurements share the solves at each position. */
static passes passes_of(const parameters *p, const named_propagator *q)
{
    passes n = {0};
    for (int i = 0; i < p->nmeasures; i++) {
        const measure_params *m = &p->measures[i].p;
        if (!names(p, m, q->name)) continue;
        if (m->positions <= 1) n.there = 1;
        else if (!measure_is_rough(m)) most(&n.exact, m->positions);
        else most(&n.exact, q->p.rough_solver[0] ? m->exact_positions : m->positions + m->exact_positions);
        if (measure_is_rough(m) && q->p.rough_solver[0]) most(&n.rough, m->positions);
    }
    return n;
}

/* True if an earlier propagator has these solves, too. */
static int is_shared(const parameters *p, const named_propagator *q)
{
    for (const named_propagator *r = p->propagators; r < q; r++)
        if (!strcmp(r->p.quark, q->p.quark) && !strcmp(r->p.source, q->p.source) &&
            !strcmp(parameters_propagator_solver(p, &r->p), parameters_propagator_solver(p, &q->p)) &&
            (passes_of(p, r).there || passes_of(p, r).exact))
            return 1;
    return 0;
}

static campaign_solves solves_of(const parameters *p, const named_propagator *q, const char *solver, int rough,
                                 int positions, double volume)
{
    const quark_params *f = &p->quarks[parameters_quark(p, q->p.quark)].p;
    const named_settings *by = parameters_attempt(p, solver, 0);
    campaign_solves s = {.propagator = q->name, .solver = by->name, .rough = rough};
    s.systems = (double)positions * 3 * quark_kind_of(f)->spins;
    s.iterations = iterations_of(f, f->mass, &by->p);
    s.part = cost_solves(q->name, f, &by->p, volume, s.iterations, s.systems);
    return s;
}

campaign campaign_of(const parameters *p, const int size[4], long configurations)
{
    campaign g = {.configurations = configurations};
    double volume = 1;
    size_t at = 0;
    for (int d = 0; d < 4; d++) volume *= size[d];
    for (int i = 0; i < p->npropagators; i++) {
        const named_propagator *q = &p->propagators[i];
        const passes of = passes_of(p, q);
        if (is_shared(p, q)) continue;
        if (of.there + of.exact)
            g.solves[g.n++] = solves_of(p, q, parameters_propagator_solver(p, &q->p), 0, of.there + of.exact, volume);
        if (of.rough) g.solves[g.n++] = solves_of(p, q, q->p.rough_solver, 1, of.rough, volume);
    }
    for (int i = 0; i < p->nmeasures && at < sizeof g.left_out; i++) {
        const observable *o = observable_of(&p->measures[i].p);
        if (o->propagators || o->quarks == MEASURE_NO_QUARKS) continue;
        at += (size_t)snprintf(g.left_out + at, sizeof g.left_out - at, "%smeasure.%s", at ? " " : "",
                               p->measures[i].name);
    }
    return g;
}

/* Floating-point operations of what is no solve, where observables tell. */
static double flops_of_others(const parameters *p, const int size[4])
{
    double volume = 1, sum = 0;
    for (int d = 0; d < 4; d++) volume *= size[d];
    for (int i = 0; i < p->nmeasures; i++) {
        const measure_params *m = &p->measures[i].p;
        const observable *o = observable_of(m);
        if (o->flops) sum += volume * o->flops(m, size);
    }
    return sum;
}

void campaign_time(campaign *g, const parameters *p, const lattice *lat, int ranks, const calibration *c, double slower,
                   double bytes)
{
    const int a_node = (c->place.ranks + c->place.nodes - 1) / c->place.nodes, nodes = (ranks + a_node - 1) / a_node;
    const double rate = ranks * calibration_rate(c, CALIBRATION_GAUGE_FORCE, PREC_DOUBLE);
    for (int i = 0; i < g->n; i++) {
        campaign_solves *s = &g->solves[i];
        s->seconds = slower * cost_seconds(&s->part, c, ranks) + cost_network(&s->part, c, lat);
        g->all_solves += s->seconds;
    }
    g->others = slower * flops_of_others(p, lat->size) / rate;
    g->configuration = g->all_solves + g->others;
    g->total = (double)g->configurations * g->configuration;
    g->node_hours = g->total * nodes / 3600;
    g->disk = (double)g->configurations * bytes;
}

void campaign_describe(const campaign *g)
{
    char time[32], disk[32];
    for (int i = 0; i < g->n; i++) {
        const campaign_solves *s = &g->solves[i];
        log_info(
            "cost: propagator.%s%s: %.0f right-hand sides a configuration by %s, about %.0f iterations each: %.3g s",
            s->propagator, s->rough ? ", rough" : "", s->systems, s->solver, s->iterations, s->seconds);
    }
    if (g->n)
        log_info("cost: iterations are those of a model by mass, solver and tolerance, right within a factor of a few; "
                 "eigenvectors are not in it");
    if (g->left_out[0]) log_info("cost: solves of %s are left out", g->left_out);
    log_info(
        "cost: a configuration takes about %.3g s, of it solves %.3g s; %ld configuration%s %s, %.3g node-hours, and "
        "%s of propagators",
        g->configuration, g->all_solves, g->configurations, g->configurations == 1 ? "" : "s",
        text_duration(g->total, time), g->node_hours, text_bytes(g->disk, disk));
}
