/* twisted_doublet: two flavours of Wilson-clover quarks with a twisted mass and different masses, such as strange and charm, of
 * sections [quark.NAME] (R. Frezzotti and G. C. Rossi, hep-lat/0311008; T. Chiarappa et al., hep-lat/0606011; R. Baron et al.,
 * arXiv:1004.5284):
 *
 *   M = D + i mu_sigma gamma_5 tau_1 + mu_delta tau_3
 *
 * up to a rotation of flavours (operators/wilson.h). Renormalised masses are mu_sigma / Z_P -+ mu_delta / Z_S. The normal operator
 * is of det(M)^2, four flavours; a rational action of two is the doublet. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/quarks/quark_links.h"
#include "hmc/quarks/quark_wilson.h"
#include "kernels/base/error.h"

typedef struct {
    double mu_sigma, mu_delta;
} doublet_keys;

#define AT(member) offsetof(doublet_keys, member)

static const param table[] = {
    {"mu_sigma", PARAM_REAL, AT(mu_sigma), "0", "[-10,10]", "1/a",
     "twisted mass of the doublet, M = D + i mu_sigma gamma_5 tau_1 + mu_delta tau_3; codes that ask for 2 kappa mubar "
     "have "
     "2 kappa times it",
     1},
    {"mu_delta", PARAM_REAL, AT(mu_delta), "0", "[-10,10]", "1/a",
     "mass splitting of the doublet; codes that ask for 2 kappa epsbar have 2 kappa times it", 1},
};

static const param_section doublet_part = PARAM_PART("quark", "non-degenerate doublet", doublet_keys, table);

static const doublet_keys *keys_of(const quark_params *f)
{
    return quark_keys(f, &doublet_part);
}

static wilson_settings settings_of(const quark_params *f)
{
    wilson_settings s = wilson_settings_of(f);
    s.doublet = 1;
    s.mu = keys_of(f)->mu_sigma;
    s.epsilon = keys_of(f)->mu_delta;
    return s;
}

/* Free quarks of such a doublet have a singular site-diagonal part where its square is zero. */
static void complete(const ini_input *in, named_quark *f)
{
    wilson_keys_complete(in, f);
    const doublet_keys *k = keys_of(&f->p);
    if (k->mu_sigma == 0 && k->mu_delta == 0)
        user_error(
            "%s: [quark.%s] of kind = twisted_doublet has neither mu_sigma nor mu_delta; give them, or take kind = "
            "wilson_clover",
            ini_where(in, "quark", f->name, ""), f->name);
    const wilson_settings s = settings_of(&f->p);
    const double diagonal = 1 + 3 * wilson_space(&s) + s.mass;
    if (diagonal * diagonal + s.mu * s.mu <= s.epsilon * s.epsilon)
        user_error(
            "%s: [quark.%s] mu_delta = %.8g is too large for even-odd preconditioning, whose site-diagonal matrix has "
            "to stay positive: its square has to be below %.8g, that of 1 / (2 kappa) and of mu_sigma together",
            ini_where(in, "quark", f->name, "mu_delta"), f->name, s.epsilon, diagonal * diagonal + s.mu * s.mu);
}

static fermion *make(const field *links, const quark_params *f, fermion *const *others, int n)
{
    wilson_settings s = settings_of(f);
    return wilson_quark_make(links, f, &s, others, n);
}

static void describe(const quark_params *f, double mass, char *text, size_t size)
{
    const double twice_kappa = 1 / (mass + 4);
    const doublet_keys *k = keys_of(f);
    wilson_describe(f, mass, text, size);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, ", mu_sigma %.8g, mu_delta %.8g (times 2 kappa %.8g, %.8g)", k->mu_sigma,
             k->mu_delta, twice_kappa * k->mu_sigma, twice_kappa * k->mu_delta);
    quark_describe_theta(f, text, size);
}

static int same_operator(const quark_params *f, const quark_params *g)
{
    const doublet_keys *k = keys_of(f), *l = keys_of(g);
    return k->mu_sigma == l->mu_sigma && k->mu_delta == l->mu_delta && wilson_same_operator(f, g);
}

/* Renormalised masses are mu_sigma -+ (Z_P / Z_S) mu_delta up to a factor; Z_P / Z_S is about 0.8 at the spacings in use. */
static double twist(const quark_params *f)
{
    const doublet_keys *k = keys_of(f);
    return fmax(fabs(k->mu_sigma) - 0.8 * fabs(k->mu_delta), 0.01);
}

/* Flops of two flavours; as of twisted_mass, four numbers a component in both matrices of a system in place of two. */
static double normal_flops(const quark_params *f)
{
    return 2 * (wilson_normal_flops(f) + 192 + (wilson_has_clover(f) ? 504 : 0));
}

static double term_flops(const quark_params *f)
{
    return 2 * wilson_term_flops(f);
}

static double shift_flops(const quark_params *f)
{
    return 2 * wilson_shift_flops(f);
}

const quark_kind quark_twisted_doublet = {
    .name = "twisted_doublet",
    .help = "Wilson-clover with a twisted mass, of a non-degenerate doublet as strange and charm",
    .parts = {&wilson_part, &doublet_part, &link_reals_part, &smearing_part, &twist_part},
    .spins = 4,
    .flavours = 4,
    .doublet = 1,
    .ratios = 1,
    .blocks = 1,
    .bounded = 1,
    .complete = complete,
    .make = make,
    .describe = describe,
    .same_operator = same_operator,
    .log_det = wilson_has_log_det,
    .twist = twist,
    .normal_flops = normal_flops,
    .force_flops = wilson_force_flops,
    .term_flops = term_flops,
    .shift_flops = shift_flops,
    .solve_op = "cg",
    .force_op = "hop_force"};
