/* Sections [measure.NAME]: their instances, and what tables of keys cannot say of them. */
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/simulation.h"
#include "hmc/quarks/quark.h"
#include "hmc/assemble/parameters.h"
#include "hmc/measure/observable.h"
#include "kernels/base/error.h"

static int kind_has(const char *kind, const char *key)
{
    return !strcmp(key, "kind") || !strcmp(key, "interval") || observable_has(observable_find(kind), key);
}

static void check_keys(ini_input *in, const named_measure *m)
{
    char has[256], rest[512];
    observable_keys(observable_find(m->p.kind), has, sizeof has);
    snprintf(rest, sizeof rest, "; beside interval it has %s", has[0] ? has : "no other");
    parameters_refuse_keys(in, "measure", m->name, "kind", m->p.kind, kind_has, rest);
}

/* The quark has the spins, and the fifth dimension, that are measured with. */
static void check_quark(const ini_input *in, const parameters *p, const named_measure *m, const char *key,
                        const char *quark)
{
    static const char *const names[] = {
        [MEASURE_WILSON] = "Wilson", [MEASURE_WALLS] = "domain wall", [MEASURE_STAGGERED] = "staggered"};
    const quark_params *f = &p->quarks[parameters_quark(p, quark)].p;
    const quark_kind *kind = quark_kind_find(f->kind);
    const int want = observable_find(m->p.kind)->quarks;
    const int fits = want == MEASURE_WILSON      ? kind->spins == 4
                     : want == MEASURE_WALLS     ? kind->slices != NULL
                     : want == MEASURE_STAGGERED ? kind->spins == 1
                                                 : 1;
    if (!fits)
        user_error("%s: [measure.%s] kind = %s needs a %s quark, but [quark.%s] is of kind = %s",
                   ini_where(in, "measure", m->name, key), m->name, m->p.kind, names[want], quark, f->kind);
}

/* A measurement without a solver has that of its quark. */
static void check_solver(const ini_input *in, const parameters *p, const named_measure *m, const char *key,
                         const char *solver, const char *quark)
{
    if (solver[0]) parameters_check_solver(in, p, "measure", m->name, key, solver);
    else if (!p->quarks[parameters_quark(p, quark)].p.solver[0])
        user_error("%s: [measure.%s] has no %s, and [quark.%s] no solver; give one of them",
                   ini_where(in, "measure", m->name, ""), m->name, key, quark);
}

void measure_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nmeasures = names_of(in, "measure", names);
    for (int i = 0; i < p->nmeasures; i++) {
        named_measure *m = &p->measures[i];
        snprintf(m->name, sizeof m->name, "%s", names[i]);
        ini_fill(in, observable_section(0), names[i], &m->p);
        const observable *o = observable_find(m->p.kind);
        if (o->own) ini_fill(in, o->own, names[i], &m->p);
        check_keys(in, m);
    }
}

void measure_parameters_check(const ini_input *in, const parameters *p)
{
    char message[512];
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *m = &p->measures[i];
        const observable *o = observable_find(m->p.kind);
        const char *solver = "", *quark = o->second_quark ? o->second_quark(&m->p, &solver) : "";
        if (o->quarks != MEASURE_NO_QUARKS) {
            if (!m->p.quark[0])
                user_error("%s: [measure.%s] kind = %s needs the key 'quark'; it names a [quark.NAME] of this file",
                           ini_where(in, "measure", m->name, ""), m->name, m->p.kind);
            check_quark(in, p, m, "quark", m->p.quark);
            check_solver(in, p, m, "solver", m->p.solver, m->p.quark);
        }
        if (quark[0]) {
            check_quark(in, p, m, "quark_2", quark);
            check_solver(in, p, m, "solver_2", solver, quark);
        }
        const char *key = o->check ? o->check(p, m, message, sizeof message) : NULL;
        if (key) user_error("%s: %s", ini_where(in, "measure", m->name, key), message);
    }
}
