#include "hmc/assemble/identity.h"

#include <string.h>

#include "hmc/assemble/simulation.h"
#include "hmc/actions/gauge_kind.h"
#include "hmc/actions/action_kind.h"
#include "hmc/observables/observable.h"
#include "hmc/quarks/quark_links.h"
#include "hmc/assemble/changes.h"
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

/* Keys that came after files with identities: these have them where they are not the default. */
static const char later_keys[] =
    "c_F c_F_upper clover_term idle_slices low_phases up_phases c_G c_G_upper wall_rectangles kernel flow_error";

static int is_later(const char *later, const param *p, const void *in)
{
    char value[PARAM_TEXT_SIZE];
    if (!later || !param_has_word(later, p->name)) return 0;
    param_format(p, in, value, sizeof value);
    return !strcmp(value, p->deflt);
}

static void add_physics(param_text *text, const param_section *s, const void *in)
{
    for (int i = 0; i < s->count; i++)
        if (s->table[i].physics && !is_later(later_keys, &s->table[i], in)) add_one(text, s, &s->table[i], in);
}

static void add_links(param_text *text, const link_settings *links)
{
    add_all(text, link_map_section(0), links);
    const param_section *own = link_map_type_of(links)->own;
    for (int i = 0; i < own->count; i++)
        if (!is_later(later_keys, &own->table[i], links)) add_one(text, own, &own->table[i], links);
}

/* The operator of a quark. */
static void add_quark(param_text *text, const parameters *p, const quark_params *f)
{
    const param_section *const *parts = quark_kind_of(f)->parts;
    add(text, "lattice", "time_boundary", &p->lattice);
    add_physics(text, quark_section(0), f);
    for (int k = 0; parts[k]; k++) add_physics(text, parts[k], quark_keys(f, parts[k]));
    const link_settings *links = smearing_of(f);
    if (links) add_links(text, links);
}

param_text identity_of_operator(const parameters *p, const quark_params *f)
{
    const param_section *const *parts = quark_kind_of(f)->parts;
    param_text text = {0};
    add_quark(&text, p, f);
    for (int k = 0; parts[k]; k++) {
        const param *form = param_find(parts[k], "schur");
        if (form) add_one(&text, parts[k], form, quark_keys(f, parts[k]));
    }
    return text;
}

/* Physics keys of a section, under the name of its instance. */
static void add_named(param_text *text, const param_section *s, const char *instance, const void *in)
{
    char value[PARAM_TEXT_SIZE];
    for (int i = 0; i < s->count; i++) {
        const param *p = &s->table[i];
        if (!p->physics || is_later(later_keys, p, in)) continue;
        param_format(p, in, value, sizeof value);
        param_text_add(text, "%s%s%s.%s = %s\n", s->section, instance ? "." : "", instance ? instance : "", p->name,
                       value);
    }
}

param_text identity_of_ensemble(const parameters *p)
{
    param_text text = {0};
    const gauge_kind *gauge = gauge_kind_of(&p->gauge);
    add_named(&text, section_named("lattice"), NULL, &p->lattice);
    add_named(&text, gauge_section(0), NULL, &p->gauge);
    for (int k = 0; gauge->parts[k]; k++) add_named(&text, gauge->parts[k], NULL, &p->gauge);
    for (int i = 0; i < p->nlinks; i++) {
        const named_links *n = &p->links[i];
        add_named(&text, link_map_section(0), n->name, &n->p);
        add_named(&text, link_map_type_of(&n->p)->own, n->name, &n->p);
    }
    for (int i = 0; i < p->nquarks; i++) {
        const named_quark *n = &p->quarks[i];
        const param_section *const *parts = quark_kind_of(&n->p)->parts;
        if (parameters_measured_only(p, n)) continue;
        add_named(&text, quark_section(0), n->name, &n->p);
        for (int k = 0; parts[k]; k++) add_named(&text, parts[k], n->name, quark_keys(&n->p, parts[k]));
    }
    for (int i = 0; i < p->nactions; i++) {
        const named_action *n = &p->actions[i];
        const param_section *const *parts = action_kind_of(&n->p)->parts;
        add_named(&text, action_section(0), n->name, &n->p);
        for (int k = 0; parts[k]; k++) add_named(&text, parts[k], n->name, action_keys(&n->p, parts[k]));
    }
    return text;
}

int identity_differ(const char *before, const char *now, param_text *differences)
{
    return params_compare(before, now, NULL, 0, differences);
}

/* Appends lines with a prefix each: keys of a second object of a kind. */
static void add_prefixed(param_text *text, const char *prefix, const char *lines)
{
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        param_text_add(text, "%s%.*s\n", prefix, (int)(end - lines), lines);
}

/* Keys of a section but for names of others. */
static void add_values(param_text *text, const param_section *s, const char *later, const void *in)
{
    for (int i = 0; i < s->count; i++)
        if (s->table[i].type != PARAM_NAME && s->table[i].type != PARAM_NAMES && !is_later(later, &s->table[i], in))
            add_one(text, s, &s->table[i], in);
}

/* The smearing of this name, if any. */
static void add_smearing(param_text *text, const parameters *p, const char *prefix, const char *name)
{
    const named_smearing *s = parameters_smearing(p, name);
    param_text keys = {0};
    if (!s) return;
    add_values(&keys, smearing_section(), NULL, &s->p);
    if (s->p.links[0]) add_links(&keys, parameters_links(p, s->p.links));
    add_prefixed(text, prefix, keys.data);
    param_text_free(&keys);
}

static void add_propagator(param_text *text, const parameters *p, const char *name);

static void add_source(param_text *text, const parameters *p, const char *name)
{
    const source_params *s = &parameters_source(p, name)->p;
    const source_kind *kind = source_kind_of(s);
    add_values(text, source_section(0), NULL, s);
    add_values(text, kind->own, kind->later, s);
    if (source_sequential(s)) {
        param_text keys = {0};
        add_propagator(&keys, p, source_sequential(s)->propagator);
        add_prefixed(text, "source.", keys.data);
        param_text_free(&keys);
    }
    if (kind->noise) add(text, "run", "seed", &p->run);
    add_smearing(text, p, "source.", s->smearing);
}

static void add_propagator(param_text *text, const parameters *p, const char *name)
{
    const propagator_params *q = &parameters_propagator(p, name)->p;
    add_quark(text, p, &p->quarks[parameters_quark(p, q->quark)].p);
    add(text, "solver", "tolerance", &parameters_attempt(p, parameters_propagator_solver(p, q), 0)->p);
    add_source(text, p, q->source);
    add_smearing(text, p, "sink.", q->sink_smearing);
    if (q->error_estimate == PARAM_YES) add(text, "propagator", "error_estimate", q);
    if (q->sink != SINK_SITE) add(text, "propagator", "sink", q);
    if (q->file[0] && parameters_file_bits(q) != 64) add(text, "propagator", "file_bits", q);
}

param_text identity_of_propagator(const parameters *p, const char *name)
{
    param_text text = {0};
    add_propagator(&text, p, name);
    return text;
}

/* Keys, all of them, of a solver whose solutions are not to a tolerance; null: none. */
static void add_rough(param_text *text, const char *prefix, const named_settings *solver)
{
    param_text keys = {0};
    if (!solver) return;
    const solver_type *type = solver_type_of(&solver->p);
    add_all(&keys, solver_section(0), &solver->p);
    if (type->own) add_all(&keys, type->own, &solver->p);
    add_prefixed(text, prefix, keys.data);
    param_text_free(&keys);
}

/* Positions of the sources of the propagators, where there are several. */
static void add_positions(param_text *text, const parameters *p, const named_measure *m)
{
    const char *name;
    if (m->p.positions <= 1) return;
    add(text, "measure", "positions", &m->p);
    add(text, "measure", "exact_positions", &m->p);
    add(text, "run", "seed", &p->run);
    for (int i = 0; measure_is_rough(&m->p) && (name = measure_propagator(&m->p, i)); i++)
        add_rough(text,
                  i == 0   ? "rough."
                  : i == 1 ? "second.rough."
                           : "insertion.rough.",
                  parameters_attempt(p, parameters_propagator(p, name)->p.rough_solver, 0));
}

/* The propagators that a measurement contracts. */
static void add_propagators(param_text *text, const parameters *p, const named_measure *m)
{
    const char *name;
    for (int i = 0; (name = measure_propagator(&m->p, i)); i++) {
        param_text keys = {0};
        add_propagator(&keys, p, name);
        add_prefixed(text, i == 0 ? "" : i == 1 ? "second." : "insertion.", keys.data);
        param_text_free(&keys);
    }
}

/* The value of an observable's own key; "" where there is no such key. */
static const char *own_key(const observable *o, const named_measure *m, const char *name, char text[PARAM_TEXT_SIZE])
{
    const param *key = o->own ? param_find(o->own, name) : NULL;
    text[0] = 0;
    if (key) param_format(key, &m->p, text, PARAM_TEXT_SIZE);
    return text;
}

/* True if the observable has this choice among its own keys, and it is yes. */
static int own_yes(const observable *o, const named_measure *m, const char *name)
{
    const param *key = o->own ? param_find(o->own, name) : NULL;
    return key && *(const int *)(const void *)((const char *)&m->p + key->offset) == PARAM_YES;
}

/* Estimates by noise depend on solves that are not to a tolerance, and on the file of eigenvectors whose part is known
 * exactly. */
static void add_noise(param_text *text, const parameters *p, const named_measure *m, const named_settings *solver)
{
    const observable *o = observable_of(&m->p);
    char value[PARAM_TEXT_SIZE];
    add_rough(text, "rough_", parameters_attempt(p, own_key(o, m, "rough_solver", value), 0));
    if (own_yes(o, m, "low_modes")) add(text, "solver", "eigenvectors", &solver->p);
}

/* Averages over low modes depend on the file of eigenvectors, and on how many are taken. */
static void add_low_modes(param_text *text, const parameters *p, const named_measure *m)
{
    const char *name;
    if (!own_yes(observable_of(&m->p), m, "low_modes")) return;
    for (int i = 0; (name = measure_propagator(&m->p, i)); i++) {
        const named_settings *solver =
            parameters_attempt(p, parameters_propagator_solver(p, &parameters_propagator(p, name)->p), 0);
        param_text keys = {0};
        add(&keys, "solver", "eigenvectors", &solver->p);
        add(&keys, "solver", "low_modes", &solver->p);
        add_prefixed(text, i == 0 ? "" : "second.", keys.data);
        param_text_free(&keys);
    }
}

/* An observable's own keys. */
static void add_own(param_text *text, const observable *o, const measure_params *m)
{
    for (int i = 0; i < o->own->count; i++)
        if (!is_later(o->later, &o->own->table[i], m)) add_one(text, o->own, &o->own->table[i], m);
}

param_text identity_of_measurement(const parameters *p, const named_measure *m)
{
    const observable *o = observable_of(&m->p);
    param_text text = {0};
    add(&text, "measure", "kind", &m->p);
    if (o->own) add_own(&text, o, &m->p);
    if (m->p.links[0]) add_links(&text, parameters_links(p, m->p.links));
    add_propagators(&text, p, m);
    add_positions(&text, p, m);
    add_low_modes(&text, p, m);
    if (o->propagators || o->quarks == MEASURE_NO_QUARKS) return text;
    const quark_params *f = &p->quarks[parameters_quark(p, m->p.quark)].p;
    const named_settings *solver = parameters_attempt(p, m->p.solver[0] ? m->p.solver : f->solver, 0);
    add_quark(&text, p, f);
    add(&text, "solver", "tolerance", &solver->p);
    if (o->from_source) add_source(&text, p, m->p.source);
    add_noise(&text, p, m, solver);
    if (m->p.error_estimate == PARAM_YES) add(&text, "measure", "error_estimate", &m->p);
    if (observable_has(o, "vectors")) add(&text, "run", "seed", &p->run);
    return text;
}

param_text identity_of_solve(const parameters *p, const named_quark *f, const named_settings *solver,
                             const char *source)
{
    const solver_type *type = solver_type_of(&solver->p);
    param_text text = {0};
    add_quark(&text, p, &f->p);
    add_all(&text, solver_section(0), &solver->p);
    if (type->own) add_all(&text, type->own, &solver->p);
    param_text_add(&text, "source = %s\n", source);
    if (!strcmp(source, "random")) add(&text, "run", "seed", &p->run);
    return text;
}
