/* rational: powers of the determinant of a quark's normal operator by rational functions (action_rational.c): any number of
 * flavours on pseudofermions enough.
 *
 * Where the normal operators of two masses differ by the difference of their squares, as those of staggered quarks, K = m^2 -
 * D_pq D_qp / 4, further factors of heavier masses may stand on the same pseudofermions. So (A. Bazavov et al., Rev. Mod.
 * Phys. 82 (2010) 1349, section II.D) light and strange quarks over a heavy mass make a smaller force than each of them
 * alone. MILC's programs write (x + 4 m_i^2)^(N_i/4) with x = -D^2: these are the m_i. */
#include <stdio.h>
#include <string.h>

#include "hmc/actions/action_kind.h"
#include "kernels/base/error.h"
#include "solvers/rational.h"

_Static_assert(MAX_FACTORS <= RATIONAL_MAX_FACTORS, "factors of a section are those of one function");

#define RANGE_BREACHES(X) X(BREACH_STOPS, "stop") X(BREACH_WIDENS, "widen")
enum { RANGE_BREACHES(PARAM_CONSTANT) };

typedef struct {
    int flavours, pseudofermions;
    double approximation, force_approximation;
    char spectrum[PARAM_WORDS_SIZE], over_spectrum[PARAM_WORDS_SIZE], with[PARAM_WORDS_SIZE];
    int range_breach;
    double ends[2], over_ends[2]; /* ends of those texts; 0 for auto */
    int nfactors;                 /* factors of `with`, and in front the quark's own; by mass */
    mass_factor factors[MAX_FACTORS];
} rational_keys;

#define AT(member) offsetof(rational_keys, member)

static const param table[] = {
    {"flavours", PARAM_INT, AT(flavours), "1", "[1,32]", NULL,
     "N of det(M^+ M)^(N/2), N <= 2 n; of staggered quarks det(M)^(N/4), N <= 4 n", 1},
    {"pseudofermions", PARAM_INT, AT(pseudofermions), "1", "[1,8]", NULL, "n, each for the nth root of the determinant",
     0},
    {"with", PARAM_WORDS, AT(with), "", NULL, NULL,
     "of staggered quarks: further factors MASS:N det(M)^(N/4) on the same pseudofermion, of masses above the quark's, "
     "or "
     "NAME:N of the mass of [quark.NAME], which has the same links, u0 and naik_epsilon; N may be negative, as in "
     "0.05:1 "
     "heavy:-3, where another action of that mass and the same links has the 3",
     1},
    {"approximation", PARAM_REAL, AT(approximation), "1e-12", "[1e-14,1e-6]", NULL,
     "largest relative error of the rational functions of heat bath and accept step", 0},
    {"force_approximation", PARAM_REAL, AT(force_approximation), "1e-7", "[1e-14,1e-3]", NULL,
     "largest relative error of the rational functions of the force", 0},
    {"spectrum", PARAM_WORDS, AT(spectrum), "auto", NULL, NULL,
     "range LO HI of the rational functions in eigenvalues of Mhat^+ Mhat, which is measured and has to "
     "be inside; or auto: as measured at the start of each trajectory, with room, which leaves trajectories "
     "reversible to force_approximation. Of staggered quarks in those of M^+ M on one parity, where LO is mass^2",
     0},
    {"pauli_villars_spectrum", PARAM_WORDS, AT(over_spectrum), "auto", NULL, NULL,
     "as spectrum, of the Pauli-Villars field's operator, whose functions have a range of their own", 0},
    {"range_breach", PARAM_CHOICE, AT(range_breach), "stop", PARAM_RANGE(RANGE_BREACHES), NULL,
     "what follows when the spectrum is found outside of the range: stop, with advice; or widen: the "
     "trajectory is repeated with the same random numbers on a range that contains it, for this "
     "trajectory alone, which is then reversible to force_approximation",
     0},
};

static const param_section rational_part = PARAM_PART("action", "rational functions", rational_keys, table);

static rational_keys *keys_of(const action_params *a)
{
    return action_keys(a, &rational_part);
}

/* ---- ranges ---- */

/* The range of such a text, auto or two numbers. */
static void read_spectrum(const ini_input *in, const char *name, const char *key, const char *text, double ends[2])
{
    char word[PARAM_WORDS_SIZE];
    if (!strcmp(text, "auto")) return;
    int n = 0, bad = 0;
    for (; param_word(text, n, word, sizeof word); n++) {
        double x;
        bad = bad || param_real(word, &x) || !(x > 0) || n > 1;
        if (!bad) ends[n] = x;
    }
    if (bad || n != 2 || !(ends[0] < ends[1]))
        user_error("%s: %s = %s in [action.%s] is neither auto nor two numbers LO HI with 0 < LO < HI",
                   ini_where(in, "action", name, key), key, text, name);
}

static void complete_ranges(const ini_input *in, const named_action *a, const named_quark *q)
{
    rational_keys *k = keys_of(&a->p);
    const quark_kind *kind = quark_kind_of(&q->p);
    read_spectrum(in, a->name, "spectrum", k->spectrum, k->ends);
    read_spectrum(in, a->name, "pauli_villars_spectrum", k->over_spectrum, k->over_ends);
    if (!kind->regulated && ini_given(in, "action", a->name, "pauli_villars_spectrum"))
        user_error("%s: pauli_villars_spectrum is given for [action.%s], but a quark of kind = %s has no Pauli-Villars "
                   "field",
                   ini_where(in, "action", a->name, "pauli_villars_spectrum"), a->name, kind->name);
    const double lowest = q->p.mass * q->p.mass,
                 typed = 1 + 1e-12; /* a number typed by hand may differ in the last digit */
    if (kind->shifted_by_mass && k->ends[0] > lowest * typed)
        user_error("%s: spectrum = %s in [action.%s] begins above %.6g, the square of the mass and the lowest "
                   "eigenvalue of a staggered quark",
                   ini_where(in, "action", a->name, "spectrum"), k->spectrum, a->name, lowest);
}

/* ---- factors ---- */

#define HEAVIEST 1e6 /* largest mass, as of quarks */

/* The mass of a factor, which is a number or the name of another quark. */
static double mass_of(const ini_input *in, const named_action *a, const named_quark *q, const named_quark *all, int n,
                      const char *word)
{
    const char *names[MAX_NAMED];
    double mass;
    if (!param_real(word, &mass)) return mass;
    for (int i = 0; i < n; i++) names[i] = all[i].name;
    names_check(in, "action", a->name, "with", word, names, n, "[quark.NAME]");
    const named_quark *other = all;
    while (strcmp(other->name, word)) other++;
    const quark_kind *kind = quark_kind_of(&q->p);
    if (kind != quark_kind_of(&other->p) || !kind->same_operator(&q->p, &other->p))
        user_error("%s: [action.%s] takes the mass of [quark.%s] for a factor, but its links, u0 or naik_epsilon are "
                   "others; factors of one pseudofermion have the same links",
                   ini_where(in, "action", a->name, "with"), a->name, other->name);
    return other->p.mass;
}

/* Masses as numbers from now on: the ensemble is made with these. */
static void write_factors(rational_keys *k)
{
    static const param mass = {"mass", PARAM_REAL, 0, NULL, NULL, NULL, "", 0};
    char text[PARAM_TEXT_SIZE];
    size_t used = 0;
    k->with[0] = 0;
    for (int i = 1; i < k->nfactors && used < sizeof k->with; i++) {
        param_format(&mass, &k->factors[i].mass, text, sizeof text);
        used += (size_t)snprintf(k->with + used, sizeof k->with - used, "%s%.60s:%d", i > 1 ? " " : "", text,
                                 k->factors[i].flavours);
    }
}

/* MASS:N and NAME:N of the text, with the quark's own in front. */
static void read_factors(const ini_input *in, const named_action *a, const named_quark *q, const named_quark *all,
                         int nquarks, rational_keys *k)
{
    char word[PARAM_WORDS_SIZE];
    const char *const where = ini_where(in, "action", a->name, "with");
    k->factors[0] = (mass_factor){q->p.mass, k->flavours};
    k->nfactors = 1;
    if (k->with[0] && !quark_kind_of(&q->p)->shifted_by_mass)
        user_error("%s: with = %s of [action.%s] is for staggered quarks, whose masses are shifts of one operator, and "
                   "[quark.%s] is of kind = %s",
                   where, k->with, a->name, q->name, quark_kind_of(&q->p)->name);
    for (int n = 0; param_word(k->with, n, word, sizeof word); n++) {
        char *colon = strchr(word, ':');
        double mass = 0;
        int64_t flavours = 0;
        if (colon) *colon = 0;
        const int bad = !colon || param_integer(colon + 1, &flavours);
        if (!bad) mass = mass_of(in, a, q, all, nquarks, word);
        if (colon) *colon = ':';
        if (bad || !(mass > q->p.mass) || !(mass <= HEAVIEST) || flavours == 0 || flavours < -32 || flavours > 32)
            user_error(
                "%s: '%s' of with = %s in [action.%s] is not MASS:N or NAME:N with a mass above %g, at most %g, and a "
                "number of flavours from -32 to 32, not 0",
                where, word, k->with, a->name, q->p.mass, HEAVIEST);
        if (k->nfactors == MAX_FACTORS)
            user_error("%s: with = %s in [action.%s] has more than %d factors", where, k->with, a->name,
                       MAX_FACTORS - 1);
        int i = k->nfactors++;
        for (; k->factors[i - 1].mass > mass; i--) k->factors[i] = k->factors[i - 1];
        k->factors[i] = (mass_factor){mass, (int)flavours};
        if (k->factors[i - 1].mass == mass)
            user_error("%s: with = %s in [action.%s] has the mass %g twice", where, k->with, a->name, mass);
    }
}

/* Exponents for which rational functions have residues of one sign. */
static void check_flavours(const ini_input *in, const named_action *a, const named_quark *q)
{
    const rational_keys *k = keys_of(&a->p);
    const int each = quark_kind_of(&q->p)->flavours, most = each * k->pseudofermions;
    for (int i = 0, sum = 0; i < k->nfactors; i++) {
        sum += k->factors[i].flavours;
        if (sum >= 0 && sum <= most) continue;
        user_error("%s: the flavours of [action.%s] up to mass %g add up to %d, which has to be between 0 and %d "
                   "pseudofermions = %d%s",
                   ini_where(in, "action", a->name, i > 0 ? "with" : "flavours"), a->name, k->factors[i].mass, sum,
                   each, most, sum > most ? "; give more pseudofermions" : "");
    }
    int whole = k->nfactors > 1;
    for (int i = 0; i < k->nfactors; i++) whole = whole && k->factors[i].flavours % most == 0;
    if (whole)
        user_error("%s: with whole powers of all masses of [action.%s] there is no root for a rational function to "
                   "approximate; set pseudofermions = %d",
                   ini_where(in, "action", a->name, "with"), a->name, most / 2);
}

/* Function 1/x serves action and force where no root is taken. */
static void check_approximation(const ini_input *in, const named_action *a, const named_quark *q)
{
    const rational_keys *k = keys_of(&a->p);
    if (ini_given(in, "action", a->name, "force_approximation") && k->nfactors == 1 &&
        k->flavours == quark_kind_of(&q->p)->flavours * k->pseudofermions)
        user_error(
            "%s: force_approximation is given, but %d flavours on pseudofermions = %d take no root of [action.%s], "
            "whose force is then exact; leave it out",
            ini_where(in, "action", a->name, "force_approximation"), k->flavours, k->pseudofermions, a->name);
}

/* A doublet has no determinant of one flavour. */
static void check_doublet(const ini_input *in, const named_action *a, const named_quark *q)
{
    const int flavours = keys_of(&a->p)->flavours;
    if (quark_kind_of(&q->p)->doublet && flavours % 2)
        user_error("%s: flavours = %d of [action.%s], but a quark of kind = %s, as [quark.%s] is, is a doublet; give "
                   "flavours = 2",
                   ini_where(in, "action", a->name, "flavours"), flavours, a->name, quark_kind_of(&q->p)->name,
                   q->name);
}

static void complete(const ini_input *in, named_action *a, const named_quark *q, const named_quark *all, int n)
{
    rational_keys *k = keys_of(&a->p);
    check_doublet(in, a, q);
    complete_ranges(in, a, q);
    read_factors(in, a, q, all, n, k);
    write_factors(k);
    check_flavours(in, a, q);
    check_approximation(in, a, q);
}

static int factors(const named_action *a, const named_quark *q, mass_factor f[MAX_FACTORS])
{
    const rational_keys *k = keys_of(&a->p);
    (void)q;
    memcpy(f, k->factors, sizeof k->factors);
    return k->nfactors;
}

/* ---- the action ---- */

static rational_settings settings_of(const action_term *t)
{
    const rational_keys *k = keys_of(&t->action->p);
    const quark_kind *kind = quark_kind_of(&t->quark->p);
    rational_settings s = {.pseudofermions = k->pseudofermions,
                           .approximation = k->approximation,
                           .force_approximation = k->force_approximation,
                           .low = k->ends[0],
                           .high = k->ends[1],
                           .over_low = k->over_ends[0],
                           .over_high = k->over_ends[1],
                           .widen = k->range_breach == BREACH_WIDENS,
                           .bound = kind->shifted_by_mass ? t->mass * t->mass : 0};
    s.root.nfactors = k->nfactors;
    for (int i = 0; i < k->nfactors; i++)
        s.root.factors[i] = (shifted_power){.shift = i > 0 ? k->factors[i].mass * k->factors[i].mass - s.bound : 0,
                                            .num = -k->factors[i].flavours,
                                            .den = kind->flavours * s.pseudofermions};
    return s;
}

static int heat_bath_solves(const action_term *t)
{
    (void)t;
    return 1;
}

static action *create(const action_scene *s, const action_term *t)
{
    rational_settings settings = settings_of(t);
    settings.quark = action_quark(s, t);
    settings.over = action_over(s, t);
    settings.solvers = action_solvers_of(s, t);
    return rational_action_create(t->name, &settings);
}

/* Ten poles, or so, to iterate and to assemble; a denominator adds two solves of a tenth of the iterations. */
static double force_flops(const action_term *t, double iterations)
{
    const double poles = 10;
    const quark_params *q = &t->quark->p;
    const quark_kind *kind = quark_kind_of(q);
    const double solve = iterations * (kind->normal_flops(q) + poles * kind->shift_flops(q));
    const double each = (kind->regulated ? 1.2 : 1) * solve + poles * kind->term_flops(q);
    return keys_of(&t->action->p)->pseudofermions * each + kind->force_flops(q);
}

const action_kind action_kind_rational = {.name = "rational",
                                          .help = "any number of flavours, by rational functions (RHMC)",
                                          .parts = {&rational_part},
                                          .shifts = 1,
                                          .complete = complete,
                                          .factors = factors,
                                          .heat_bath_solves = heat_bath_solves,
                                          .rational = settings_of,
                                          .create = create,
                                          .force_flops = force_flops};
