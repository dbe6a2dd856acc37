/* two_flavours, four_flavours: the determinant of a quark's normal operator K by one pseudofermion, or by several with a
 * chain of heavier masses (action_pseudofermion.c): det K is two flavours of quarks whose K is M^dagger M, and four tastes of a
 * staggered quark, whose K is M^dagger M on half of the sites. */
#include "hmc/actions/action_kind.h"

static void complete(const ini_input *in, named_action *a, const named_quark *q, const named_quark *all, int n)
{
    (void)all;
    (void)n;
    chain_complete(in, a, q);
}

static int factors(const named_action *a, const named_quark *q, mass_factor f[MAX_FACTORS])
{
    if (chain_of_ratios(&a->p)) return 0;
    f[0] = (mass_factor){q->p.mass, quark_kind_of(&q->p)->flavours};
    return 1;
}

static action *create(const action_scene *s, const action_term *t)
{
    const pseudofermion_settings settings = {.quark = action_quark(s, t),
                                             .over = action_over(s, t),
                                             .solvers = action_solvers_of(s, t),
                                             .predictor = predictor_of(&t->action->p)};
    return pseudofermion_action_create(t->name, &settings);
}

static double force_flops(const action_term *t, double iterations)
{
    const quark_params *q = &t->quark->p;
    const quark_kind *kind = quark_kind_of(q);
    return iterations * kind->normal_flops(q) + kind->force_flops(q) + kind->term_flops(q);
}

const action_kind action_kind_two_flavours = {.name = "two_flavours",
                                              .help = "two degenerate flavours of Wilson-clover or domain wall quarks",
                                              .parts = {&chain_part, &predictor_part},
                                              .flavours = 2,
                                              .complete = complete,
                                              .factors = factors,
                                              .heat_bath_solves = action_is_ratio,
                                              .create = create,
                                              .force_flops = force_flops};

const action_kind action_kind_four_flavours = {.name = "four_flavours",
                                               .help = "four tastes of a staggered quark, without a root",
                                               .parts = {&predictor_part},
                                               .flavours = 4,
                                               .factors = factors,
                                               .heat_bath_solves = action_is_ratio,
                                               .create = create,
                                               .force_flops = force_flops};
