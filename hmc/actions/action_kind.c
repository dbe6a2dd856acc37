#include "hmc/actions/action_kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/input/parts.h"
#include "kernels/base/error.h"

#define ACTION(kind) extern const action_kind action_kind_##kind;
#include "hmc/actions/actions.def"
#undef ACTION

static const action_kind *const all[] = {
#define ACTION(kind) &action_kind_##kind,
#include "hmc/actions/actions.def"
#undef ACTION
    NULL};

const action_kind *action_kind_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

/* ---- keys ---- */

#define AT(member) offsetof(action_params, member)
#define ONE_OR_EACH "; one for all factors of a chain, or one for each"

static char kind_names[256], kind_help[1024];

static const param keys[] = {
    {"kind", PARAM_CHOICE, AT(kind), NULL, kind_names, NULL, kind_help, 1},
    {"quark", PARAM_NAME, AT(quark), NULL, "quark", NULL, "[quark.NAME] whose determinant it is", 1},
    {"solver", PARAM_NAMES, AT(solvers[USE_FORCE]), NULL, "solver", NULL, "[solver.NAME] for the force" ONE_OR_EACH, 0},
    {"action_solver", PARAM_NAMES, AT(solvers[USE_ACTION]), "", "solver", NULL,
     "[solver.NAME] for the accept step; empty: the force's", 0},
    {"heat_bath_solver", PARAM_NAMES, AT(solvers[USE_HEAT_BATH]), "", "solver", NULL,
     "[solver.NAME] for the heat bath, which has a solve for rational functions and for a ratio; empty: the accept "
     "step's",
     0},
    {"reversal_solver", PARAM_NAMES, AT(solvers[USE_REVERSAL]), "", "solver", NULL,
     "[solver.NAME] for the force where plaq verify checks that trajectories are reversible; empty: the force's", 0},
};

static const param_section section = {"action",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(action_params),
                                      "the determinant of a quark as a part of the action; none for pure gauge",
                                      NULL};

static param_parts parts;

const param_section *action_section(int number)
{
    for (int i = 0; all[i] && !kind_names[0]; i++)
        for (int j = 0; all[j]; j++) {
            param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, all[j]->name, all[j]->help);
            for (int k = 0; all[j]->parts[k]; k++) param_parts_add(&parts, all[j]->parts[k], all[j]->name);
        }
    return number == 0 ? &section : number <= parts.n ? &parts.sections[number - 1] : NULL;
}

void *action_keys(const action_params *a, const param_section *part)
{
    return parts_struct(action_kind_of(a)->parts, a->parts.bytes, sizeof a->parts.bytes, part);
}

const char *action_solver_key(int use)
{
    return keys[2 + use].name;
}

/* ---- chains of masses ---- */

typedef struct {
    char masses[PARAM_WORDS_SIZE], kappas[PARAM_WORDS_SIZE], mus[PARAM_WORDS_SIZE];
    int n; /* heavier masses */
    int ratios_only;
    double heavier[MAX_CHAIN];
} chain_keys;

static const param chain_table[] = {
    {"masses", PARAM_WORDS, offsetof(chain_keys, masses), "", NULL, NULL,
     "heavier masses m1 m2 ..., rising: the determinant is a product of ratios, NAME.0 of the quark's mass over m1, "
     "NAME.1 of m1 over m2, and so on, which levels name; the last one is over no mass, or a Pauli-Villars field",
     1},
    {"kappas", PARAM_WORDS, offsetof(chain_keys, kappas), "", NULL, NULL,
     "the same as hopping parameters, falling, in place of masses", 1},
    {"mus", PARAM_WORDS, offsetof(chain_keys, mus), "", NULL, NULL,
     "the same with twisted masses in place of masses, rising above the size of the quark's mu, whose sign they get",
     1},
    {"ratios_only", PARAM_BOOL, offsetof(chain_keys, ratios_only), "no", NULL, NULL,
     "yes: the last of the chain only divides, and is no factor of its own: with a twisted mass and a Wilson quark of "
     "mass -M5 "
     "the dislocation-suppressing ratio (DSDR) of domain wall quarks",
     0},
};

const param_section chain_part = PARAM_PART("action", "chains of masses", chain_keys, chain_table);

int chain_of(const action_params *a, const double **masses)
{
    const chain_keys *k = action_keys(a, &chain_part);
    *masses = k ? k->heavier : NULL;
    return k ? k->n : 0;
}

int chain_is_twisted(const action_params *a)
{
    const chain_keys *k = action_keys(a, &chain_part);
    return k && k->mus[0];
}

int chain_of_ratios(const action_params *a)
{
    const chain_keys *k = action_keys(a, &chain_part);
    return k && k->ratios_only;
}

/* The key that gives the chain, and its words. */
static const char *chain_key(const ini_input *in, const named_action *a, const chain_keys *k, const char **text)
{
    const char *const keys[] = {"masses", "kappas", "mus"}, *const texts[] = {k->masses, k->kappas, k->mus};
    int given = 0, n = 0;
    for (int i = 0; i < 3; i++)
        if (texts[i][0]) {
            if (n++)
                user_error("%s: both %s and %s are given for [action.%s]; give one of them",
                           ini_where(in, "action", a->name, keys[i]), keys[given], keys[i], a->name);
            given = i;
        }
    *text = texts[given];
    return keys[given];
}

/* A chain of that key is what the kind of the quark can have. */
static void check_chain(const named_action *a, const named_quark *q, const char *where, const char *key,
                        const char *text)
{
    const quark_kind *kind = quark_kind_of(&q->p);
    if (!strcmp(key, "kappas") && !quark_kind_has(kind, "kappa"))
        user_error("%s: kappas = %s of [action.%s]: a quark of kind = %s has no kappa; give masses", where, text,
                   a->name, kind->name);
    if (!strcmp(key, "mus") && !kind->twisted_mass)
        user_error("%s: mus = %s of [action.%s]: a quark of kind = %s has no twisted mass; give masses", where, text,
                   a->name, kind->name);
    if (text[0] && !kind->ratios)
        user_error("%s: %s = %s of [action.%s]: a quark of kind = %s has no ratios of determinants", where, key, text,
                   a->name, kind->name);
}

void chain_complete(const ini_input *in, named_action *a, const named_quark *q)
{
    chain_keys *k = action_keys(&a->p, &chain_part);
    const char *text, *const key = chain_key(in, a, k, &text), *const where = ini_where(in, "action", a->name, key);
    const int by_kappa = k->kappas[0] != 0;
    char word[PARAM_WORDS_SIZE];
    check_chain(a, q, where, key, text);
    double last = k->mus[0] ? fabs(*quark_kind_of(&q->p)->twisted_mass(&q->p)) : q->p.mass;
    for (k->n = 0; param_word(text, k->n, word, sizeof word); k->n++) {
        double x;
        const int bad = param_real(word, &x) || (by_kappa && !(x > 0));
        const double mass = bad ? NAN : by_kappa ? 1 / (2 * x) - 4 : x;
        if (bad || !(mass > last))
            user_error("%s: '%s' of %s = %s of [action.%s] is not a number %s the one before it, %.8g", where, word,
                       key, text, a->name, by_kappa ? "below" : "above", by_kappa ? 1 / (2 * last + 8) : last);
        if (k->n == MAX_CHAIN)
            user_error("%s: %s of [action.%s] has more than %d numbers", where, key, a->name, MAX_CHAIN);
        k->heavier[k->n] = last = mass;
    }
    if (!k->ratios_only) return;
    const quark_kind *kind = quark_kind_of(&q->p);
    if (k->n == 0)
        user_error("%s: ratios_only = yes of [action.%s] needs masses, kappas or mus, of which the last divides",
                   ini_where(in, "action", a->name, "ratios_only"), a->name);
    if (kind->log_det && kind->log_det(&q->p))
        user_error(
            "%s: ratios_only = yes of [action.%s] takes a quark without a clover term, whose determinant would have "
            "to be divided, too; set c_sw = 0 in [quark.%s]",
            ini_where(in, "action", a->name, "ratios_only"), a->name, q->name);
}

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

const param_section predictor_part = PARAM_PART("action", "guesses", predictor_keys, predictor_table);

int predictor_of(const action_params *a)
{
    const predictor_keys *k = action_keys(a, &predictor_part);
    return k ? k->vectors : 0;
}

/* ---- actions ---- */

int action_is_ratio(const action_term *t)
{
    return !isnan(t->over) || quark_kind_of(&t->quark->p)->regulated;
}

fermion *action_quark(const action_scene *s, const action_term *t)
{
    return quark_set_get(s->quarks, t->light, t->mass);
}

fermion *action_over(const action_scene *s, const action_term *t)
{
    return isnan(t->over) ? action_quark(s, t)->regulator : quark_set_get(s->quarks, t->heavy, t->over);
}

action_solvers action_solvers_of(const action_scene *s, const action_term *t)
{
    const named_solver *by[SOLVER_USES];
    for (int use = 0; use < SOLVER_USES; use++) {
        by[use] = fallback_find(s->solvers, s->nsolvers, t->solvers[use]);
        REQUIRE(by[use], "no solver %s", t->solvers[use]);
    }
    return (action_solvers){.heat_bath = by[USE_HEAT_BATH],
                            .force = by[USE_FORCE],
                            .action = by[USE_ACTION],
                            .reversal = by[USE_REVERSAL],
                            .all = s->solvers,
                            .n = s->nsolvers,
                            .family = s->family};
}

int action_has_det(const action_term *t)
{
    const quark_kind *kind = quark_kind_of(&t->quark->p);
    return kind->log_det && kind->log_det(&t->quark->p);
}

action *action_create_det(const action_scene *s, const action_term *t)
{
    mass_factor factors[MAX_FACTORS];
    char name[80];
    action_kind_of(&t->action->p)->factors(t->action, t->quark, factors);
    snprintf(name, sizeof name, "%s.det", t->action->name);
    return determinant_action_create(name, quark_set_get(s->quarks, t->quark, t->quark->p.mass), factors[0].flavours);
}
