/* mobius: two degenerate Moebius domain wall flavours, as a ratio det(M^dagger M) / det(V^dagger V) of even-odd systems
 * by one pseudofermion, where V is the quark of ratio_to or the Pauli-Villars field, M with m = 1. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_mobius.h"

static void create(simulation *s, int number)
{
    const named_fermion *f = &s->p->fermions[number];
    const pseudofermion_settings settings = {.quark = s->quarks[number],
                                             .over = mobius_denominator(s, number),
                                             .solvers = fermion_solvers(s, &f->p),
                                             .predictor = predictor_of(&f->p)};
    simulation_add(s, pseudofermion_action_create(f->name, &settings));
}

static double force_flops(const fermion_params *f, double iterations)
{
    return iterations * mobius_normal_flops(f) + mobius_assembly_flops(f);
}

const fermion_kind fermion_mobius = {
    .name = "mobius",
    .help = "two degenerate Moebius domain wall flavours, over Pauli-Villars fields",
    .parts = {&link_reals_part, &mobius_part, &heat_bath_part, &ratio_part, &predictor_part},
    .spins = 4,
    .flavours = 2,
    .regulated = 1,
    .quark = mobius_quark,
    .describe = mobius_describe,
    .same_operator = mobius_same_operator,
    .ratio_keys = mobius_ratio_keys,
    .slices = mobius_slices,
    .create = create,
    .force_flops = force_flops};
