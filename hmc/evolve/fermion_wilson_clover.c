/* wilson_clover: two degenerate flavours, or a ratio of two such determinants, as a pseudofermion on one parity and,
 * with a clover term, NAME.det. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_wilson.h"

static void create(simulation *s, int number)
{
    fermion_add_pseudofermion(s, number);
    fermion_add_determinant(s, number, fermion_denominator(s, number), 2);
}

/* Hops and clover terms of the Schur complement and its dagger on half the sites; assembling takes some 60000. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double assembly = ratio_of(f)[0] ? 90000 : 60000;
    return iterations * 0.5 * 2 * (2 * 1320 + (wilson_keys_of(f)->c_sw != 0 ? 2 * 504 : 0)) + assembly;
}

const fermion_kind fermion_wilson_clover = {
    .name = "wilson_clover",
    .help = "two degenerate Wilson-clover flavours, even-odd preconditioned",
    .parts = {&wilson_part, &link_reals_part, &smearing_part, &heat_bath_part, &ratio_part, &predictor_part},
    .spins = 4,
    .flavours = 2,
    .blocks = 1,
    .coarsens = 1,
    .quark = wilson_quark,
    .describe = wilson_describe,
    .same_operator = wilson_same_operator,
    .ratio_keys = wilson_ratio_keys,
    .log_det = wilson_has_clover,
    .create = create,
    .force_flops = force_flops,
    .solve_op = "cg",
    .force_op = "hop_force"};
