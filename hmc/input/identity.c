#include "hmc/input/identity.h"

#include <string.h>

#include "hmc/measure/observable.h"
#include "hmc/build/simulation.h"
#include "hmc/evolve/fermion_kind.h"
#include "source_digest.h"

const char *identity_of_program(void)
{
    return "plaq " PLAQ_VERSION " (source " PLAQ_SOURCE_DIGEST ")";
}

static const param_section *section_named(const char *name)
{
    int n;
    const param_section *const *all = parameter_sections(&n);
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i]->section, name)) return all[i];
    REQUIRE(0, "no section %s", name);
    return NULL;
}

/* All keys of a table. */
static void add_all(param_text *text, const param_section *s, const void *in)
{
    char value[PARAM_TEXT_SIZE];
    for (int i = 0; i < s->count; i++) {
        param_format(&s->table[i], in, value, sizeof value);
        param_text_add(text, "%s.%s = %s\n", s->section, s->table[i].name, value);
    }
}

static void add(param_text *text, const char *section, const char *key, const void *in)
{
    char value[PARAM_TEXT_SIZE];
    const param *p = param_find(section_named(section), key);
    REQUIRE(p, "no key %s in [%s]", key, section);
    param_format(p, in, value, sizeof value);
    param_text_add(text, "%s.%s = %s\n", section, key, value);
}

/* Its operator: what makes another ensemble, but for the keys that are of an action alone. */
static void add_quark(param_text *text, const parameters *p, const fermion_params *f)
{
    static const char of_actions[] = "ratio_to flavours with measured_only";
    const param_section *s = section_named("fermion");
    add(text, "lattice", "time_boundary", &p->lattice);
    for (int i = 0; i < s->count; i++)
        if (s->table[i].physics && !param_has_word(of_actions, s->table[i].name))
            add(text, "fermion", s->table[i].name, f);
    const param_section *own = fermion_kind_find(f->kind)->own;
    if (own) add_all(text, own, f->own.bytes);
}

param_text identity_of_measurement(const parameters *p, const named_measure *m)
{
    const observable *o = observable_find(m->p.kind);
    param_text text = {0};
    add(&text, "measure", "kind", &m->p);
    if (o->own) add_all(&text, o->own, &m->p);
    if (o->quarks == MEASURE_NO_QUARKS) return text;
    const fermion_params *f = &p->fermions[simulation_fermion(p, m->p.fermion)].p;
    const named_settings *solver = parameters_attempt(p, m->p.solver[0] ? m->p.solver : f->action_solver, 0);
    add_quark(&text, p, f);
    add(&text, "solver", "tolerance", &solver->p);
    if (observable_has(o, "noise")) add(&text, "run", "seed", &p->run);
    return text;
}

param_text identity_of_solve(const parameters *p, const named_fermion *f, const named_settings *solver,
                             const char *source)
{
    const solver_type *type = solver_type_find(solver->p.type);
    param_text text = {0};
    add_quark(&text, p, &f->p);
    add_all(&text, solver_section(0), &solver->p);
    if (type->own) add_all(&text, type->own, &solver->p);
    param_text_add(&text, "source = %s\n", source);
    if (!strcmp(source, "random")) add(&text, "run", "seed", &p->run);
    return text;
}
