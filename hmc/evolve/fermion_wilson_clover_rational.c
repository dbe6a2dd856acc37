/* wilson_clover_rational: one, two or three flavours by rational functions, as pseudofermions on one parity and, with a
 * clover term, NAME.det. */
#include "hmc/evolve/fermion_kind.h"
#include "solvers/rational.h"

static rational_settings settings_of(const fermion_params *f)
{
    rational_settings s = fermion_rational_settings(f);
    s.root = power_of_x(-f->flavours, 2 * f->pseudofermions);
    return s;
}

static void create(simulation *s, int number)
{
    const fermion_params *f = &s->p->fermions[number].p;
    fermion_add_rational(s, number, settings_of(f));
    fermion_add_determinant(s, number, NULL, f->flavours);
}

/* As for two flavours, with some ten poles to assemble. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double poles = 10, clover = f->c_sw != 0;
    const double each = iterations * (2 * 1320 + clover * 2 * 504 + poles * 240) + poles * 12000;
    return f->pseudofermions * each + clover * 45000;
}

const fermion_kind fermion_wilson_clover_rational = {.name = "wilson_clover_rational",
                                                     .help = "one, two or three flavours, by rational functions (RHMC)",
                                                     .keys =
                                                         "kappa c_sw schur link_reals heat_bath_solver flavours "
                                                         "pseudofermions approximation force_approximation spectrum "
                                                         "range_breach",
                                                     .shifts = 1,
                                                     .rational = settings_of,
                                                     .blocks = 1,
                                                     .quark = fermion_of_wilson,
                                                     .create = create,
                                                     .force_flops = force_flops};
