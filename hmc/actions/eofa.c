/* eofa: one flavour of a domain wall quark over that of a heavier mass, the next of a chain or the Pauli-Villars field's, by
 * the exact one-flavour algorithm (action_eofa.c). */
#include <math.h>

#include "hmc/actions/action_kind.h"
#include "kernels/base/error.h"

typedef struct {
    double approximation;
} exact_keys;

static const param table[] = {
    {"heat_bath_approximation", PARAM_REAL, offsetof(exact_keys, approximation), "1e-11", "[1e-14,1e-6]", NULL,
     "largest relative error of the rational function of the heat bath, the one place where there is one", 0},
};

static const param_section exact_part = PARAM_PART("action", "the exact one-flavour algorithm", exact_keys, table);

#define PAULI_VILLARS 1.0 /* mass */

static double heavy_mass(const action_term *t)
{
    return isnan(t->over) ? PAULI_VILLARS : t->over;
}

/* Null: for checks of its numbers alone. */
static eofa_settings settings_of(const action_term *t, const quark_set *quarks)
{
    const quark_params q = quark_of_mass(&t->quark->p, t->mass);
    const exact_keys *k = action_keys(&t->action->p, &exact_part);
    const field *links = quarks ? quark_set_links(quarks) : NULL;
    int n = 0;
    fermion *const *others = quarks ? quark_set_all(quarks, &n) : NULL;
    return (eofa_settings){.quotient = quark_kind_of(&q)->one_flavour(links, &q, heavy_mass(t), others, n),
                           .links = links,
                           .predictor = predictor_of(&t->action->p),
                           .approximation = k->approximation};
}

static void complete(const ini_input *in, named_action *a, const named_quark *q, const named_quark *all, int n)
{
    const quark_kind *kind = quark_kind_of(&q->p);
    const double *heavier;
    (void)all;
    (void)n;
    if (!kind->one_flavour)
        user_error("%s: [action.%s] kind = %s is for domain wall quarks, and [quark.%s] is of kind = %s",
                   ini_where(in, "action", a->name, "kind"), a->name, action_kind_of(&a->p)->name, q->name, kind->name);
    if (kind->slices(&q->p) % 2)
        user_error("%s: Ls = %d in [quark.%s]; [action.%s] kind = %s needs an even number of slices",
                   ini_where(in, "quark", q->name, "Ls"), kind->slices(&q->p), q->name, a->name,
                   action_kind_of(&a->p)->name);
    if (!(q->p.mass > 0 && q->p.mass < PAULI_VILLARS))
        user_error("%s: mass = %g in [quark.%s]; [action.%s] kind = %s needs 0 < mass < 1",
                   ini_where(in, "quark", q->name, "mass"), q->p.mass, q->name, a->name, action_kind_of(&a->p)->name);
    chain_complete(in, a, q);
    const int masses = chain_of(&a->p, &heavier);
    if (masses > 0 && !(heavier[masses - 1] < PAULI_VILLARS))
        user_error("%s: mass %g of masses in [action.%s]; with kind = %s they have to be below 1, the Pauli-Villars "
                   "field's",
                   ini_where(in, "action", a->name, "masses"), heavier[masses - 1], a->name,
                   action_kind_of(&a->p)->name);
}

/* The rational function of the heat bath is found before the run. */
static void check(const ini_input *in, const action_term *t)
{
    char message[256];
    const eofa_settings s = settings_of(t, NULL);
    const int bad = eofa_action_check(&s, message, sizeof message);
    eofa_destroy(s.quotient);
    if (!bad) return;
    user_error("%s: heat_bath_approximation = %g in [action.%s]: %s; give a larger one",
               ini_where(in, "action", t->action->name, "heat_bath_approximation"), s.approximation, t->action->name,
               message);
}

static int factors(const named_action *a, const named_quark *q, mass_factor f[MAX_FACTORS])
{
    (void)a;
    f[0] = (mass_factor){q->p.mass, 1};
    return 1;
}

static int heat_bath_solves(const action_term *t)
{
    (void)t;
    return 1;
}

static action *create(const action_scene *s, const action_term *t)
{
    eofa_settings settings = settings_of(t, s->quarks);
    settings.solvers = action_solvers_of(s, t);
    return eofa_action_create(t->name, &settings);
}

/* Two solves, one a chirality, and hops of whole fields. */
static double force_flops(const action_term *t, double iterations)
{
    const quark_params *q = &t->quark->p;
    const quark_kind *kind = quark_kind_of(q);
    return 2 * (iterations * kind->normal_flops(q) + kind->term_flops(q)) + kind->force_flops(q);
}

const action_kind action_kind_eofa = {.name = "eofa",
                                      .help = "one flavour of a domain wall quark, by the exact one-flavour algorithm",
                                      .parts = {&chain_part, &predictor_part, &exact_part},
                                      .complete = complete,
                                      .check = check,
                                      .factors = factors,
                                      .heat_bath_solves = heat_bath_solves,
                                      .create = create,
                                      .force_flops = force_flops};
