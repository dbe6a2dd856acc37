/* mobius_eofa: one Moebius domain wall flavour over that of a heavier mass, of ratio_to or the Pauli-Villars field's, by
 * the exact one-flavour algorithm. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_mobius.h"
#include "kernels/base/error.h"

typedef struct {
    double approximation;
} exact_keys;

static const param table[] = {
    {"heat_bath_approximation", PARAM_REAL, offsetof(exact_keys, approximation), "1e-11", "[1e-14,1e-6]", NULL,
     "largest relative error of the rational function of the heat bath, the one place where there is one", 0},
};

static const fermion_part exact_part;

static void complete(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    if (mobius_slices(&f->p) % 2)
        user_error("%s: Ls = %d in [fermion.%s]; kind = %s needs an even number of slices",
                   ini_where(in, "fermion", f->name, "Ls"), mobius_slices(&f->p), f->name, f->p.kind);
    if (!fermion_measured_only(&f->p) && !(f->p.mass > 0 && f->p.mass < 1))
        user_error("%s: mass = %g in [fermion.%s]; kind = %s needs 0 < mass < 1",
                   ini_where(in, "fermion", f->name, "mass"), f->p.mass, f->name, f->p.kind);
}

static double heavy_mass(const parameters *p, const fermion_params *f)
{
    return ratio_of(f)[0] ? p->fermions[simulation_fermion(p, ratio_of(f))].p.mass : 1;
}

static eofa_settings settings_of(const parameters *p, const fermion_params *f, const field *links)
{
    const mobius_settings quark = mobius_settings_of(f);
    return (eofa_settings){.quotient = eofa_create(links, &quark, heavy_mass(p, f)),
                           .links = links,
                           .predictor = predictor_of(f),
                           .approximation = ((exact_keys *)fermion_keys(f, &exact_part))->approximation};
}

static void check(const ini_input *in, const parameters *p, const named_fermion *f)
{
    char message[256];
    if (fermion_measured_only(&f->p)) return;
    if (heavy_mass(p, &f->p) > f->p.mass) {
        const eofa_settings s = settings_of(p, &f->p, NULL);
        const int bad = eofa_action_check(&s, message, sizeof message);
        eofa_destroy(s.quotient);
        if (!bad) return;
        user_error("%s: heat_bath_approximation = %g in [fermion.%s]: %s; give a larger one",
                   ini_where(in, "fermion", f->name, "heat_bath_approximation"), s.approximation, f->name, message);
    }
    user_error(
        "%s: [fermion.%s] of mass %g is a ratio to [fermion.%s] of mass %g; with kind = %s that has to be heavier",
        ini_where(in, "fermion", f->name, "ratio_to"), f->name, f->p.mass, ratio_of(&f->p), heavy_mass(p, &f->p),
        f->p.kind);
}

static const fermion_part exact_part = {.keys =
                                            PARAM_PART("fermion", "the exact one-flavour algorithm", exact_keys, table),
                                        .of_action = 1,
                                        .check = check};

static void create(simulation *s, int number)
{
    const named_fermion *f = &s->p->fermions[number];
    eofa_settings settings = settings_of(s->p, &f->p, s->links);
    settings.solvers = fermion_solvers(s, &f->p);
    simulation_add(s, eofa_action_create(f->name, &settings));
}

/* Two solves, one a chirality, and hops of whole fields. */
static double force_flops(const fermion_params *f, double iterations)
{
    return 2 * iterations * mobius_normal_flops(f) + 2 * mobius_assembly_flops(f);
}

const fermion_kind fermion_mobius_eofa = {
    .name = "mobius_eofa",
    .help = "one Moebius domain wall flavour over a Pauli-Villars field, by the exact one-flavour algorithm",
    .parts = {&link_reals_part, &mobius_part, &heat_bath_part, &ratio_part, &predictor_part, &exact_part},
    .spins = 4,
    .flavours = 1,
    .regulated = 1,
    .blocks = 1,
    .complete = complete,
    .quark = mobius_quark,
    .describe = mobius_describe,
    .same_operator = mobius_same_operator,
    .ratio_keys = mobius_ratio_keys,
    .slices = mobius_slices,
    .create = create,
    .force_flops = force_flops,
    .solve_op = "mobius_cg",
    .force_op = "hop_force"};
