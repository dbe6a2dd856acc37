/* Sections [measure.NAME]: their instances, and what tables of keys cannot say of them. */
#include <stdio.h>
#include <string.h>

#include "hmc/build/simulation.h"
#include "hmc/evolve/fermion_kind.h"
#include "hmc/input/parameters.h"
#include "hmc/measure/observable.h"
#include "kernels/base/error.h"

/* Refuses keys that its observable does not have. */
static void check_keys(const ini_input *in, const named_measure *m)
{
    const observable *o = observable_find(m->p.kind);
    const param_section *part;
    char has[256];
    observable_keys(o, has, sizeof has);
    for (int i = 0; (part = observable_section(i)); i++)
        for (int k = 0; k < part->count; k++) {
            const char *key = part->table[k].name;
            const int of_all = i == 0 && (!strcmp(key, "kind") || !strcmp(key, "interval"));
            if (!of_all && ini_given(in, "measure", m->name, key) && !observable_has(o, key))
                user_error("%s: [measure.%s] kind = %s has no key '%s'; beside interval it has %s",
                           ini_where(in, "measure", m->name, key), m->name, o->name, key, has[0] ? has : "no other");
        }
}

/* The quark is of the kind that is measured with. */
static void check_quark(const ini_input *in, const parameters *p, const named_measure *m)
{
    const fermion_params *f = &p->fermions[simulation_fermion(p, m->p.fermion)].p;
    const int staggered = fermion_kind_find(f->kind)->staggered, want = observable_find(m->p.kind)->quarks;
    if (want == (staggered ? MEASURE_WILSON : MEASURE_STAGGERED))
        user_error("%s: [measure.%s] kind = %s needs a %s quark, but [fermion.%s] is of kind = %s",
                   ini_where(in, "measure", m->name, "fermion"), m->name, m->p.kind,
                   want == MEASURE_WILSON ? "Wilson" : "staggered", m->p.fermion, f->kind);
}

void measure_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED + 1], *fermions[MAX_NAMED];
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
        if (o->quarks != MEASURE_NO_QUARKS) {
            parameters_check_name(in, "measure", m->name, "fermion", m->p.fermion, fermions, p->nfermions,
                                  "[fermion.NAME]");
            check_quark(in, p, m);
            if (m->p.solver[0]) parameters_check_solver(in, p, "measure", m->name, "solver", m->p.solver);
        }
        const char *key = o->check ? o->check(p, m, message, sizeof message) : NULL;
        if (key) user_error("%s: %s", ini_where(in, "measure", m->name, key), message);
    }
}
