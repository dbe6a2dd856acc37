/* What the tables of keys cannot say of [fermion.NAME] sections: ranges of rational functions, chains of ratios,
 * solvers for shifts, quarks that are only measured. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/evolve/fermion_kind.h"
#include "hmc/input/parameters.h"
#include "kernels/base/error.h"

/* The range of the text: auto, or two numbers. */
static void read_spectrum(const ini_input *in, named_fermion *f)
{
    double *const ends[2] = {&f->p.spectrum_low, &f->p.spectrum_high};
    char word[PARAM_WORDS_SIZE];
    if (!strcmp(f->p.spectrum, "auto")) return;
    int n = 0, bad = 0;
    for (; param_word(f->p.spectrum, n, word, sizeof word); n++) {
        double x;
        bad = bad || param_real(word, &x) || !(x > 0) || n > 1;
        if (!bad) *ends[n] = x;
    }
    if (bad || n != 2 || !(f->p.spectrum_low < f->p.spectrum_high))
        user_error("%s: spectrum = %s in [fermion.%s] is neither auto nor two numbers LO HI with 0 < LO < HI",
                   ini_where(in, "fermion", f->name, "spectrum"), f->p.spectrum, f->name);
    const double lowest = f->p.mass * f->p.mass, typed = 1 + 1e-12; /* by hand, it may differ in the last digit */
    if (fermion_kind_find(f->p.kind)->staggered && f->p.spectrum_low > lowest * typed)
        user_error("%s: spectrum = %s in [fermion.%s] begins above %.6g, the square of the mass and the lowest "
                   "eigenvalue of a staggered quark",
                   ini_where(in, "fermion", f->name, "spectrum"), f->p.spectrum, f->name, lowest);
}

void fermion_parameters_mass(const ini_input *in, named_fermion *f)
{
    const int mass = ini_given(in, "fermion", f->name, "mass"), kappa = ini_given(in, "fermion", f->name, "kappa");
    const int staggered = fermion_kind_find(f->p.kind)->staggered;
    if (mass && kappa)
        user_error("%s: both mass and kappa are given for [fermion.%s]; give one of them (kappa = 1 / (2 mass + 8))",
                   ini_where(in, "fermion", f->name, "kappa"), f->name);
    if (!mass && staggered) user_error("%s: [fermion.%s] has no mass", ini_where(in, "fermion", f->name, ""), f->name);
    if (!mass && !kappa)
        user_error("%s: [fermion.%s] has neither mass nor kappa; give one of them",
                   ini_where(in, "fermion", f->name, ""), f->name);
    if (staggered && !(f->p.mass > 0))
        user_error("%s: mass = %g of the staggered quark [fermion.%s] is not positive",
                   ini_where(in, "fermion", f->name, "mass"), f->p.mass, f->name);
    if (staggered && f->p.mass * f->p.mass < DBL_MIN)
        user_error("%s: mass = %g of the staggered quark [fermion.%s] is too small: its square is no double",
                   ini_where(in, "fermion", f->name, "mass"), f->p.mass, f->name);
    if (kappa) f->p.mass = 1 / (2 * f->p.kappa) - 4;
    else f->p.kappa = 1 / (2 * f->p.mass + 8);
}

/* ---- staggered quarks ---- */

#define HEAVIEST 1e6 /* as of the section's own mass */

/* MASS:N of the text, with the section's own in front. */
static void read_factors(const ini_input *in, named_fermion *f)
{
    char word[PARAM_WORDS_SIZE];
    f->p.factors[0] = (mass_factor){f->p.mass, f->p.flavours};
    f->p.nfactors = 1;
    for (int n = 0; param_word(f->p.with, n, word, sizeof word); n++) {
        char *colon = strchr(word, ':');
        double mass = 0;
        int64_t flavours = 0;
        if (colon) *colon = 0;
        const int bad = !colon || param_real(word, &mass) || param_integer(colon + 1, &flavours);
        if (colon) *colon = ':';
        if (bad || !(mass > f->p.mass) || !(mass <= HEAVIEST) || flavours == 0 || flavours < -32 || flavours > 32)
            user_error(
                "%s: '%s' of with = %s in [fermion.%s] is not MASS:N with a mass above %g, at most %g, and a number of "
                "flavours from -32 to 32, not 0",
                ini_where(in, "fermion", f->name, "with"), word, f->p.with, f->name, f->p.mass, HEAVIEST);
        if (f->p.nfactors == MAX_FACTORS)
            user_error("%s: with = %s in [fermion.%s] has more than %d factors",
                       ini_where(in, "fermion", f->name, "with"), f->p.with, f->name, MAX_FACTORS - 1);
        int i = f->p.nfactors++;
        for (; f->p.factors[i - 1].mass > mass; i--) f->p.factors[i] = f->p.factors[i - 1];
        f->p.factors[i] = (mass_factor){mass, (int)flavours};
        if (f->p.factors[i - 1].mass == mass)
            user_error("%s: with = %s in [fermion.%s] has the mass %g twice", ini_where(in, "fermion", f->name, "with"),
                       f->p.with, f->name, mass);
    }
}

/* Keys of other links, and exponents for which rational functions have residues of one sign. */
static void check_staggered(const ini_input *in, const named_fermion *f)
{
    const fermion_links *links = fermion_links_of(&f->p);
    const struct {
        const char *key, *of;
        int fits;
    } keys[] = {{"u0", "fat7 or asqtad", links->tadpoles},
                {"naik_epsilon", "hisq", links->kind == STAGGERED_HISQ},
                {"long_reals", "asqtad or hisq", links->long_links}};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (ini_given(in, "fermion", f->name, keys[k].key) && !keys[k].fits)
            user_error("%s: %s is for links = %s, not for links = %s of [fermion.%s]",
                       ini_where(in, "fermion", f->name, keys[k].key), keys[k].key, keys[k].of, f->p.links, f->name);
    if (links->tadpoles && !ini_given(in, "fermion", f->name, "u0"))
        user_error("%s: [fermion.%s] with links = %s has no u0; give the tadpole factor, fourth root of the plaquette, "
                   "or 1 for paths without one",
                   ini_where(in, "fermion", f->name, "links"), f->name, f->p.links);
    for (int i = 0, sum = 0; i < f->p.nfactors; i++) {
        sum += f->p.factors[i].flavours;
        if (sum >= 0 && sum <= 4 * f->p.pseudofermions) continue;
        user_error("%s: the flavours of [fermion.%s] up to mass %g add up to %d, which has to be between 0 and 4 "
                   "pseudofermions = %d",
                   ini_where(in, "fermion", f->name, i > 0 ? "with" : "flavours"), f->name, f->p.factors[i].mass, sum,
                   4 * f->p.pseudofermions);
    }
    int whole = f->p.nfactors > 1;
    for (int i = 0; i < f->p.nfactors; i++) whole = whole && f->p.factors[i].flavours % (4 * f->p.pseudofermions) == 0;
    if (whole)
        user_error("%s: with whole powers of all masses of [fermion.%s] there is no root for a rational function to "
                   "approximate; set pseudofermions = %d",
                   ini_where(in, "fermion", f->name, "with"), f->name, 2 * f->p.pseudofermions);
}

/* Without a root there is one function, 1/x, for action and force. */
static void check_roots(const ini_input *in, const named_fermion *f)
{
    const int whole = (fermion_kind_find(f->p.kind)->staggered ? 4 : 2) * f->p.pseudofermions;
    if (ini_given(in, "fermion", f->name, "force_approximation") && f->p.flavours == whole && f->p.nfactors <= 1)
        user_error(
            "%s: force_approximation is given, but %d flavours on pseudofermions = %d take no root of [fermion.%s], "
            "whose force is then exact; leave it out",
            ini_where(in, "fermion", f->name, "force_approximation"), f->p.flavours, f->p.pseudofermions, f->name);
}

void fermion_parameters_complete(const ini_input *in, named_fermion *f)
{
    const int staggered = fermion_kind_find(f->p.kind)->staggered;
    if (!staggered && f->p.flavours > 3)
        user_error("%s: flavours = %d in [fermion.%s]; with kind = %s allowed is 1 <= integer <= 3",
                   ini_where(in, "fermion", f->name, "flavours"), f->p.flavours, f->name, f->p.kind);
    if (!staggered && f->p.flavours > 2 * f->p.pseudofermions)
        user_error("%s: %d flavours in [fermion.%s] need pseudofermions = %d or more, so that each has an exponent of "
                   "at most 1",
                   ini_where(in, "fermion", f->name, "flavours"), f->p.flavours, f->name, (f->p.flavours + 1) / 2);
    read_spectrum(in, f);
    if (staggered) {
        read_factors(in, f);
        check_staggered(in, f);
    }
    check_roots(in, f);
}

/* The heat bath of a pseudofermion that is no ratio has no solve. */
static void check_heat_bath(const ini_input *in, const named_fermion *f)
{
    if (ini_given(in, "fermion", f->name, "heat_bath_solver") &&
        fermion_kind_has(fermion_kind_find(f->p.kind), "ratio_to") && !f->p.ratio_to[0])
        user_error("%s: heat_bath_solver is given, but the heat bath of [fermion.%s] has no solve without ratio_to; "
                   "leave it out",
                   ini_where(in, "fermion", f->name, "heat_bath_solver"), f->name);
}

/* One ratio: operators that act on the same vectors. */
static void check_ratio(const ini_input *in, const parameters *p, const named_fermion *f)
{
    const named_fermion *over = &p->fermions[simulation_fermion(p, f->p.ratio_to)];
    const char *const where = ini_where(in, "fermion", f->name, "ratio_to");
    if (!fermion_kind_has(fermion_kind_find(over->p.kind), "ratio_to"))
        user_error("%s: [fermion.%s] is a ratio to [fermion.%s] of kind = %s, which stands for another power of its "
                   "determinant",
                   where, f->name, over->name, over->p.kind);
    if (f->p.c_sw != over->p.c_sw || strcmp(f->p.schur, over->p.schur) || strcmp(f->p.parity, over->p.parity))
        user_error("%s: [fermion.%s] (c_sw = %.15g, schur = %s, parity = %s) is a ratio to [fermion.%s] (c_sw = %.15g, "
                   "schur = %s, parity = %s); all three have to be the same",
                   where, f->name, f->p.c_sw, f->p.schur, f->p.parity, over->name, over->p.c_sw, over->p.schur,
                   over->p.parity);
}

/* Ratios telescope: each section is the denominator of one other at most, and none of itself. */
static void check_ratios(const ini_input *in, const parameters *p)
{
    const char *names[MAX_NAMED], *user[MAX_NAMED] = {0};
    for (int i = 0; i < p->nfermions; i++) names[i] = p->fermions[i].name;
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *f = &p->fermions[i], *at = f;
        if (!f->p.ratio_to[0]) continue;
        parameters_check_name(in, "fermion", f->name, "ratio_to", f->p.ratio_to, names, p->nfermions, "[fermion.NAME]");
        check_ratio(in, p, f);
        const int over = simulation_fermion(p, f->p.ratio_to);
        if (user[over])
            user_error("%s: [fermion.%s] and [fermion.%s] both are ratios to %s, whose own section cancels one "
                       "denominator, not two; give one of them another ratio_to",
                       ini_where(in, "fermion", f->name, "ratio_to"), user[over], f->name, f->p.ratio_to);
        user[over] = f->name;
        for (int k = 0; k < p->nfermions && at->p.ratio_to[0]; k++) {
            parameters_check_name(in, "fermion", at->name, "ratio_to", at->p.ratio_to, names, p->nfermions,
                                  "[fermion.NAME]");
            at = &p->fermions[simulation_fermion(p, at->p.ratio_to)];
            if (at == f)
                user_error("%s: [fermion.%s] is a ratio to itself, by its key ratio_to; the heaviest of a chain has "
                           "none",
                           ini_where(in, "fermion", f->name, "ratio_to"), f->name);
        }
    }
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

/* Keys that only an action has are not ignored, and no ratio has such a quark for its denominator. */
static void check_measured_only(const ini_input *in, const parameters *p, const named_fermion *f)
{
    static const char *const keys[] = {
        "flavours", "with",         "pseudofermions", "approximation",    "force_approximation",
        "spectrum", "range_breach", "ratio_to",       "heat_bath_solver", "reversal_solver",
        "predictor"};
    if (!fermion_measured_only(&f->p)) return;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (ini_given(in, "fermion", f->name, keys[k]))
            user_error("%s: %s is a key of actions, and [fermion.%s] has measured_only = yes; leave one of them out",
                       ini_where(in, "fermion", f->name, keys[k]), keys[k], f->name);
    for (int i = 0; i < p->nfermions; i++)
        if (!strcmp(p->fermions[i].p.ratio_to, f->name))
            user_error("%s: [fermion.%s] is a ratio to [fermion.%s], which has measured_only = yes and makes no action",
                       ini_where(in, "fermion", p->fermions[i].name, "ratio_to"), p->fermions[i].name, f->name);
}

void fermion_parameters_levels(const ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *f = &p->fermions[i];
        char determinant[80];
        snprintf(determinant, sizeof determinant, "%s.det", f->name);
        const int listed = parameters_on_level(p, f->name);
        if (!fermion_measured_only(&f->p) && !fermion_kind_find(f->p.kind)->create)
            user_error("%s: kind = %s has no action; set measured_only = yes in [fermion.%s]",
                       ini_where(in, "fermion", f->name, "kind"), f->p.kind, f->name);
        if (fermion_measured_only(&f->p) && (listed || parameters_on_level(p, determinant)))
            user_error("%s: [fermion.%s] has measured_only = yes, but %s stands on a level; leave one of them out",
                       ini_where(in, "fermion", f->name, "measured_only"), f->name, listed ? f->name : determinant);
        if (!fermion_measured_only(&f->p) && !listed)
            user_error("%s: the action %s stands on no level; add it to actions of an [integrator.N], or set "
                       "measured_only = yes in [fermion.%s]",
                       ini_where(in, "integrator", "0", "actions"), f->name, f->name);
    }
}

/* ---- the determinant of all sections together ---- */

/* Sections whose operators differ by the mass alone, if at all. */
static int same_operator(const fermion_params *a, const fermion_params *b)
{
    const int staggered = fermion_kind_find(a->kind)->staggered;
    if (staggered != fermion_kind_find(b->kind)->staggered) return 0;
    return staggered ? fermion_same_smearing(a, b) && a->naik_epsilon == b->naik_epsilon : a->c_sw == b->c_sw;
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
        const fermion_kind *kind = fermion_kind_find(f->p.kind);
        const int number = kind->flavours ? kind->flavours : f->p.flavours;
        n = add_flavours(sums, n, f, f->p.mass, number);
        for (int k = 1; k < f->p.nfactors; k++)
            n = add_flavours(sums, n, f, f->p.factors[k].mass, f->p.factors[k].flavours);
        if (f->p.ratio_to[0]) {
            const named_fermion *over = &p->fermions[simulation_fermion(p, f->p.ratio_to)];
            n = add_flavours(sums, n, over, over->p.mass, -number);
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
        if (!fermion_measured_only(f))
            n += fermion_kind_has(fermion_kind_find(f->kind), "c_sw") && f->c_sw != 0 ? 2 : 1;
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
    check_ratios(in, p);
    for (int i = 0; i < p->nfermions; i++) {
        check_measured_only(in, p, &p->fermions[i]);
        check_heat_bath(in, &p->fermions[i]);
        check_shifted(in, p, &p->fermions[i]);
    }
}
