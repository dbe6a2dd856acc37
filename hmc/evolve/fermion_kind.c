#include "hmc/evolve/fermion_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/evolve/parts.h"
#include "kernels/base/error.h"

#define FERMION(kind) extern const fermion_kind fermion_##kind;
#include "hmc/evolve/fermions.def"
#undef FERMION

static const fermion_kind *const all[] = {
#define FERMION(kind) &fermion_##kind,
#include "hmc/evolve/fermions.def"
#undef FERMION
    NULL};

const fermion_kind *fermion_kind_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

const fermion_kind *fermion_kind_find(const char *name)
{
    for (int i = 0; all[i]; i++)
        if (!strcmp(all[i]->name, name)) return all[i];
    REQUIRE(0, "no kind of fermion %s", name);
    return NULL;
}

/* ---- keys ---- */

#define AT(member) offsetof(fermion_params, member)

static char kind_names[256], kind_help[1024];

static const param keys[] = {
    {"kind", PARAM_CHOICE, AT(kind), "wilson_clover", kind_names, NULL, kind_help, 1},
    {"mass", PARAM_REAL, AT(mass), "0", "[-3.5,1e6]", "1/a",
     "bare mass m; one of mass and kappa has to be given; -3.5 is kappa = 1. M = m + D / 2 for staggered quarks, "
     "with m > 0",
     1},
    {"parity", PARAM_CHOICE, AT(parity), "odd", "even|odd", NULL, "sites on which the pseudofermion lives", 0},
    {"solver", PARAM_STRING, AT(solver), NULL, NULL, NULL, "[solver.NAME] for the force", 0},
    {"action_solver", PARAM_STRING, AT(action_solver), "", NULL, NULL,
     "[solver.NAME] for the accept step; empty: the force's", 0},
    {"reversal_solver", PARAM_STRING, AT(reversal_solver), "", NULL, NULL,
     "[solver.NAME] for the force where plaq verify checks that trajectories are reversible; empty: the force's", 0},
    {"measured_only", PARAM_CHOICE, AT(measured_only), "no", "no|yes", NULL,
     "yes: no action and on no level, but a quark for [measure.NAME] sections, solved by action_solver or solver; "
     "may be added to an ensemble that exists",
     1},
};

static const param_section section = {"fermion",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(fermion_params),
                                      "a fermion action, or a quark that is only measured; none for pure gauge",
                                      NULL};

static param_parts parts;

static void fill_parts(void)
{
    if (parts.n) return;
    for (int i = 0; all[i]; i++) {
        param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, all[i]->name, all[i]->help);
        for (int k = 0; all[i]->parts[k]; k++) param_parts_add(&parts, &all[i]->parts[k]->keys, all[i]->name);
    }
}

const param_section *fermion_section(int number)
{
    fill_parts();
    return number == 0 ? &section : number <= parts.n ? &parts.sections[number - 1] : NULL;
}

/* Structs of the parts follow each other in the order of the kind. */
void *fermion_keys(const fermion_params *f, const fermion_part *part)
{
    const fermion_kind *kind = fermion_kind_find(f->kind);
    size_t at = 0;
    for (int k = 0; kind->parts[k]; k++) {
        const size_t size = (kind->parts[k]->keys.size + 7) / 8 * 8;
        REQUIRE(at + size <= sizeof f->parts.bytes, "no room for the keys of %s", kind->name);
        if (kind->parts[k] == part) return (void *)(f->parts.bytes + at);
        at += size;
    }
    return NULL;
}

int fermion_kind_has(const fermion_kind *kind, const char *key)
{
    for (int k = 0; kind->parts[k]; k++)
        if (param_find(&kind->parts[k]->keys, key)) return 1;
    return 0;
}

void fermion_kind_keys(const fermion_kind *kind, char *text, size_t size)
{
    text[0] = 0;
    for (int k = 0; kind->parts[k]; k++)
        for (int i = 0; i < kind->parts[k]->keys.count; i++)
            param_append(text, size, " ", kind->parts[k]->keys.table[i].name);
}

void fermion_need_mass(const ini_input *in, const named_fermion *f)
{
    if (!ini_given(in, "fermion", f->name, "mass"))
        user_error("%s: [fermion.%s] has no mass", ini_where(in, "fermion", f->name, ""), f->name);
}

parity fermion_parity(const fermion_params *f)
{
    return strcmp(f->parity, "even") ? PARITY_ODD : PARITY_EVEN;
}

/* ---- actions ---- */

void fermion_add_determinant(simulation *s, int number, fermion *over, int flavours)
{
    const named_fermion *f = &s->p->fermions[number];
    char name[80];
    if (!fermion_has_log_det(s->quarks[number])) return;
    snprintf(name, sizeof name, "%s.det", f->name);
    simulation_add(s, determinant_action_create(name, s->quarks[number], over, flavours));
}

action_solvers fermion_solvers(const simulation *s, const fermion_params *f)
{
    return (action_solvers){.heat_bath = simulation_solver(s, heat_bath_solver_of(f)),
                            .force = simulation_solver(s, f->solver),
                            .action = simulation_solver(s, f->action_solver),
                            .reversal = simulation_solver(s, f->reversal_solver),
                            .all = s->solvers,
                            .n = s->p->nsolvers};
}
