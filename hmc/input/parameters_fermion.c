/* Sections [fermion.NAME]: their instances and parts, and what they say of each other and of levels. */
#include <stdio.h>
#include <string.h>

#include "hmc/evolve/parts.h"
#include "hmc/input/parameters.h"
#include "kernels/base/error.h"

static int kind_has(const char *kind, const char *key)
{
    return param_find(fermion_section(0), key) || fermion_kind_has(fermion_kind_find(kind), key);
}

static void check_keys(ini_input *in, const named_fermion *f)
{
    char has[512], rest[640];
    fermion_kind_keys(fermion_kind_find(f->p.kind), has, sizeof has);
    snprintf(rest, sizeof rest, "; beside those of every kind it has %s", has);
    parameters_refuse_keys(in, "fermion", f->name, "kind", f->p.kind, kind_has, rest);
}

/* A key that is not given names what another does. */
static void inherit(char *key, const char *other)
{
    if (!key[0]) memcpy(key, other, PARAM_STRING_SIZE);
}

/* Part after part, so that what a quark is comes before what other sections make of it. */
static void complete(const ini_input *in, parameters *p)
{
    for (int k = 0; k < FERMION_MOST_PARTS; k++)
        for (int i = 0; i < p->nfermions; i++) {
            const fermion_part *const *parts = fermion_kind_find(p->fermions[i].p.kind)->parts;
            int n = 0;
            while (parts[n]) n++;
            if (k < n && parts[k]->complete) parts[k]->complete(in, p, &p->fermions[i]);
        }
    for (int i = 0; i < p->nfermions; i++) {
        const fermion_kind *kind = fermion_kind_find(p->fermions[i].p.kind);
        if (kind->complete) kind->complete(in, p, &p->fermions[i]);
    }
}

void fermion_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nfermions = parameters_instances(in, "fermion", names);
    for (int i = 0; i < p->nfermions; i++) {
        named_fermion *f = &p->fermions[i];
        snprintf(f->name, sizeof f->name, "%s", names[i]);
        ini_fill(in, fermion_section(0), names[i], &f->p);
        if (!strcmp(names[i], "gauge"))
            user_error("%s: a fermion may not be called gauge", ini_where(in, "fermion", names[i], ""));
        const fermion_kind *kind = fermion_kind_find(f->p.kind);
        check_keys(in, f);
        inherit(f->p.action_solver, f->p.solver);
        inherit(f->p.reversal_solver, f->p.solver);
        for (int k = 0; kind->parts[k]; k++)
            ini_fill(in, &kind->parts[k]->keys, names[i], fermion_keys(&f->p, kind->parts[k]));
    }
    complete(in, p);
}

/* Solves with shifts are made by conjugate gradients. */
static void check_shifted(const ini_input *in, const parameters *p, const named_fermion *f)
{
    const char *key, *first;
    if (!fermion_kind_find(f->p.kind)->shifts || fermion_measured_only(&f->p)) return;
    for (int k = 0; (key = parameters_solver_key(&f->p, k, &first)); k++) {
        const named_settings *s;
        for (int i = 0; (s = parameters_attempt(p, first, i)); i++)
            if (strcmp(s->p.type, "cg"))
                user_error(
                    "%s: [fermion.%s] kind = %s solves with shifts, by conjugate gradients, but [solver.%s] is of "
                    "type %s; its %s and their fallbacks have to be of type cg",
                    ini_where(in, "fermion", f->name, key), f->name, f->p.kind, s->name, s->p.type, key);
    }
}

/* ---- quarks that are only measured ---- */

int fermion_measured_only(const fermion_params *f)
{
    return !strcmp(f->measured_only, "yes");
}

static void refuse_of_action(const ini_input *in, const named_fermion *f, const char *key)
{
    if (ini_given(in, "fermion", f->name, key))
        user_error("%s: %s is a key of actions, and [fermion.%s] has measured_only = yes; leave one of them out",
                   ini_where(in, "fermion", f->name, key), key, f->name);
}

/* Keys that only an action has are not ignored. */
static void check_measured_only(const ini_input *in, const named_fermion *f)
{
    const fermion_part *const *parts = fermion_kind_find(f->p.kind)->parts;
    if (!fermion_measured_only(&f->p)) return;
    refuse_of_action(in, f, "reversal_solver");
    for (int k = 0; parts[k]; k++)
        for (int i = 0; parts[k]->of_action && i < parts[k]->keys.count; i++)
            refuse_of_action(in, f, parts[k]->keys.table[i].name);
}

void fermion_parameters_levels(const ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *f = &p->fermions[i];
        char determinant[80];
        snprintf(determinant, sizeof determinant, "%s.det", f->name);
        const int listed = parameters_on_level(p, f->name);
        if (fermion_measured_only(&f->p) && (listed || parameters_on_level(p, determinant)))
            user_error("%s: [fermion.%s] has measured_only = yes, but %s stands on a level; leave one of them out",
                       ini_where(in, "fermion", f->name, "measured_only"), f->name, listed ? f->name : determinant);
        if (!fermion_measured_only(&f->p) && !listed)
            user_error("%s: the action %s stands on no level; add it to actions of an [integrator.N], or set "
                       "measured_only = yes in [fermion.%s]",
                       ini_where(in, "integrator", "0", "actions"), f->name, f->name);
        const fermion_part *const *parts = fermion_kind_find(f->p.kind)->parts;
        for (int k = 0; listed && parts[k]; k++)
            if (parts[k]->check_action) parts[k]->check_action(in, p, f);
    }
}

/* ---- the determinant of all sections together ---- */

/* Sections whose operators differ by the mass alone, if at all. */
static int same_operator(const fermion_params *a, const fermion_params *b)
{
    const fermion_kind *of_a = fermion_kind_find(a->kind), *of_b = fermion_kind_find(b->kind);
    return of_a->quark == of_b->quark && of_a->same_operator(a, b);
}

/* The factors of the section's determinant, by mass. */
static int factors_of(const fermion_params *f, const mass_factor **factors, mass_factor *one)
{
    const fermion_kind *kind = fermion_kind_find(f->kind);
    int n = 1;
    *one = (mass_factor){f->mass, kind->flavours ? kind->flavours : rational_keys_of(f)->flavours};
    *factors = kind->factors ? kind->factors(f, &n) : one;
    return n;
}

static int add_flavours(flavours *sums, int n, const named_fermion *f, double mass, int number)
{
    int i = 0;
    while (i < n && !(sums[i].mass == mass && same_operator(&sums[i].of->p, &f->p))) i++;
    if (i == n) sums[n++] = (flavours){f, mass, 0};
    sums[i].number += number;
    if (number < 0) sums[i].of = f; /* to be blamed, if nothing makes it good */
    return n;
}

int fermion_parameters_flavours(const parameters *p, flavours sums[MAX_FLAVOURS])
{
    int n = 0, left = 0;
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *f = &p->fermions[i];
        if (fermion_measured_only(&f->p)) continue;
        const mass_factor *factors;
        mass_factor one;
        const int nfactors = factors_of(&f->p, &factors, &one);
        for (int k = 0; k < nfactors; k++) n = add_flavours(sums, n, f, factors[k].mass, factors[k].flavours);
        if (ratio_of(&f->p)[0]) {
            const named_fermion *over = &p->fermions[simulation_fermion(p, ratio_of(&f->p))];
            n = add_flavours(sums, n, over, over->p.mass, -factors[0].flavours);
        }
    }
    for (int i = 0; i < n; i++)
        if (sums[i].number != 0) sums[left++] = sums[i];
    return left;
}

/* Sections and the determinants of their clover terms, beside the gauge action. */
static int count_actions(const parameters *p)
{
    int n = 1;
    for (int i = 0; i < p->nfermions; i++) {
        const fermion_params *f = &p->fermions[i].p;
        const fermion_kind *kind = fermion_kind_find(f->kind);
        if (!fermion_measured_only(f)) n += kind->log_det && kind->log_det(f) ? 2 : 1;
    }
    return n;
}

void fermion_parameters_together(const ini_input *in, const parameters *p)
{
    flavours sums[MAX_FLAVOURS];
    const int n = fermion_parameters_flavours(p, sums);
    if (count_actions(p) > MAX_ACTIONS)
        user_error(
            "%s: the gauge action, sections [fermion.NAME] and determinants of clover terms are %d actions; a run "
            "has at most %d",
            ini_where(in, "fermion", p->fermions[p->nfermions - 1].name, ""), count_actions(p), MAX_ACTIONS);
    for (int i = 0; i < n; i++)
        if (sums[i].number < 0)
            user_error("%s: all sections together have %d flavours of mass %g with the links of [fermion.%s]; a factor "
                       "that `with` divides by has to be an action too, of the same mass, links, u0 and naik_epsilon",
                       ini_where(in, "fermion", sums[i].of->name, "with"), sums[i].number, sums[i].mass,
                       sums[i].of->name);
}

void fermion_parameters_check(const ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *f = &p->fermions[i];
        const fermion_part *const *parts = fermion_kind_find(f->p.kind)->parts;
        check_measured_only(in, f);
        for (int k = 0; parts[k]; k++)
            if (parts[k]->check) parts[k]->check(in, p, f);
        check_shifted(in, p, f);
    }
}
