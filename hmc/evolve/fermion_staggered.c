/* staggered: four flavours, the whole det(M) of a staggered quark, as a pseudofermion on one parity. */
#include "hmc/evolve/fermion_kind.h"

static void create(simulation *s, int number)
{
    const named_fermion *f = &s->p->fermions[number];
    const pseudofermion_settings settings = {
        .quark = s->quarks[number], .solvers = fermion_solvers(s, &f->p), .predictor = f->p.predictor};
    simulation_add(s, pseudofermion_action_create(f->name, &settings));
}

/* Two hops on half of the sites an iteration, and the smearing there and back. */
static double force_flops(const fermion_params *f, double iterations)
{
    return iterations * fermion_staggered_hop_flops(f) + fermion_smearing_flops(f);
}

const fermion_kind fermion_staggered = {.name = "staggered",
                                        .help = "four flavours of a staggered quark, unrooted",
                                        .keys = "links u0 long_reals naik_epsilon predictor",
                                        .staggered = 1,
                                        .flavours = 4,
                                        .quark = fermion_of_staggered,
                                        .create = create,
                                        .force_flops = force_flops};
