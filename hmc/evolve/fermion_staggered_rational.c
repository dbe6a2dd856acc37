/* staggered_rational: det(M)^(N/4) of staggered quarks by rational functions, on one parity, where det M = det A of A =
 * m^2 - D_pq D_qp / 4; with further factors of heavier masses on the same pseudofermions, whose A are shifted ones. So
 * (A. Bazavov et al., Rev. Mod. Phys. 82 (2010) 1349, section II.D) light and strange quarks over a heavy mass make a
 * smaller force than each of them alone. MILC's programs write (x + 4 m_i^2)^(N_i/4) with x = -D^2: these are the m_i.
 *
 * Derivatives of all sections of a level whose links have the same smearing are summed and taken back through it
 * together. */
#include <stdio.h>
#include <string.h>

#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_staggered.h"
#include "kernels/base/error.h"

_Static_assert(MAX_FACTORS <= RATIONAL_MAX_FACTORS, "factors of a section are those of one function");

/* ---- further masses ---- */

typedef struct {
    char with[PARAM_WORDS_SIZE];
    int nfactors; /* of that text, and in front the section's own mass and flavours; by mass */
    mass_factor factors[MAX_FACTORS];
} with_keys;

static const param table[] = {
    {"with", PARAM_WORDS, offsetof(with_keys, with), "", NULL, NULL,
     "further factors MASS:N det(M)^(N/4) on the same pseudofermion, of masses above the section's, or NAME:N of the "
     "mass of [fermion.NAME], which has the same links, u0 and naik_epsilon; N may be negative, as in 0.05:1 heavy:-3, "
     "where another section of that mass and the same links has the 3",
     1},
};

static const fermion_part with_part;

static const with_keys *with_of(const fermion_params *f)
{
    return fermion_keys(f, &with_part);
}

#define HEAVIEST 1e6 /* as of the section's own mass */

/* The mass of a factor, which is a number or the name of another section. */
static double mass_of(const ini_input *in, const parameters *p, const named_fermion *f, const char *word)
{
    const char *names[MAX_NAMED];
    double mass;
    if (!param_real(word, &mass)) return mass;
    for (int i = 0; i < p->nfermions; i++) names[i] = p->fermions[i].name;
    parameters_check_name(in, "fermion", f->name, "with", word, names, p->nfermions, "[fermion.NAME]");
    const named_fermion *other = &p->fermions[simulation_fermion(p, word)];
    const fermion_kind *kind = fermion_kind_find(other->p.kind);
    if (kind->quark != staggered_quark || !staggered_same_operator(&f->p, &other->p))
        user_error(
            "%s: [fermion.%s] takes the mass of [fermion.%s] for a factor, but its links, u0 or naik_epsilon are "
            "others; factors of one pseudofermion have the same links",
            ini_where(in, "fermion", f->name, "with"), f->name, other->name);
    return other->p.mass;
}

/* From now on with masses as numbers: they are what the ensemble is made with. */
static void write_factors(with_keys *k)
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

/* MASS:N and NAME:N of the text, with the section's own in front. */
static void read_factors(const ini_input *in, const parameters *p, const named_fermion *f, with_keys *k)
{
    char word[PARAM_WORDS_SIZE];
    const char *const where = ini_where(in, "fermion", f->name, "with");
    k->factors[0] = (mass_factor){f->p.mass, rational_keys_of(&f->p)->flavours};
    k->nfactors = 1;
    for (int n = 0; param_word(k->with, n, word, sizeof word); n++) {
        char *colon = strchr(word, ':');
        double mass = 0;
        int64_t flavours = 0;
        if (colon) *colon = 0;
        const int bad = !colon || param_integer(colon + 1, &flavours);
        if (!bad) mass = mass_of(in, p, f, word);
        if (colon) *colon = ':';
        if (bad || !(mass > f->p.mass) || !(mass <= HEAVIEST) || flavours == 0 || flavours < -32 || flavours > 32)
            user_error(
                "%s: '%s' of with = %s in [fermion.%s] is not MASS:N or NAME:N with a mass above %g, at most %g, and a "
                "number of flavours from -32 to 32, not 0",
                where, word, k->with, f->name, f->p.mass, HEAVIEST);
        if (k->nfactors == MAX_FACTORS)
            user_error("%s: with = %s in [fermion.%s] has more than %d factors", where, k->with, f->name,
                       MAX_FACTORS - 1);
        int i = k->nfactors++;
        for (; k->factors[i - 1].mass > mass; i--) k->factors[i] = k->factors[i - 1];
        k->factors[i] = (mass_factor){mass, (int)flavours};
        if (k->factors[i - 1].mass == mass)
            user_error("%s: with = %s in [fermion.%s] has the mass %g twice", where, k->with, f->name, mass);
    }
}

/* Exponents for which rational functions have residues of one sign. */
static void complete_factors(const ini_input *in, const parameters *p, named_fermion *f)
{
    with_keys *k = fermion_keys(&f->p, &with_part);
    const int most = 4 * rational_keys_of(&f->p)->pseudofermions;
    read_factors(in, p, f, k);
    write_factors(k);
    for (int i = 0, sum = 0; i < k->nfactors; i++) {
        sum += k->factors[i].flavours;
        if (sum >= 0 && sum <= most) continue;
        user_error("%s: the flavours of [fermion.%s] up to mass %g add up to %d, which has to be between 0 and 4 "
                   "pseudofermions = %d",
                   ini_where(in, "fermion", f->name, i > 0 ? "with" : "flavours"), f->name, k->factors[i].mass, sum,
                   most);
    }
    int whole = k->nfactors > 1;
    for (int i = 0; i < k->nfactors; i++) whole = whole && k->factors[i].flavours % most == 0;
    if (whole)
        user_error("%s: with whole powers of all masses of [fermion.%s] there is no root for a rational function to "
                   "approximate; set pseudofermions = %d",
                   ini_where(in, "fermion", f->name, "with"), f->name, most / 2);
}

static const fermion_part with_part = {
    .keys = PARAM_PART("fermion", "further masses", with_keys, table), .of_action = 1, .complete = complete_factors};

static const mass_factor *factors_of(const fermion_params *f, int *n)
{
    *n = with_of(f)->nfactors;
    return with_of(f)->factors;
}

/* ---- the action ---- */

static rational_settings settings_of(const fermion_params *f)
{
    rational_settings s = fermion_rational_settings(f);
    const with_keys *k = with_of(f);
    s.bound = f->mass * f->mass;
    s.root.nfactors = k->nfactors;
    for (int i = 0; i < k->nfactors; i++)
        s.root.factors[i] = (shifted_power){.shift = k->factors[i].mass * k->factors[i].mass - s.bound,
                                            .num = -k->factors[i].flavours,
                                            .den = 4 * s.pseudofermions};
    return s;
}

static void complete(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    const rational_keys *k = rational_keys_of(&f->p);
    const double lowest = f->p.mass * f->p.mass, typed = 1 + 1e-12; /* by hand, it may differ in the last digit */
    if (k->ends[0] > lowest * typed)
        user_error("%s: spectrum = %s in [fermion.%s] begins above %.6g, the square of the mass and the lowest "
                   "eigenvalue of a staggered quark",
                   ini_where(in, "fermion", f->name, "spectrum"), k->spectrum, f->name, lowest);
}

static void create(simulation *s, int number)
{
    fermion_add_rational(s, number, settings_of(&s->p->fermions[number].p));
}

/* Two hops on half of the sites an iteration, with some ten poles, and the smearing there and back. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double poles = 10;
    const double each = iterations * (staggered_hop_flops_of(f) + poles * 30) + poles * 4000;
    return rational_keys_of(f)->pseudofermions * each + staggered_smearing_flops_of(f);
}

const fermion_kind fermion_staggered_rational = {
    .name = "staggered_rational",
    .help = "staggered quarks of one mass or of several, by rational functions (RHMC)",
    .parts = {&staggered_part, &heat_bath_part, &with_part, &rational_part},
    .spins = 1,
    .shifted_by_mass = 1,
    .shifts = 1,
    .chemical_potential = 1,
    .complete = complete,
    .quark = staggered_quark,
    .describe = staggered_describe,
    .advise = staggered_advise,
    .same_operator = staggered_same_operator,
    .factors = factors_of,
    .in_gauge_loops = staggered_in_gauge_loops,
    .reach = staggered_reach,
    .rational = settings_of,
    .create = create,
    .force_flops = force_flops,
    .solve_op = "staggered_cg",
    .force_op = "hisq_force"};
