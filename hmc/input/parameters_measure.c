/* Sections [measure.NAME]: their instances, and what tables of keys cannot say of them. */
#include <stdio.h>
#include <string.h>

#include "hmc/build/simulation.h"
#include "hmc/evolve/fermion_kind.h"
#include "hmc/input/parameters.h"
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
                        const char *fermion)
{
    static const char *const names[] = {
        [MEASURE_WILSON] = "Wilson", [MEASURE_WALLS] = "domain wall", [MEASURE_STAGGERED] = "staggered"};
    const fermion_params *f = &p->fermions[simulation_fermion(p, fermion)].p;
    const fermion_kind *kind = fermion_kind_find(f->kind);
    const int want = observable_find(m->p.kind)->quarks;
    const int fits = want == MEASURE_WILSON      ? kind->spins == 4
                     : want == MEASURE_WALLS     ? kind->slices != NULL
                     : want == MEASURE_STAGGERED ? kind->spins == 1
                                                 : 1;
    if (!fits)
        user_error("%s: [measure.%s] kind = %s needs a %s quark, but [fermion.%s] is of kind = %s",
                   ini_where(in, "measure", m->name, key), m->name, m->p.kind, names[want], fermion, f->kind);
}

static void check_links(const ini_input *in, const parameters *p, const named_measure *m, const char *key,
                        const char *links)
{
    const char *names[MAX_NAMED];
    for (int i = 0; i < p->nlinks; i++) names[i] = p->links[i].name;
    if (links[0]) parameters_check_name(in, "measure", m->name, key, links, names, p->nlinks, "[links.NAME]");
}

/* Second quark, its solver, and links that the keys of one observable name. */
static void check_other_names(const ini_input *in, const parameters *p, const named_measure *m,
                              const char *const *fermions)
{
    const observable *o = observable_find(m->p.kind);
    const char *solver = "", *fermion = o->second_quark ? o->second_quark(&m->p, &solver) : "",
               *links = o->links ? o->links(&m->p) : "";
    check_links(in, p, m, "smearing_links", links);
    if (!fermion[0]) return;
    parameters_check_name(in, "measure", m->name, "fermion_2", fermion, fermions, p->nfermions, "[fermion.NAME]");
    check_quark(in, p, m, "fermion_2", fermion);
    if (solver[0]) parameters_check_solver(in, p, "measure", m->name, "solver_2", solver);
}

void measure_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED], *fermions[MAX_NAMED];
    char message[512];
    for (int i = 0; i < p->nfermions; i++) fermions[i] = p->fermions[i].name;
    p->nmeasures = parameters_instances(in, "measure", names);
    for (int i = 0; i < p->nmeasures; i++) {
        named_measure *m = &p->measures[i];
        snprintf(m->name, sizeof m->name, "%s", names[i]);
        ini_fill(in, observable_section(0), names[i], &m->p);
        const observable *o = observable_find(m->p.kind);
        if (o->own) ini_fill(in, o->own, names[i], &m->p);
        check_keys(in, m);
        check_links(in, p, m, "links", m->p.links);
        if (o->quarks != MEASURE_NO_QUARKS) {
            parameters_check_name(in, "measure", m->name, "fermion", m->p.fermion, fermions, p->nfermions,
                                  "[fermion.NAME]");
            check_quark(in, p, m, "fermion", m->p.fermion);
            check_other_names(in, p, m, fermions);
            if (m->p.solver[0]) parameters_check_solver(in, p, "measure", m->name, "solver", m->p.solver);
        }
        const char *key = o->check ? o->check(p, m, message, sizeof message) : NULL;
        if (key) user_error("%s: %s", ini_where(in, "measure", m->name, key), message);
    }
}
