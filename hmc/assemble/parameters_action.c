/* Sections [action.NAME]: their instances and parts, the terms that they make, and what they say of each other and of
 * levels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/actions/action_kind.h"
#include "hmc/assemble/parameters.h"
#include "hmc/input/parts.h"
#include "hmc/quarks/quark_links.h"
#include "kernels/base/error.h"

static int kind_has(const void *action, const char *key)
{
    return param_find(action_section(0), key) || parts_have(action_kind_of(action)->parts, key);
}

/* A key that is not given names what another does. */
static void inherit(char *key, const char *other)
{
    if (!key[0]) memcpy(key, other, PARAM_WORDS_SIZE);
}

void action_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nactions = names_of(in, "action", names);
    for (int i = 0; i < p->nactions; i++) {
        named_action *a = &p->actions[i];
        snprintf(a->name, sizeof a->name, "%s", names[i]);
        ini_fill(in, action_section(0), names[i], &a->p);
        if (!strcmp(names[i], "gauge"))
            user_error("%s: an action of a quark may not be called gauge", ini_where(in, "action", names[i], ""));
        parameters_refuse_keys(in, action_section(0), a->name, &a->p, kind_has, "");
        const param_section *const *parts = action_kind_of(&a->p)->parts;
        for (int k = 0; parts[k]; k++) ini_fill(in, parts[k], names[i], action_keys(&a->p, parts[k]));
        inherit(a->p.solvers[USE_ACTION], a->p.solvers[USE_FORCE]);
        inherit(a->p.solvers[USE_REVERSAL], a->p.solvers[USE_FORCE]);
        inherit(a->p.solvers[USE_HEAT_BATH], a->p.solvers[USE_ACTION]);
    }
}

/* ---- terms ---- */

const action_term *parameters_term(const parameters *p, const char *name)
{
    for (int i = 0; i < p->nterms; i++)
        if (!strcmp(p->terms[i].name, name)) return &p->terms[i];
    return NULL;
}

/* Solvers of a term: one name for all factors, or one for each. */
static void take_solvers(const ini_input *in, action_term *t)
{
    const named_action *a = t->action;
    for (int use = 0; use < SOLVER_USES; use++) {
        const char *const words = a->p.solvers[use];
        char word[PARAM_WORDS_SIZE];
        int n = 0;
        while (param_word(words, n, word, sizeof word)) n++;
        if (n != 1 && n != t->factors)
            user_error("%s: %s = %s in [action.%s] has %d names, and the action %d factor%s; give one for all, or one "
                       "for each",
                       ini_where(in, "action", a->name, action_solver_key(use)), action_solver_key(use), words, a->name,
                       n, t->factors, t->factors == 1 ? "" : "s");
        param_word(words, n == 1 ? 0 : t->factor, word, sizeof word);
        snprintf(t->solvers[use], sizeof t->solvers[use], "%.63s", word);
    }
}

/* The quark that divides term number `number`, which is that of the section but for a twisted mass. */
static const named_quark *with_twisted_mass(parameters *p, int number, const named_quark *q, double mu)
{
    named_quark *made = &p->twisted[number];
    *made = *q;
    double *own = quark_kind_of(&made->p)->twisted_mass(&made->p);
    *own = copysign(mu, *own);
    return made;
}

static void add_terms(const ini_input *in, parameters *p, const named_action *a)
{
    const named_quark *q = &p->quarks[parameters_quark(p, a->p.quark)];
    const double *heavier;
    const int ratios = chain_of_ratios(&a->p), n = chain_of(&a->p, &heavier) + !ratios,
              twisted = chain_is_twisted(&a->p);
    const named_quark *light = q;
    for (int k = 0; k < n; k++) {
        if (p->nterms == MAX_ACTIONS - 1)
            user_error("%s: the gauge action and the factors of sections [action.NAME] are more than %d actions; a run "
                       "has at most that many",
                       ini_where(in, "action", a->name, ""), MAX_ACTIONS);
        const int last = k == n - 1 && !ratios;
        const named_quark *heavy = twisted && !last ? with_twisted_mass(p, p->nterms, q, heavier[k]) : q;
        action_term *t = &p->terms[p->nterms++];
        *t = (action_term){.action = a,
                           .quark = q,
                           .light = light,
                           .heavy = heavy,
                           .mass = k == 0 || twisted ? q->p.mass : heavier[k - 1],
                           .over = last      ? NAN
                                   : twisted ? q->p.mass
                                             : heavier[k],
                           .factor = k,
                           .factors = n};
        light = heavy;
        snprintf(t->name, sizeof t->name, n > 1 ? "%s.%d" : "%s", a->name, k);
        take_solvers(in, t);
    }
}

/* Quarks of actions have the flavours that these make, and links that have a force. */
static void check_quark(const ini_input *in, const named_action *a, const named_quark *q)
{
    const action_kind *kind = action_kind_of(&a->p), *other = NULL;
    const quark_kind *of = quark_kind_of(&q->p);
    const link_settings *links = smearing_of(&q->p);
    if (of->valence)
        user_error(
            "%s: [action.%s] quark = %s, but quarks of kind = %s are for measurements alone; take one of kind = mobius",
            ini_where(in, "action", a->name, "quark"), a->name, q->name, of->name);
    for (int i = 0; action_kind_number(i); i++)
        if (action_kind_number(i)->flavours == of->flavours) other = action_kind_number(i);
    if (kind->flavours && kind->flavours != of->flavours)
        user_error("%s: [action.%s] kind = %s, but a quark of kind = %s, as [quark.%s] is, makes %d flavours; choose "
                   "kind = %s or rational",
                   ini_where(in, "action", a->name, "kind"), a->name, kind->name, of->name, q->name, of->flavours,
                   other ? other->name : "rational");
    if (of->twisted_mass && kind->rational)
        user_error(
            "%s: [action.%s] kind = %s takes roots of one operator, which for kind = %s of [quark.%s] is of both "
            "flavours of a doublet; choose kind = %s",
            ini_where(in, "action", a->name, "kind"), a->name, kind->name, of->name, q->name, other->name);
    if (links && !link_map_type_of(links)->pull_back)
        user_error(
            "%s: [quark.%s] links = %s, of kind %s, have no force, which [action.%s] needs; take links of another "
            "kind",
            ini_where(in, "quark", q->name, "links"), q->name, smearing_name(&q->p), link_map_type_of(links)->name,
            a->name);
}

/* A key for the heat bath where that has no solve is not ignored. */
static void check_heat_bath(const ini_input *in, const parameters *p, const named_action *a)
{
    int solves = 0;
    for (int i = 0; i < p->nterms; i++)
        if (p->terms[i].action == a) solves |= action_kind_of(&p->terms[i].action->p)->heat_bath_solves(&p->terms[i]);
    if (!solves && ini_given(in, "action", a->name, "heat_bath_solver"))
        user_error("%s: heat_bath_solver is given, but the heat bath of [action.%s] has no solve without a ratio of "
                   "determinants; leave it out",
                   ini_where(in, "action", a->name, "heat_bath_solver"), a->name);
}

/* A determinant that is divided by and not made good by another section is a user error. */
static void check_flavours(const ini_input *in, const parameters *p)
{
    flavours sums[MAX_FLAVOURS];
    const int n = parameters_flavours(p, sums);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < p->nactions && sums[i].number < 0; k++) {
            if (strcmp(p->actions[k].p.quark, sums[i].of->name)) continue;
            user_error("%s: all actions together have %d flavours of mass %g with the links of [quark.%s]; a factor "
                       "that `with` divides by has to be an action too, of the same mass, links, u0 and naik_epsilon",
                       ini_where(in, "action", p->actions[k].name, "with"), sums[i].number, sums[i].mass,
                       sums[i].of->name);
        }
}

void action_parameters_complete(const ini_input *in, parameters *p)
{
    int determinants = 0;
    for (int i = 0; i < p->nactions; i++) {
        named_action *a = &p->actions[i];
        const named_quark *q = &p->quarks[parameters_quark(p, a->p.quark)];
        const action_kind *kind = action_kind_of(&a->p);
        check_quark(in, a, q);
        if (kind->complete) kind->complete(in, a, q, p->quarks, p->nquarks);
        add_terms(in, p, a);
        check_heat_bath(in, p, a);
        determinants += action_has_det(&p->terms[p->nterms - 1]);
    }
    if (1 + p->nterms + determinants > MAX_ACTIONS)
        user_error(
            "%s: the gauge action, the factors of sections [action.NAME] and determinants of clover terms are %d "
            "actions; a run has at most %d",
            ini_where(in, "action", p->actions[p->nactions - 1].name, ""), 1 + p->nterms + determinants, MAX_ACTIONS);
    for (int i = 0; i < p->nterms; i++)
        if (action_kind_of(&p->terms[i].action->p)->check)
            action_kind_of(&p->terms[i].action->p)->check(in, &p->terms[i]);
    check_flavours(in, p);
}

/* Solves with shifts are made by conjugate gradients. */
void action_parameters_check(const ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        for (int use = 0; use < SOLVER_USES && action_kind_of(&t->action->p)->shifts; use++) {
            const char *const key = action_solver_key(use);
            const named_settings *s;
            for (int k = 0; (s = parameters_attempt(p, t->solvers[use], k)); k++)
                if (s->p.type != param_kind(solver_section(0), "cg"))
                    user_error(
                        "%s: [action.%s] kind = %s solves with shifts, by conjugate gradients, but [solver.%s] is "
                        "of type %s; its %s and their fallbacks have to be of type cg",
                        ini_where(in, "action", t->action->name, key), t->action->name,
                        action_kind_of(&t->action->p)->name, s->name, solver_type_of(&s->p)->name, key);
        }
    }
}

/* ---- the determinant of all sections together ---- */

static int add_flavours(flavours *sums, int n, const named_quark *q, double mass, int number)
{
    const quark_kind *kind = quark_kind_of(&q->p);
    int i = 0;
    while (i < n && !(sums[i].mass == mass && quark_kind_of(&sums[i].of->p) == kind &&
                      kind->same_operator(&sums[i].of->p, &q->p)))
        i++;
    if (i == n) sums[n++] = (flavours){q, mass, 0};
    sums[i].number += number;
    if (number < 0) sums[i].of = q; /* section to blame, if nothing makes it good */
    return n;
}

int parameters_flavours(const parameters *p, flavours sums[MAX_FLAVOURS])
{
    int n = 0, left = 0;
    for (int i = 0; i < p->nactions; i++) {
        const named_action *a = &p->actions[i];
        const named_quark *q = &p->quarks[parameters_quark(p, a->p.quark)];
        mass_factor factors[MAX_FACTORS];
        const int count = action_kind_of(&a->p)->factors(a, q, factors);
        for (int k = 0; k < count; k++) n = add_flavours(sums, n, q, factors[k].mass, factors[k].flavours);
    }
    for (int i = 0; i < n; i++)
        if (sums[i].number != 0) sums[left++] = sums[i];
    return left;
}

/* ---- levels ---- */

/* Everything that stands on a level: gauge, terms, NAME.det; and the whole actions that words may name. */
typedef struct {
    char names[2 * MAX_ACTIONS][80];
    const named_action *action[2 * MAX_ACTIONS]; /* null of gauge */
    int level[2 * MAX_ACTIONS];                  /* level, -1 before it is placed */
    int n;
} placed_list;

static int placed_find(const placed_list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->names[i], name)) return i;
    return -1;
}

static void placed_add(placed_list *l, const named_action *a, const char *name)
{
    l->action[l->n] = a;
    l->level[l->n] = -1;
    snprintf(l->names[l->n++], sizeof l->names[0], "%s", name);
}

static placed_list placed_all(const parameters *p)
{
    placed_list l = {.n = 0};
    char name[80];
    placed_add(&l, NULL, "gauge");
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        placed_add(&l, t->action, t->name);
        if (t->factor < t->factors - 1 || !action_has_det(t)) continue;
        snprintf(name, sizeof name, "%s.det", t->action->name);
        placed_add(&l, t->action, name);
    }
    return l;
}

static const named_action *whole_action(const parameters *p, const char *name)
{
    for (int i = 0; i < p->nactions; i++)
        if (!strcmp(p->actions[i].name, name)) return &p->actions[i];
    return NULL;
}

/* A word that is none of those is a user error. */
static void check_word(const ini_input *in, const parameters *p, const placed_list *l, const char *level,
                       const char *word)
{
    const char *known[2 * MAX_ACTIONS + MAX_NAMED];
    char determinant[PARAM_STRING_SIZE];
    int n = 0;
    for (int i = 0; i < l->n; i++) known[n++] = l->names[i];
    for (int i = 0; i < p->nactions; i++) known[n++] = p->actions[i].name;
    for (int i = 0; i < p->nterms; i++) {
        snprintf(determinant, sizeof determinant, "%s.det", p->terms[i].action->name);
        if (!strcmp(word, determinant) && !action_has_det(&p->terms[i]))
            user_error("%s: [integrator.%s] actions: [action.%s] has no %s, for its quark has no clover term; leave it "
                       "out",
                       ini_where(in, "integrator", level, "actions"), level, p->terms[i].action->name, word);
    }
    names_check(in, "integrator", level, "actions", word, known, n, "action");
}

static void place_on(const ini_input *in, placed_list *l, int i, int level)
{
    char number[16];
    snprintf(number, sizeof number, "%d", level);
    if (l->level[i] >= 0)
        user_error("%s: [integrator.%s] actions: action %s is assigned to more than one integrator level, or twice",
                   ini_where(in, "integrator", number, "actions"), number, l->names[i]);
    l->level[i] = level;
}

/* Appends to the words of a level. */
static void put(char *words, const char *name)
{
    param_append(words, PARAM_WORDS_SIZE, " ", name);
}

/* Words of a level that name a thing itself; whole actions then take what is left of theirs. */
static void place_named(const ini_input *in, const parameters *p, placed_list *l)
{
    char word[128], level[16];
    for (int k = 0; k < p->nlevels; k++) {
        snprintf(level, sizeof level, "%d", k);
        for (int w = 0; param_word(p->levels[k].actions, w, word, sizeof word); w++) {
            check_word(in, p, l, level, word);
            if (placed_find(l, word) >= 0) place_on(in, l, placed_find(l, word), k);
        }
    }
}

static int is_det(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".det");
}

/* The words of level k in the order in which forces are computed. */
static void expand(const ini_input *in, parameters *p, placed_list *l, int k)
{
    char words[PARAM_WORDS_SIZE], word[128], level[16];
    snprintf(words, sizeof words, "%s", p->levels[k].actions);
    char *const out = p->levels[k].actions;
    out[0] = 0;
    for (int w = 0; param_word(words, w, word, sizeof word); w++) {
        const named_action *whole = whole_action(p, word);
        const int named = placed_find(l, word), before = (int)strlen(out);
        if (named >= 0) put(out, word);
        for (int i = 0; i < l->n && (whole || named >= 0); i++) {
            const int of_whole = whole && l->action[i] == whole;
            /* A determinant that no word names follows the last factor of its action. */
            const int follows = is_det(l->names[i]) && named >= 0 && i == named + 1 && !is_det(word);
            if ((!of_whole && !follows) || l->level[i] >= 0) continue;
            place_on(in, l, i, k);
            put(out, l->names[i]);
        }
        snprintf(level, sizeof level, "%d", k);
        if ((int)strlen(out) == before)
            user_error("%s: [integrator.%s] actions: all factors of %s stand on levels by their own names, or it is "
                       "there twice",
                       ini_where(in, "integrator", level, "actions"), level, word);
    }
}

void action_parameters_levels(const ini_input *in, parameters *p, int required)
{
    placed_list l = placed_all(p);
    place_named(in, p, &l);
    for (int k = 0; k < p->nlevels; k++) expand(in, p, &l, k);
    for (int i = 0; required && i < l.n; i++)
        if (l.level[i] < 0)
            user_error(
                "%s: the action %s is not assigned to an integrator level; add it to actions of an [integrator.N]",
                ini_where(in, "integrator", "0", "actions"), l.names[i]);
}
