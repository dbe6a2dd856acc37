/* Parts of pseudofermion actions: the solver of the heat bath, ratios of determinants, guesses of solutions; and the
 * storage of links in their operators. */
#include <string.h>

#include "hmc/evolve/parts.h"
#include "kernels/base/error.h"

/* ---- the heat bath ---- */

typedef struct {
    char solver[PARAM_STRING_SIZE];
} heat_bath_keys;

static const param heat_bath_table[] = {
    {"heat_bath_solver", PARAM_STRING, offsetof(heat_bath_keys, solver), "", NULL, NULL,
     "[solver.NAME] for the heat bath, which has a solve for rational functions and for a ratio; empty: "
     "the accept step's",
     0},
};

static void complete_heat_bath(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    heat_bath_keys *k = fermion_keys(&f->p, &heat_bath_part);
    (void)in;
    if (!k->solver[0]) memcpy(k->solver, f->p.action_solver, sizeof k->solver);
}

const fermion_part heat_bath_part = {.keys = PARAM_PART("fermion", "heat bath", heat_bath_keys, heat_bath_table),
                                     .of_action = 1,
                                     .complete = complete_heat_bath};

const char *heat_bath_solver_of(const fermion_params *f)
{
    const heat_bath_keys *k = fermion_keys(f, &heat_bath_part);
    return k ? k->solver : f->action_solver;
}

/* ---- ratios ---- */

typedef struct {
    char to[PARAM_STRING_SIZE];
} ratio_keys;

static const param ratio_table[] = {
    {"ratio_to", PARAM_STRING, offsetof(ratio_keys, to), "", NULL, NULL,
     "[fermion.NAME] of a heavier mass: the section then stands for det(M^+ M) / det(W^+ W), W that of NAME, "
     "which has its own section for the rest; empty: det(M^+ M), of Moebius quarks over that of mass 1",
     1},
};

const char *ratio_of(const fermion_params *f)
{
    const ratio_keys *k = fermion_keys(f, &ratio_part);
    return k ? k->to : "";
}

int fermion_is_ratio(const fermion_params *f)
{
    return ratio_of(f)[0] || fermion_kind_find(f->kind)->regulated;
}

fermion *fermion_denominator(const simulation *s, int number)
{
    const char *to = ratio_of(&s->p->fermions[number].p);
    return to[0] ? s->quarks[simulation_fermion(s->p, to)] : s->quarks[number]->regulator;
}

/* Operators that act on the same vectors. */
static void check_operators(const char *where, const named_fermion *f, const named_fermion *over)
{
    const fermion_kind *kind = fermion_kind_find(f->p.kind), *other = fermion_kind_find(over->p.kind);
    char mine[256], its[256];
    if (!other->ratio_keys)
        user_error("%s: [fermion.%s] is a ratio to [fermion.%s] of kind = %s, which stands for another power of its "
                   "determinant",
                   where, f->name, over->name, over->p.kind);
    if (kind != other)
        user_error("%s: [fermion.%s] of kind = %s is a ratio to [fermion.%s] of kind = %s; both have to be of one kind",
                   where, f->name, f->p.kind, over->name, over->p.kind);
    kind->ratio_keys(&f->p, mine, sizeof mine);
    kind->ratio_keys(&over->p, its, sizeof its);
    if (strcmp(mine, its))
        user_error("%s: [fermion.%s] (%s) is a ratio to [fermion.%s] (%s); all of these have to be the same", where,
                   f->name, mine, over->name, its);
    if (fermion_measured_only(&over->p))
        user_error("%s: [fermion.%s] is a ratio to [fermion.%s], which has measured_only = yes and makes no action",
                   where, f->name, over->name);
}

/* Ratios telescope: each section is the denominator of one other at most, and none of itself. The heat bath of one
 * without a denominator has no solve. */
static void check_ratio(const ini_input *in, const parameters *p, const named_fermion *f)
{
    const char *names[MAX_NAMED], *const where = ini_where(in, "fermion", f->name, "ratio_to");
    const named_fermion *at = f;
    for (int i = 0; i < p->nfermions; i++) names[i] = p->fermions[i].name;
    if (!fermion_is_ratio(&f->p) && ini_given(in, "fermion", f->name, "heat_bath_solver"))
        user_error("%s: heat_bath_solver is given, but the heat bath of [fermion.%s] has no solve without ratio_to; "
                   "leave it out",
                   ini_where(in, "fermion", f->name, "heat_bath_solver"), f->name);
    for (int k = 0; k < p->nfermions && ratio_of(&at->p)[0]; k++) {
        parameters_check_name(in, "fermion", at->name, "ratio_to", ratio_of(&at->p), names, p->nfermions,
                              "[fermion.NAME]");
        at = &p->fermions[simulation_fermion(p, ratio_of(&at->p))];
        if (k == 0) check_operators(where, f, at);
        if (at == f)
            user_error("%s: [fermion.%s] is a ratio to itself, by its key ratio_to; the heaviest of a chain has none",
                       where, f->name);
    }
    for (const named_fermion *other = p->fermions; other < f && ratio_of(&f->p)[0]; other++)
        if (!strcmp(ratio_of(&other->p), ratio_of(&f->p)))
            user_error("%s: [fermion.%s] and [fermion.%s] both are ratios to %s, whose own section cancels one "
                       "denominator, not two; give one of them another ratio_to",
                       where, other->name, f->name, ratio_of(&f->p));
}

const fermion_part ratio_part = {
    .keys = PARAM_PART("fermion", "ratios", ratio_keys, ratio_table), .of_action = 1, .check = check_ratio};

/* ---- guesses ---- */

typedef struct {
    int vectors;
} predictor_keys;

static const param predictor_table[] = {
    {"predictor", PARAM_INT, offsetof(predictor_keys, vectors), "0", "[0,32]", "vectors",
     "the last solutions of the trajectory from which the next force's is guessed; more than 0 makes it "
     "reversible only to the tolerance of the solver",
     0},
};

const fermion_part predictor_part = {.keys = PARAM_PART("fermion", "guesses", predictor_keys, predictor_table),
                                     .of_action = 1};

int predictor_of(const fermion_params *f)
{
    const predictor_keys *k = fermion_keys(f, &predictor_part);
    return k ? k->vectors : 0;
}

/* ---- the action ---- */

void fermion_add_pseudofermion(simulation *s, int number)
{
    const named_fermion *f = &s->p->fermions[number];
    const pseudofermion_settings settings = {.quark = s->quarks[number],
                                             .over = fermion_denominator(s, number),
                                             .solvers = fermion_solvers(s, &f->p),
                                             .predictor = predictor_of(&f->p)};
    simulation_add(s, pseudofermion_action_create(f->name, &settings));
}

/* ---- links ---- */

typedef struct {
    char reals[PARAM_CHOICE_SIZE];
} link_reals_keys;

static const param link_reals_table[] = {
    {"link_reals", PARAM_CHOICE, offsetof(link_reals_keys, reals), "12", "18|12", "reals",
     "storage of links in solvers: whole, or two rows with the third computed, which moves less", 0},
};

const fermion_part link_reals_part = {.keys = PARAM_PART("fermion", "links", link_reals_keys, link_reals_table)};

field_kind link_storage_of(const fermion_params *f)
{
    const link_reals_keys *k = fermion_keys(f, &link_reals_part);
    return k && strcmp(k->reals, "18") ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
}
