/* twisted_mass: Wilson-clover quarks with a twisted mass, of sections [quark.NAME] (R. Frezzotti et al., hep-lat/0101001): M(mu)
 * = M + i mu gamma_5, the flavour tau_3 = 1 of a degenerate doublet in the twisted basis. The other flavour has M(-mu) =
 * gamma_5 M(mu)^dagger gamma_5, so that two flavours of this kind are the doublet. */
#include <stdio.h>
#include <string.h>

#include "hmc/quarks/quark_links.h"
#include "hmc/quarks/quark_wilson.h"
#include "kernels/base/error.h"

typedef struct {
    double mu;
} twisted_keys;

static const param table[] = {
    {"mu", PARAM_REAL, offsetof(twisted_keys, mu), "0", "[-10,10]", "1/a",
     "twisted mass of the flavour tau_3 = 1, M = D + i mu gamma_5; codes that ask for 2 kappa mu have 2 kappa times it",
     1},
};

static const param_section twisted_part = PARAM_PART("quark", "twisted mass", twisted_keys, table);

static double *twisted_mass(const quark_params *f)
{
    return &((twisted_keys *)quark_keys(f, &twisted_part))->mu;
}

static double mu_of(const quark_params *f)
{
    return *twisted_mass(f);
}

static void complete(const ini_input *in, named_quark *f)
{
    wilson_keys_complete(in, f);
    if (mu_of(&f->p) == 0)
        user_error("%s: [quark.%s] of kind = twisted_mass has %s; give another one, or take kind = wilson_clover",
                   ini_where(in, "quark", f->name, "mu"), f->name,
                   ini_given(in, "quark", f->name, "mu") ? "mu = 0" : "no mu");
}

static fermion *make(const field *links, const quark_params *f, fermion *const *others, int n)
{
    wilson_settings s = wilson_settings_of(f);
    s.mu = mu_of(f);
    return wilson_quark_make(links, f, &s, others, n);
}

static void describe(const quark_params *f, double mass, char *text, size_t size)
{
    const double kappa = 1 / (2 * mass + 8);
    wilson_describe(f, mass, text, size);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, ", mu %.8g (2 kappa mu %.8g)", mu_of(f), 2 * kappa * mu_of(f));
    quark_describe_theta(f, text, size);
}

static int same_operator(const quark_params *f, const quark_params *g)
{
    return mu_of(f) == mu_of(g) && wilson_same_operator(f, g);
}

/* Beside those of wilson_clover two numbers a component in both matrices of a system, and the second matrix of the inverse of
 * a clover term. */
static double normal_flops(const quark_params *f)
{
    return wilson_normal_flops(f) + 96 + (wilson_has_clover(f) ? 504 : 0);
}

const quark_kind quark_twisted_mass = {
    .name = "twisted_mass",
    .help = "Wilson-clover with a twisted mass, of a degenerate doublet",
    .parts = {&wilson_part, &twisted_part, &link_reals_part, &smearing_part, &twist_part},
    .spins = 4,
    .flavours = 2,
    .ratios = 1,
    .blocks = 1,
    .bounded = 1,
    .coarsens = 1,
    .complete = complete,
    .make = make,
    .describe = describe,
    .same_operator = same_operator,
    .log_det = wilson_has_log_det,
    .twisted_mass = twisted_mass,
    .twist = mu_of,
    .normal_flops = normal_flops,
    .force_flops = wilson_force_flops,
    .term_flops = wilson_term_flops,
    .shift_flops = wilson_shift_flops,
    .solve_op = "cg",
    .force_op = "hop_force"};
