/* staggered_rational: det(M)^(N/4) of staggered quarks by rational functions, on one parity, where det M = det A of A =
 * m^2 - D_pq D_qp / 4; with further factors of heavier masses on the same pseudofermions, whose A are shifted ones. So
 * (A. Bazavov et al., Rev. Mod. Phys. 82 (2010) 1349, section II.D) light and strange quarks over a heavy mass make a
 * smaller force than each of them alone. MILC's programs write (x + 4 m_i^2)^(N_i/4) with x = -D^2: these are the m_i.
 *
 * Derivatives of all sections of a level whose links have the same smearing are summed and taken back through it
 * together. */
#include "hmc/evolve/fermion_kind.h"

_Static_assert(MAX_FACTORS <= RATIONAL_MAX_FACTORS, "factors of a section are those of one function");

static rational_settings settings_of(const fermion_params *f)
{
    rational_settings s = fermion_rational_settings(f);
    s.bound = f->mass * f->mass;
    s.root.nfactors = f->nfactors;
    for (int i = 0; i < f->nfactors; i++)
        s.root.factors[i] = (shifted_power){.shift = f->factors[i].mass * f->factors[i].mass - s.bound,
                                            .num = -f->factors[i].flavours,
                                            .den = 4 * f->pseudofermions};
    return s;
}

static void create(simulation *s, int number)
{
    fermion_add_rational(s, number, settings_of(&s->p->fermions[number].p));
}

/* Two hops on half of the sites an iteration, with some ten poles, and the smearing there and back. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double poles = 10;
    const double each = iterations * (fermion_staggered_hop_flops(f) + poles * 30) + poles * 4000;
    return f->pseudofermions * each + fermion_smearing_flops(f);
}

const fermion_kind fermion_staggered_rational = {
    .name = "staggered_rational",
    .help = "staggered quarks of one mass or of several, by rational functions (RHMC)",
    .keys = "links u0 long_reals naik_epsilon heat_bath_solver with flavours pseudofermions approximation "
            "force_approximation spectrum "
            "range_breach",
    .shifts = 1,
    .rational = settings_of,
    .staggered = 1,
    .quark = fermion_of_staggered,
    .create = create,
    .force_flops = force_flops};
