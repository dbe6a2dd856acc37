/* wilson_clover: two degenerate flavours, or a ratio of two such determinants, as a pseudofermion on one parity and,
 * with a clover term, NAME.det. */
#include "hmc/evolve/fermion_kind.h"

static void create(simulation *s, int number)
{
    const parameters *p = s->p;
    const named_fermion *f = &p->fermions[number];
    fermion *over = f->p.ratio_to[0] ? s->quarks[simulation_fermion(p, f->p.ratio_to)] : NULL;
    const pseudofermion_settings settings = {
        .quark = s->quarks[number], .over = over, .solvers = fermion_solvers(s, &f->p), .predictor = f->p.predictor};
    simulation_add(s, pseudofermion_action_create(f->name, &settings));
    fermion_add_determinant(s, number, over, 2);
}

/* Hops and clover terms of the Schur complement and its dagger on half the sites; assembling takes some 60000. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double assembly = f->ratio_to[0] ? 90000 : 60000;
    return iterations * 0.5 * 2 * (2 * 1320 + (f->c_sw != 0 ? 2 * 504 : 0)) + assembly;
}

const fermion_kind fermion_wilson_clover = {.name = "wilson_clover",
                                            .help = "two degenerate Wilson-clover flavours, even-odd preconditioned",
                                            .keys = "kappa c_sw schur link_reals heat_bath_solver ratio_to predictor",
                                            .flavours = 2,
                                            .blocks = 1,
                                            .quark = fermion_of_wilson,
                                            .create = create,
                                            .force_flops = force_flops};
