/* What tests of observables share: parameters of one quark, and values of results. */
#ifndef PLAQ_TESTS_OBSERVE_H
#define PLAQ_TESTS_OBSERVE_H

#include <math.h>
#include <string.h>

#include "hmc/measure/positions.h"
#include "hmc/quarks/quark_staggered.h"
#include "hmc/quarks/quark_wilson.h"
#include "tests/check.h"

static parameters the_parameters CHECK_UNUSED;

/* The source that observe_parameters() makes, as an input file has it: a kind, and keys of it. */
CHECK_UNUSED static void observe_source_kind(const char *kind)
{
    source_params *s = &the_parameters.sources[0].p;
    params_default(source_section(0), s);
    s->kind = param_kind(source_section(0), kind);
    params_default(source_kind_of(s)->own, s);
}

CHECK_UNUSED static void observe_key(source_params *s, const char *key, const char *value)
{
    char message[PARAM_MESSAGE_SIZE];
    const param *p = param_find(source_kind_of(s)->own, key);
    REQUIRE(p && !param_set(p, s, value, message, sizeof message), "%s = %s: %s", key, value, p ? message : "no key");
}

CHECK_UNUSED static void observe_source_set(const char *key, const char *value)
{
    observe_key(&the_parameters.sources[0].p, key, value);
}

CHECK_UNUSED static void observe_place(const int place[4])
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d.%d", place[0], place[1], place[2], place[3]);
    observe_source_set("place", text);
}

/* A second quark, like the first. */
CHECK_UNUSED static quark_params *observe_second_quark(const char *name)
{
    named_quark *q = the_parameters.quarks;
    the_parameters.nquarks = 2;
    q[1] = q[0];
    snprintf(q[1].name, sizeof q[1].name, "%s", name);
    return &q[1].p;
}

/* A propagator of a quark from that source. */
CHECK_UNUSED static named_propagator *observe_propagator(const char *name, const char *quark)
{
    named_propagator *q = &the_parameters.propagators[the_parameters.npropagators++];
    params_default(propagator_section(), &q->p);
    snprintf(q->name, sizeof q->name, "%s", name);
    snprintf(q->p.quark, sizeof q->p.quark, "%s", quark);
    snprintf(q->p.source, sizeof q->p.source, "source");
    return q;
}

/* A second source, `sink`, of a sequential kind at that time, which is made of the first propagator; and a propagator of a
 * quark from it. */
CHECK_UNUSED static source_params *observe_sink(const char *kind, int time, const char *name, const char *quark)
{
    named_source *s = &the_parameters.sources[the_parameters.nsources++];
    char text[16];
    snprintf(s->name, sizeof s->name, "sink");
    s->p.kind = param_kind(source_section(0), kind);
    params_default(source_kind_of(&s->p)->own, &s->p);
    observe_key(&s->p, "propagator", "propagator");
    snprintf(text, sizeof text, "%d", time);
    observe_key(&s->p, "time", text);
    named_propagator *q = observe_propagator(name, quark);
    snprintf(q->p.source, sizeof q->p.source, "sink");
    return &s->p;
}

/* One quark, whose kind the caller completes, one solver, and its propagator from a point at the origin. */
CHECK_UNUSED static parameters *observe_parameters(const char *kind, double mass)
{
    parameters *p = &the_parameters;
    memset(p, 0, sizeof *p);
    p->nquarks = p->nsolvers = 1;
    snprintf(p->quarks[0].name, sizeof p->quarks[0].name, "quark");
    quark_params *f = &p->quarks[0].p;
    f->kind = param_kind(quark_section(0), kind);
    for (int k = 0; quark_kind_of(f)->parts[k]; k++)
        params_default(quark_kind_of(f)->parts[k], quark_keys(f, quark_kind_of(f)->parts[k]));
    f->mass = mass;
    if (staggered_keys_of(f)) staggered_keys_of(f)->links = STAGGERED_NAIVE;
    f->parity = QUARK_ODD;
    snprintf(f->solver, sizeof f->solver, "cg");
    snprintf(p->solvers[0].name, sizeof p->solvers[0].name, "cg");
    solver_settings *s = &p->solvers[0].p;
    s->type = param_kind(solver_section(0), "cg");
    s->tolerance = 1e-12;
    s->max_iterations = 2000;
    s->inner_precision = PREC_DOUBLE;
    p->nsources = 1;
    snprintf(p->sources[0].name, sizeof p->sources[0].name, "source");
    observe_source_kind("point");
    observe_propagator("propagator", "quark");
    return p;
}

/* The twisted mass of a quark of kind twisted_mass. */
CHECK_UNUSED static void observe_twist(quark_params *q, double mu)
{
    *quark_kind_of(q)->twisted_mass(q) = mu;
}

/* Sets a key as an input file does. */
CHECK_UNUSED static void observe_set(named_measure *m, const char *key, const char *value)
{
    char message[PARAM_MESSAGE_SIZE];
    const observable *o = observable_of(&m->p);
    const param *p = param_find(observable_section(0), key);
    if (!p && o->own) p = param_find(o->own, key);
    REQUIRE(p && !param_set(p, &m->p, value, message, sizeof message), "%s = %s: %s", key, value,
            p ? message : "no key");
}

CHECK_UNUSED static named_measure observe_section(const char *kind)
{
    named_measure m = {.name = "test"};
    params_default(observable_section(0), &m.p);
    m.p.kind = param_kind(observable_section(0), kind);
    const observable *o = observable_of(&m.p);
    if (o->own) params_default(o->own, &m.p);
    static const char *const given[] = {"quark", "source", "propagator"};
    for (int i = 0; i < 3; i++)
        if (observable_has(o, given[i])) observe_set(&m, given[i], given[i]);
    if (observable_has(o, "flow_time")) observe_set(&m, "flow_time", "0.2");
    if (observable_has(o, "flow_step")) observe_set(&m, "flow_step", "0.1");
    if (observable_has(o, "vectors")) observe_set(&m, "vectors", "2");
    if (observable_has(o, "to_mass")) observe_set(&m, "to_mass", "0.25");
    return m;
}

/* Two results have the same bits. */
CHECK_UNUSED static void observe_same(const measure_result *a, const measure_result *b)
{
    const size_t columns = (size_t)a->what->ncolumns;
    CHECK_INT(a->failed + b->failed, 0);
    CHECK_INT(a->nrows, b->nrows);
    CHECK(!memcmp(a->rows, b->rows, (size_t)a->nrows * columns * sizeof *a->rows));
    CHECK(!memcmp(a->summary, b->summary, sizeof a->summary));
}

/* The value of a column in a row, or of a column of the summary (row = -1); NaN when there is no such column. */
CHECK_UNUSED static double measure_value(const measure_result *r, long row, const char *column)
{
    const measure_column *names = row < 0 ? r->what->summary : r->what->columns;
    const int n = row < 0 ? r->what->nsummary : r->what->ncolumns;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i].name, column)) return row < 0 ? r->summary[i] : r->rows[row * n + i];
    return NAN;
}

#endif
