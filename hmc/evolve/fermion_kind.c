#include "hmc/evolve/fermion_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/staggered.h"
#include "operators/staggered.h"
#include "operators/wilson.h"

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

int fermion_kind_has(const fermion_kind *kind, const char *key)
{
    return param_has_word(kind->keys, key) || (kind->own && param_find(kind->own, key));
}

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
    return (action_solvers){.heat_bath = simulation_solver(s, f->heat_bath_solver),
                            .force = simulation_solver(s, f->solver),
                            .action = simulation_solver(s, f->action_solver),
                            .reversal = simulation_solver(s, f->reversal_solver),
                            .all = s->solvers,
                            .n = s->p->nsolvers};
}

rational_settings fermion_rational_settings(const fermion_params *f)
{
    return (rational_settings){.pseudofermions = f->pseudofermions,
                               .approximation = f->approximation,
                               .force_approximation = f->force_approximation,
                               .low = f->spectrum_low,
                               .high = f->spectrum_high,
                               .widen = !strcmp(f->range_breach, "widen")};
}

void fermion_add_rational(simulation *s, int number, rational_settings settings)
{
    const named_fermion *f = &s->p->fermions[number];
    settings.quark = s->quarks[number];
    settings.solvers = fermion_solvers(s, &f->p);
    simulation_add(s, rational_action_create(f->name, &settings));
}

static parity parity_of(const fermion_params *f)
{
    return strcmp(f->parity, "even") ? PARITY_ODD : PARITY_EVEN;
}

fermion *fermion_of_wilson(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    const wilson_settings s = {.mass = f->mass,
                               .c_sw = f->c_sw,
                               .form = strcmp(f->schur, "symmetric") ? SCHUR_ASYMMETRIC : SCHUR_SYMMETRIC,
                               .p = parity_of(f),
                               .storage = strcmp(f->link_reals, "18") ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS};
    (void)others, (void)n; /* it shares nothing */
    return wilson_fermion(links, &s);
}

fermion *fermion_of_staggered(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    const staggered_fermion_settings s = {
        .smearing = {fermion_links_of(f)->kind, f->u0, f->naik_epsilon, atoi(f->long_reals)},
        .mass = f->mass,
        .p = parity_of(f)};
    return staggered_fermion(links, &s, others, n);
}

const fermion_links *fermion_links_of(const fermion_params *f)
{
    static const fermion_links kinds[] = {{"naive", STAGGERED_NAIVE, 0, 0, 0},
                                          {"fat7", STAGGERED_FAT7, 1, 0, 1},
                                          {"asqtad", STAGGERED_ASQTAD, 1, 1, 1},
                                          {"hisq", STAGGERED_HISQ, 2, 1, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kinds[i].name, f->links)) return &kinds[i];
    REQUIRE(0, "no links %s", f->links);
    return NULL;
}

int fermion_same_smearing(const fermion_params *f, const fermion_params *g)
{
    return fermion_kind_find(f->kind)->staggered && fermion_kind_find(g->kind)->staggered &&
           !strcmp(f->links, g->links) && f->u0 == g->u0;
}

double fermion_staggered_hop_flops(const fermion_params *f)
{
    return fermion_links_of(f)->long_links ? 1146 : 570;
}

double fermion_smearing_flops(const fermion_params *f)
{
    return fermion_links_of(f)->levels * staggered_smearing_flops();
}
