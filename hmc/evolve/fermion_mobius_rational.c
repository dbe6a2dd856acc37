/* mobius_rational: one Moebius domain wall flavour, or several, over as many Pauli-Villars fields: a power of
 * det(M^dagger M) / det(V^dagger V) of even-odd systems by rational functions of both operators. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_mobius.h"

typedef struct {
    char text[PARAM_WORDS_SIZE];
    double ends[2]; /* 0 for auto */
} denominator_keys;

static const param table[] = {
    {"pauli_villars_spectrum", PARAM_WORDS, offsetof(denominator_keys, text), "auto", NULL, NULL,
     "as spectrum, of the Pauli-Villars field's operator, whose functions have a range of their own", 0},
};

static const fermion_part denominator_part;

static denominator_keys *denominator_of(const fermion_params *f)
{
    return fermion_keys(f, &denominator_part);
}

static void complete_denominator(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    denominator_keys *k = denominator_of(&f->p);
    fermion_read_spectrum(in, f->name, table[0].name, k->text, k->ends);
}

static const fermion_part denominator_part = {
    .keys = PARAM_PART("fermion", "Pauli-Villars fields", denominator_keys, table),
    .of_action = 1,
    .complete = complete_denominator};

static rational_settings settings_of(const fermion_params *f)
{
    rational_settings s = fermion_flavour_settings(f);
    s.over_low = denominator_of(f)->ends[0];
    s.over_high = denominator_of(f)->ends[1];
    return s;
}

static void create(simulation *s, int number)
{
    rational_settings settings = settings_of(&s->p->fermions[number].p);
    settings.over = fermion_denominator(s, number);
    fermion_add_rational(s, number, settings);
}

/* A solve with the quark and two, of a tenth of the iterations, with the Pauli-Villars field; some ten poles each. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double poles = 10, Ls = mobius_slices(f);
    const double each =
        1.2 * iterations * (mobius_normal_flops(f) + poles * Ls * 240) + poles * mobius_assembly_flops(f);
    return rational_keys_of(f)->pseudofermions * each;
}

const fermion_kind fermion_mobius_rational = {
    .name = "mobius_rational",
    .help = "one to three Moebius domain wall flavours over Pauli-Villars fields, by rational functions (RHMC)",
    .parts = {&link_reals_part, &smearing_part, &mobius_part, &heat_bath_part, &rational_part, &denominator_part},
    .spins = 4,
    .shifts = 1,
    .regulated = 1,
    .blocks = 1,
    .complete = fermion_complete_flavours,
    .quark = mobius_quark,
    .describe = mobius_describe,
    .same_operator = mobius_same_operator,
    .rational = settings_of,
    .slices = mobius_slices,
    .transform_keys = mobius_transform_keys,
    .create = create,
    .force_flops = force_flops,
    .solve_op = "mobius_cg",
    .force_op = "hop_force"};
