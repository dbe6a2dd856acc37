/* The part of rational actions: flavours, pseudofermions, and the functions with their range. */
#include <string.h>

#include "hmc/evolve/parts.h"
#include "kernels/base/error.h"
#include "solvers/rational.h"

#define AT(member) offsetof(rational_keys, member)

static const param table[] = {
    {"flavours", PARAM_INT, AT(flavours), "1", "[1,32]", NULL,
     "N of det(M^+ M)^(N/2), N <= 2 n; of staggered quarks det(M)^(N/4), N <= 4 n", 1},
    {"pseudofermions", PARAM_INT, AT(pseudofermions), "1", "[1,8]", NULL, "n, each for the nth root of the determinant",
     0},
    {"approximation", PARAM_REAL, AT(approximation), "1e-12", "[1e-14,1e-6]", NULL,
     "largest relative error of the rational functions of heat bath and accept step", 0},
    {"force_approximation", PARAM_REAL, AT(force_approximation), "1e-7", "[1e-14,1e-3]", NULL,
     "largest relative error of the rational functions of the force", 0},
    {"spectrum", PARAM_WORDS, AT(spectrum), "auto", NULL, NULL,
     "range LO HI of the rational functions in eigenvalues of Mhat^+ Mhat, which is measured and has to "
     "be inside; or auto: as measured at the start of each trajectory, with room, which leaves trajectories "
     "reversible to force_approximation. Of staggered quarks in those of M^+ M on one parity, where LO is mass^2",
     0},
    {"range_breach", PARAM_CHOICE, AT(range_breach), "stop", "stop|widen", NULL,
     "what follows when the spectrum is found outside of the range: stop, with advice; or widen: the "
     "trajectory is repeated with the same random numbers on a range that contains it, for this "
     "trajectory alone, which is then reversible to force_approximation",
     0},
};

void fermion_read_spectrum(const ini_input *in, const char *name, const char *key, const char *text, double ends[2])
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
        user_error("%s: %s = %s in [fermion.%s] is neither auto nor two numbers LO HI with 0 < LO < HI",
                   ini_where(in, "fermion", name, key), key, text, name);
}

/* Without a root there is one function, 1/x, for action and force. */
static void complete(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    rational_keys *k = rational_keys_of(&f->p);
    fermion_read_spectrum(in, f->name, "spectrum", k->spectrum, k->ends);
    const power_product root = fermion_kind_find(f->p.kind)->rational(&f->p).root;
    if (ini_given(in, "fermion", f->name, "force_approximation") && root.nfactors == 1 &&
        root.factors[0].num == -root.factors[0].den)
        user_error(
            "%s: force_approximation is given, but %d flavours on pseudofermions = %d take no root of [fermion.%s], "
            "whose force is then exact; leave it out",
            ini_where(in, "fermion", f->name, "force_approximation"), k->flavours, k->pseudofermions, f->name);
}

const fermion_part rational_part = {
    .keys = PARAM_PART("fermion", "rational functions", rational_keys, table), .of_action = 1, .complete = complete};

void fermion_complete_flavours(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    const rational_keys *k = rational_keys_of(&f->p);
    const char *const where = ini_where(in, "fermion", f->name, "flavours");
    if (k->flavours > 3)
        user_error("%s: flavours = %d in [fermion.%s]; with kind = %s allowed is 1 <= integer <= 3", where, k->flavours,
                   f->name, f->p.kind);
    if (k->flavours > 2 * k->pseudofermions)
        user_error("%s: %d flavours in [fermion.%s] need pseudofermions = %d or more, so that each has an exponent of "
                   "at most 1",
                   where, k->flavours, f->name, (k->flavours + 1) / 2);
}

rational_settings fermion_rational_settings(const fermion_params *f)
{
    const rational_keys *k = rational_keys_of(f);
    return (rational_settings){.pseudofermions = k->pseudofermions,
                               .approximation = k->approximation,
                               .force_approximation = k->force_approximation,
                               .low = k->ends[0],
                               .high = k->ends[1],
                               .widen = !strcmp(k->range_breach, "widen")};
}

rational_settings fermion_flavour_settings(const fermion_params *f)
{
    rational_settings s = fermion_rational_settings(f);
    s.root = power_of_x(-rational_keys_of(f)->flavours, 2 * s.pseudofermions);
    return s;
}

void fermion_add_rational(simulation *s, int number, rational_settings settings)
{
    const named_fermion *f = &s->p->fermions[number];
    settings.quark = s->quarks[number];
    settings.solvers = fermion_solvers(s, &f->p);
    simulation_add(s, rational_action_create(f->name, &settings));
}
