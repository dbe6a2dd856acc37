/* wilson_clover_rational: one, two or three flavours by rational functions, as pseudofermions on one parity and, with a
 * clover term, NAME.det. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_wilson.h"

static void create(simulation *s, int number)
{
    const fermion_params *f = &s->p->fermions[number].p;
    fermion_add_rational(s, number, fermion_flavour_settings(f));
    fermion_add_determinant(s, number, NULL, rational_keys_of(f)->flavours);
}

/* As for two flavours, with some ten poles to assemble. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double poles = 10, clover = wilson_keys_of(f)->c_sw != 0;
    const double each = iterations * (2 * 1320 + clover * 2 * 504 + poles * 240) + poles * 12000;
    return rational_keys_of(f)->pseudofermions * each + clover * 45000;
}

const fermion_kind fermion_wilson_clover_rational = {
    .name = "wilson_clover_rational",
    .help = "one, two or three flavours, by rational functions (RHMC)",
    .parts = {&wilson_part, &link_reals_part, &smearing_part, &heat_bath_part, &rational_part},
    .spins = 4,
    .shifts = 1,
    .blocks = 1,
    .coarsens = 1,
    .complete = fermion_complete_flavours,
    .quark = wilson_quark,
    .describe = wilson_describe,
    .same_operator = wilson_same_operator,
    .log_det = wilson_has_clover,
    .rational = fermion_flavour_settings,
    .create = create,
    .force_flops = force_flops,
    .solve_op = "cg",
    .force_op = "hop_force"};
