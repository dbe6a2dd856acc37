#include "hmc/input/identity.h"

#include <string.h>

#include "hmc/measure/observable.h"
#include "hmc/build/simulation.h"
#include "hmc/evolve/fermion_kind.h"
#include "hmc/evolve/gauge_kind.h"
#include "hmc/evolve/parts.h"
#include "hmc/input/changes.h"
#include "git_version.h"
#include "source_digest.h"

const char *identity_of_program(void)
{
    if (!PLAQ_GIT_VERSION[0]) return "plaq " PLAQ_VERSION " (source " PLAQ_SOURCE_DIGEST ")";
    return "plaq " PLAQ_VERSION " (git " PLAQ_GIT_VERSION ", source " PLAQ_SOURCE_DIGEST ")";
}

const char *identity_of_compilers(void)
{
#ifdef __clang__
#define COMPILER ""
#else
#define COMPILER "gcc "
#endif
    return PLAQ_CUDA_VERSION[0] ? COMPILER __VERSION__ ", CUDA " PLAQ_CUDA_VERSION : COMPILER __VERSION__ ", no CUDA";
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

static void add_one(param_text *text, const param_section *s, const param *p, const void *in)
{
    char value[PARAM_TEXT_SIZE];
    param_format(p, in, value, sizeof value);
    param_text_add(text, "%s.%s = %s\n", s->section, p->name, value);
}

static void add_all(param_text *text, const param_section *s, const void *in)
{
    for (int i = 0; i < s->count; i++) add_one(text, s, &s->table[i], in);
}

static void add(param_text *text, const char *section, const char *key, const void *in)
{
    const param_section *s = section_named(section);
    const param *p = param_find(s, key);
    REQUIRE(p, "no key %s in [%s]", key, section);
    add_one(text, s, p, in);
}

static void add_physics(param_text *text, const param_section *s, const void *in)
{
    for (int i = 0; i < s->count; i++)
        if (s->table[i].physics && strcmp(s->table[i].name, "measured_only")) add_one(text, s, &s->table[i], in);
}

/* Its operator: what makes another ensemble, but for the keys that are of an action alone. */
static void add_links(param_text *text, const link_settings *links)
{
    add_all(text, link_map_section(0), links);
    add_all(text, link_map_type_find(links->kind)->own, links);
}

static void add_quark(param_text *text, const parameters *p, const fermion_params *f)
{
    const fermion_part *const *parts = fermion_kind_find(f->kind)->parts;
    add(text, "lattice", "time_boundary", &p->lattice);
    add_physics(text, fermion_section(0), f);
    for (int k = 0; parts[k]; k++)
        if (!parts[k]->of_action) add_physics(text, &parts[k]->keys, fermion_keys(f, parts[k]));
    const link_settings *links = smearing_of(f);
    if (links) add_links(text, links);
}

param_text identity_of_operator(const parameters *p, const fermion_params *f)
{
    const fermion_part *const *parts = fermion_kind_find(f->kind)->parts;
    param_text text = {0};
    add_quark(&text, p, f);
    for (int k = 0; parts[k]; k++) {
        const param *form = param_find(&parts[k]->keys, "schur");
        if (form) add_one(&text, &parts[k]->keys, form, fermion_keys(f, parts[k]));
    }
    return text;
}

/* Physics keys of a section, under the name of its instance. */
static void add_named(param_text *text, const param_section *s, const char *instance, const void *in)
{
    char value[PARAM_TEXT_SIZE];
    for (int i = 0; i < s->count; i++) {
        const param *p = &s->table[i];
        if (!p->physics || !strcmp(p->name, "measured_only")) continue;
        param_format(p, in, value, sizeof value);
        param_text_add(text, "%s%s%s.%s = %s\n", s->section, instance ? "." : "", instance ? instance : "", p->name,
                       value);
    }
}

param_text identity_of_ensemble(const parameters *p)
{
    param_text text = {0};
    const gauge_kind *gauge = gauge_kind_find(p->gauge.action);
    add_named(&text, section_named("lattice"), NULL, &p->lattice);
    add_named(&text, gauge_section(0), NULL, &p->gauge);
    for (int k = 0; gauge->parts[k]; k++) add_named(&text, gauge->parts[k], NULL, &p->gauge);
    for (int i = 0; i < p->nlinks; i++) {
        const named_links *n = &p->links[i];
        add_named(&text, link_map_section(0), n->name, &n->p);
        add_named(&text, link_map_type_find(n->p.kind)->own, n->name, &n->p);
    }
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *n = &p->fermions[i];
        const fermion_part *const *parts = fermion_kind_find(n->p.kind)->parts;
        if (fermion_measured_only(&n->p)) continue;
        add_named(&text, fermion_section(0), n->name, &n->p);
        for (int k = 0; parts[k]; k++) add_named(&text, &parts[k]->keys, n->name, fermion_keys(&n->p, parts[k]));
    }
    return text;
}

int identity_differ(const char *before, const char *now, param_text *differences)
{
    param_text own = changes_own_keys(before);
    const int n = params_compare(own.data ? own.data : "", now, NULL, 0, differences);
    param_text_free(&own);
    return n;
}

/* The second quark with its solver, and the links that the keys name. */
static void add_others(param_text *text, const parameters *p, const named_measure *m)
{
    const observable *o = observable_find(m->p.kind);
    const char *solver = "", *fermion = o->second_quark ? o->second_quark(&m->p, &solver) : "",
               *links = o->links ? o->links(&m->p) : "";
    if (fermion[0]) {
        const fermion_params *f = &p->fermions[simulation_fermion(p, fermion)].p;
        param_text other = {0};
        add_quark(&other, p, f);
        add(&other, "solver", "tolerance", &parameters_attempt(p, solver[0] ? solver : f->action_solver, 0)->p);
        for (const char *line = other.data, *end; (end = strchr(line, '\n')); line = end + 1)
            param_text_add(text, "second.%.*s\n", (int)(end - line), line);
        param_text_free(&other);
    }
    for (int i = 0; i < p->nlinks && links[0]; i++)
        if (!strcmp(p->links[i].name, links)) add_links(text, &p->links[i].p);
}

param_text identity_of_measurement(const parameters *p, const named_measure *m)
{
    const observable *o = observable_find(m->p.kind);
    param_text text = {0};
    add(&text, "measure", "kind", &m->p);
    if (o->own) add_all(&text, o->own, &m->p);
    for (int i = 0; i < p->nlinks && m->p.links[0]; i++)
        if (!strcmp(p->links[i].name, m->p.links)) add_links(&text, &p->links[i].p);
    if (o->quarks == MEASURE_NO_QUARKS) return text;
    const fermion_params *f = &p->fermions[simulation_fermion(p, m->p.fermion)].p;
    const named_settings *solver = parameters_attempt(p, m->p.solver[0] ? m->p.solver : f->action_solver, 0);
    add_quark(&text, p, f);
    add(&text, "solver", "tolerance", &solver->p);
    add_others(&text, p, m);
    if (!strcmp(m->p.error_estimate, "yes")) add(&text, "measure", "error_estimate", &m->p);
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
