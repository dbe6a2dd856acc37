/* staggered: four flavours, the whole det(M) of a staggered quark, as a pseudofermion on one parity. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_staggered.h"

/* Two hops on half of the sites an iteration, and the smearing there and back. */
static double force_flops(const fermion_params *f, double iterations)
{
    return iterations * staggered_hop_flops_of(f) + staggered_smearing_flops_of(f);
}

const fermion_kind fermion_staggered = {.name = "staggered",
                                        .help = "four flavours of a staggered quark, unrooted",
                                        .parts = {&staggered_part, &predictor_part},
                                        .spins = 1,
                                        .shifted_by_mass = 1,
                                        .flavours = 4,
                                        .chemical_potential = 1,
                                        .quark = staggered_quark,
                                        .describe = staggered_describe,
                                        .advise = staggered_advise,
                                        .same_operator = staggered_same_operator,
                                        .in_gauge_loops = staggered_in_gauge_loops,
                                        .reach = staggered_reach,
                                        .create = fermion_add_pseudofermion,
                                        .force_flops = force_flops,
                                        .solve_op = "staggered_cg",
                                        .force_op = "hisq_force"};
