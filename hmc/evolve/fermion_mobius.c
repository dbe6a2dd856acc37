/* mobius: two degenerate Moebius domain wall flavours, as a ratio det(M^dagger M) / det(V^dagger V) of even-odd systems
 * by one pseudofermion, where V is the quark of ratio_to or the Pauli-Villars field, M with m = 1. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_mobius.h"

static double force_flops(const fermion_params *f, double iterations)
{
    return iterations * mobius_normal_flops(f) + mobius_assembly_flops(f);
}

const fermion_kind fermion_mobius = {
    .name = "mobius",
    .help = "two degenerate Moebius domain wall flavours, over Pauli-Villars fields",
    .parts = {&link_reals_part, &smearing_part, &mobius_part, &heat_bath_part, &ratio_part, &predictor_part},
    .spins = 4,
    .flavours = 2,
    .regulated = 1,
    .blocks = 1,
    .quark = mobius_quark,
    .describe = mobius_describe,
    .same_operator = mobius_same_operator,
    .ratio_keys = mobius_ratio_keys,
    .slices = mobius_slices,
    .transform_keys = mobius_transform_keys,
    .create = fermion_add_pseudofermion,
    .force_flops = force_flops,
    .solve_op = "mobius_cg",
    .force_op = "hop_force"};
