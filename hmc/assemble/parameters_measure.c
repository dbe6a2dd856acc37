/* Sections [measure.NAME]: their instances, and what tables of keys cannot say of them. */
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/simulation.h"
#include "hmc/observables/observable.h"
#include "hmc/quarks/quark.h"
#include "hmc/assemble/parameters.h"
#include "kernels/base/error.h"

static const char *const propagator_keys[MEASURE_PROPAGATORS] = {"propagator", "propagator_2", "insertion"};

static int kind_has(const void *measure, const char *key)
{
    return !strcmp(key, "kind") || !strcmp(key, "interval") || observable_has(observable_of(measure), key);
}

static void check_keys(ini_input *in, const named_measure *m)
{
    char has[256], rest[512];
    observable_keys(observable_of(&m->p), has, sizeof has);
    snprintf(rest, sizeof rest, "; beside interval it has %s", has[0] ? has : "no other");
    parameters_refuse_keys(in, observable_section(0), m->name, &m->p, kind_has, rest);
}

/* The quark has the spins, and the fifth dimension, that are measured with. */
static void check_quark(const ini_input *in, const parameters *p, const named_measure *m, const char *key,
                        const char *quark)
{
    static const char *const names[] = {
        [MEASURE_WILSON] = "Wilson", [MEASURE_WALLS] = "domain wall", [MEASURE_STAGGERED] = "staggered"};
    const quark_params *f = &p->quarks[parameters_quark(p, quark)].p;
    const quark_kind *kind = quark_kind_of(f);
    const int want = observable_of(&m->p)->quarks;
    if (kind->doublet)
        user_error("%s: [measure.%s] names [quark.%s] of kind = %s, which is for actions: name quarks of kind = "
                   "twisted_mass, whose mu are the masses of strange and charm (R. Frezzotti and G. C. Rossi, "
                   "hep-lat/0407002)",
                   ini_where(in, "measure", m->name, key), m->name, quark, quark_kind_of(f)->name);
    if (want == MEASURE_WALLS && kind->slices && !kind->axial)
        user_error("%s: [measure.%s] kind = %s needs the conserved axial current of uniform slices, and [quark.%s] is "
                   "of kind = %s; "
                   "name one of kind = mobius",
                   ini_where(in, "measure", m->name, key), m->name, observable_of(&m->p)->name, quark,
                   quark_kind_of(f)->name);
    const int fits = want == MEASURE_WILSON      ? kind->spins == 4
                     : want == MEASURE_WALLS     ? kind->axial
                     : want == MEASURE_STAGGERED ? kind->spins == 1
                                                 : 1;
    if (!fits)
        user_error("%s: [measure.%s] kind = %s needs a %s quark, but [quark.%s] is of kind = %s",
                   ini_where(in, "measure", m->name, key), m->name, observable_of(&m->p)->name, names[want], quark,
                   quark_kind_of(f)->name);
}

/* Sources on all sites are for vertex functions alone. */
static void check_volume(const ini_input *in, const parameters *p, const named_measure *m, const char *key,
                         const char *source)
{
    const named_source *s = parameters_first_source(p, parameters_source(p, source));
    if (source_volume_momentum(&s->p) && !observable_of(&m->p)->volume)
        user_error("%s: [measure.%s] kind = %s takes no source on all sites, as [source.%s] of kind = %s is; measure "
                   "vertices with it",
                   ini_where(in, "measure", m->name, key), m->name, observable_of(&m->p)->name, s->name,
                   source_kind_of(&s->p)->name);
}

/* Propagators of one measurement begin at one place, and with the same noise. */
static void check_sources(const ini_input *in, const parameters *p, const named_measure *m, const char *first,
                          const char *second)
{
    const named_source *a = parameters_first_source(p, parameters_source(p, parameters_propagator(p, first)->p.source)),
                       *b =
                           parameters_first_source(p, parameters_source(p, parameters_propagator(p, second)->p.source));
    const source_kind *kind = source_kind_of(&a->p), *other = source_kind_of(&b->p);
    int place[4], there[4];
    source_place(&a->p, place);
    source_place(&b->p, there);
    const int differ = kind->noise != other->noise || (kind->noise && !source_same_noise(&a->p, &b->p));
    if (memcmp(place, there, sizeof place) || differ)
        user_error("%s: [measure.%s] contracts propagators of sources that do not go together: [source.%s] of "
                   "[propagator.%s] is %s at %d.%d.%d.%d, [source.%s] of [propagator.%s] %s at %d.%d.%d.%d%s",
                   ini_where(in, "measure", m->name, "propagator_2"), m->name, a->name, first, kind->name, place[0],
                   place[1], place[2], place[3], b->name, second, other->name, there[0], there[1], there[2], there[3],
                   differ ? "; both are of the same noise, or none is" : "");
}

static void need(const ini_input *in, const named_measure *m, const char *key, const char *value)
{
    if (!value[0])
        user_error("%s: [measure.%s] kind = %s needs the key '%s'; it names a [%s.NAME] of this file",
                   ini_where(in, "measure", m->name, ""), m->name, observable_of(&m->p)->name, key, key);
}

/* A source that is not made of a propagator. */
static void check_source(const ini_input *in, const parameters *p, const named_measure *m)
{
    need(in, m, "source", m->p.source);
    check_volume(in, p, m, "source", m->p.source);
    const source_params *s = &parameters_source(p, m->p.source)->p;
    const quark_params *f = &p->quarks[parameters_quark(p, m->p.quark)].p;
    if (s->smearing[0] && quark_kind_of(f)->spins != 4)
        user_error(
            "%s: [measure.%s] solves from [source.%s], which is smeared, but [quark.%s] is of kind = %s; smearing is "
            "for quarks with spin",
            ini_where(in, "measure", m->name, "source"), m->name, m->p.source, m->p.quark, quark_kind_of(f)->name);
    if (source_sequential(s))
        user_error("%s: [measure.%s] kind = %s solves from [source.%s] itself, which is sequential; name another one",
                   ini_where(in, "measure", m->name, "source"), m->name, observable_of(&m->p)->name, m->p.source);
}

/* The first propagator of a measurement, or of those that these are made of, with text in a member of its keys; null: none. */
static const char *propagator_with(const parameters *p, const named_measure *m, size_t member)
{
    const char *name;
    for (int i = 0; (name = measure_propagator(&m->p, i)); i++)
        for (; name; name = parameters_made_of(p, name))
            if (((const char *)&parameters_propagator(p, name)->p)[member]) return name;
    return NULL;
}

/* Sinks of all propagators are sites, or walls, which have momentum 0. */
static void check_sinks(const ini_input *in, const parameters *p, const named_measure *m)
{
    const observable *o = observable_of(&m->p);
    const char *first = m->p.propagators[0], *name;
    const propagator_params *a = &parameters_propagator(p, first)->p;
    const param *momentum2 = o->own ? param_find(o->own, "momentum2") : NULL;
    const int most2 = momentum2 ? *(const int *)(const void *)((const char *)&m->p + momentum2->offset) : 0;
    for (int i = 1; (name = measure_propagator(&m->p, i)); i++) {
        const propagator_params *b = &parameters_propagator(p, name)->p;
        if (a->sink != b->sink)
            user_error("%s: [measure.%s] contracts [propagator.%s] of sink = %s and [propagator.%s] of sink = %s; both "
                       "are of one sink",
                       ini_where(in, "measure", m->name, propagator_keys[i]), m->name, first, parameters_sink(a), name,
                       parameters_sink(b));
    }
    if (a->sink != SINK_SITE && most2 > 0)
        user_error("%s: [measure.%s] momentum2 = %d, but the sink of [propagator.%s] is a wall, which has momentum 0 "
                   "alone; take momentum2 = 0",
                   ini_where(in, "measure", m->name, "momentum2"), m->name, most2, first);
}

static void check_positions(const ini_input *in, const parameters *p, const named_measure *m)
{
    const int positions = m->p.positions, exact = m->p.exact_positions;
    const char *file = positions > 1 ? propagator_with(p, m, offsetof(propagator_params, file)) : NULL;
    if (exact > positions)
        user_error(
            "%s: [measure.%s] has exact_positions = %d of positions = %d; give more positions, or fewer exact ones",
            ini_where(in, "measure", m->name, "exact_positions"), m->name, exact, positions);
    if (measure_is_rough(&m->p) && !propagator_with(p, m, offsetof(propagator_params, rough_solver)))
        user_error("%s: [measure.%s] has %d positions beside exact_positions = %d, but none of its propagators has a "
                   "rough_solver; give one to [propagator.%s]",
                   ini_where(in, "measure", m->name, "exact_positions"), m->name, positions - exact, exact,
                   m->p.propagators[0]);
    if (file)
        user_error(
            "%s: [measure.%s] has positions = %d, and [propagator.%s] a file, which is for one; leave one of them out",
            ini_where(in, "measure", m->name, "positions"), m->name, positions, file);
}

/* True if a measurement with rough positions is of the propagator. */
static int is_rough_somewhere(const parameters *p, const char *propagator)
{
    const char *name;
    for (const named_measure *m = p->measures; m < p->measures + p->nmeasures; m++)
        for (int i = 0; measure_is_rough(&m->p) && (name = measure_propagator(&m->p, i)); i++)
            for (; name; name = parameters_made_of(p, name))
                if (!strcmp(name, propagator)) return 1;
    return 0;
}

static void check_rough_solvers(const ini_input *in, const parameters *p)
{
    for (const named_propagator *q = p->propagators; q < p->propagators + p->npropagators; q++)
        if (q->p.rough_solver[0] && !is_rough_somewhere(p, q->name))
            user_error("%s: rough_solver = %s of [propagator.%s] has no effect: no [measure.NAME] of it has "
                       "exact_positions below its positions; give them, or leave it out",
                       ini_where(in, "propagator", q->name, "rough_solver"), q->p.rough_solver, q->name);
}

static void check_propagators(const ini_input *in, const parameters *p, const named_measure *m)
{
    const char *name;
    need(in, m, "propagator", m->p.propagators[0]);
    for (int i = 0; (name = measure_propagator(&m->p, i)); i++) {
        check_quark(in, p, m, propagator_keys[i], parameters_propagator(p, name)->p.quark);
        if (i < 2 && parameters_made_of(p, name) && !observable_of(&m->p)->sequential)
            user_error(
                "%s: [measure.%s] kind = %s takes no sequential propagators, as [propagator.%s] is; they end mesons "
                "alone",
                ini_where(in, "measure", m->name, propagator_keys[i]), m->name, observable_of(&m->p)->name, name);
        check_volume(in, p, m, propagator_keys[i], parameters_propagator(p, name)->p.source);
        if (i > 0) check_sources(in, p, m, m->p.propagators[0], name);
    }
    check_sinks(in, p, m);
    check_positions(in, p, m);
}

void measure_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nmeasures = names_of(in, "measure", names);
    for (int i = 0; i < p->nmeasures; i++) {
        named_measure *m = &p->measures[i];
        snprintf(m->name, sizeof m->name, "%s", names[i]);
        ini_fill(in, observable_section(0), names[i], &m->p);
        const observable *o = observable_of(&m->p);
        if (o->own) ini_fill(in, o->own, names[i], &m->p);
        check_keys(in, m);
    }
}

void measure_parameters_check(const ini_input *in, const parameters *p)
{
    char message[512];
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *m = &p->measures[i];
        const observable *o = observable_of(&m->p);
        if (o->propagators) {
            check_propagators(in, p, m);
        } else if (o->quarks != MEASURE_NO_QUARKS) {
            need(in, m, "quark", m->p.quark);
            check_quark(in, p, m, "quark", m->p.quark);
            if (o->from_source) check_source(in, p, m);
            parameters_need_solver(in, p, "measure", m->name, m->p.solver, m->p.quark);
        }
        const char *key = o->check ? o->check(p, m, message, sizeof message) : NULL;
        if (key) user_error("%s: %s", ini_where(in, "measure", m->name, key), message);
    }
    check_rough_solvers(in, p);
}
