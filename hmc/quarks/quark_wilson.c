/* wilson_clover: Wilson-clover quarks of sections [quark.NAME]. */
#include "hmc/quarks/quark_wilson.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/quarks/quark_links.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"

#define AT(member) offsetof(wilson_keys, member)

static const param table[] = {
    {"kappa", PARAM_REAL, AT(kappa), "0.125", "[1e-6,1]", NULL,
     "hopping parameter 1/(2m + 8), in place of mass; 1/8 is the free massless quark", 1},
    {"c_sw", PARAM_REAL, AT(c_sw), "0", "[-10,10]", NULL, "clover coefficient; 0: Wilson fermions", 1},
    {"xi_0", PARAM_REAL, AT(xi_0), "1", "(0,100]", NULL,
     "bare anisotropy a_s / a_t, with nu, clover_R and clover_T in place of c_sw: M = 1 + 3 nu/xi_0 + mass - D_t/2 - "
     "(nu/xi_0) D_s/2 + clover terms, in units of a_t",
     1},
    {"nu", PARAM_REAL, AT(nu), "1", "(0,100]", NULL,
     "ratio of bare gauge and quark anisotropies: hops in space have the factor nu / xi_0; has to be given with xi_0",
     1},
    {"clover_R", PARAM_REAL, AT(c_R), "0", "[-10,10]", NULL,
     "clover coefficient of spatial planes, which are divided by xi_0; of quarks with xi_0", 1},
    {"clover_T", PARAM_REAL, AT(c_T), "0", "[-10,10]", NULL,
     "clover coefficient of planes with time; of quarks with xi_0", 1},
    {"c_F", PARAM_REAL, AT(c_F), "1", "[-10,10]", NULL,
     "boundary coefficient of time_boundary = open or schroedinger: c_F - 1 is added to M on the slices next to the "
     "ends (CLS: 1)",
     1},
    {"c_F_upper", PARAM_REAL, AT(c_F_upper), "1", "[-10,10]", NULL,
     "of time_boundary = open-schroedinger: the same of the upper end, where c_F is that of the lower one", 1},
    {"clover_term", PARAM_CHOICE, AT(clover_term), "linear", PARAM_RANGE(CLOVER_TERMS), NULL,
     "linear: 4 + mass + (i c_sw / 4) sigma F; exponential: (4 + mass) exp[(i c_sw / 4) sigma F / (4 + mass)], without "
     "a "
     "determinant of its own (stabilised Wilson fermions)",
     1},
    {"clover_links", PARAM_CHOICE, AT(clover_links), "hop", PARAM_RANGE(CLOVER_LINKS), NULL,
     "links of the clover term: those of the hop; or thin, with `links` in the hop alone (SLiNC quarks)", 1},
    {"schur", PARAM_CHOICE, AT(schur), "asymmetric", PARAM_RANGE(SCHUR_FORMS), NULL,
     "form of the even-odd Schur complement", 0},
};

static int given(const ini_input *in, const named_quark *f, const char *key)
{
    return ini_given(in, "quark", f->name, key);
}

/* Anisotropy and clover coefficients: c_sw, or the four keys of an anisotropic lattice. */
static void complete_coefficients(const ini_input *in, const named_quark *f)
{
    static const char *const of_xi[] = {"nu", "clover_R", "clover_T"};
    const int anisotropic = given(in, f, "xi_0");
    for (int i = 0; !anisotropic && i < 3; i++)
        if (given(in, f, of_xi[i]))
            user_error("%s: [quark.%s] has %s and no xi_0, without which its lattice is isotropic; give xi_0, or leave "
                       "out %s",
                       ini_where(in, "quark", f->name, of_xi[i]), f->name, of_xi[i], of_xi[i]);
    if (!anisotropic) {
        if (!given(in, f, "c_sw"))
            log_warn(
                "%s: [quark.%s] has no c_sw: plain Wilson fermions, with errors of order a; give c_sw, or c_sw = 0 "
                "where that is meant",
                ini_where(in, "quark", f->name, ""), f->name);
        return;
    }
    if (given(in, f, "c_sw"))
        user_error("%s: [quark.%s] has c_sw and xi_0; an anisotropic clover term has the two coefficients clover_R of "
                   "spatial planes and clover_T of planes with time",
                   ini_where(in, "quark", f->name, "c_sw"), f->name);
    if (!given(in, f, "nu"))
        user_error(
            "%s: [quark.%s] has xi_0 and no nu; give nu, the ratio of bare gauge and quark anisotropies (1 where "
            "they are the same)",
            ini_where(in, "quark", f->name, "xi_0"), f->name);
    if (given(in, f, "clover_R") != given(in, f, "clover_T"))
        user_error("%s: [quark.%s] has one of clover_R and clover_T; give both",
                   ini_where(in, "quark", f->name, given(in, f, "clover_R") ? "clover_R" : "clover_T"), f->name);
    if (!given(in, f, "clover_R"))
        log_warn("%s: [quark.%s] has no clover_R and clover_T: plain Wilson fermions, with errors of order a_s; give "
                 "them, or 0 where that is meant",
                 ini_where(in, "quark", f->name, ""), f->name);
}

/* Mass and kappa, of which one is given. Free doublers with one momentum pi are massless at a mass of -2, or -2 nu / xi_0. */
static void complete_mass(const ini_input *in, named_quark *f)
{
    const int mass = given(in, f, "mass"), kappa = given(in, f, "kappa");
    wilson_keys *k = wilson_keys_of(&f->p);
    if (mass && kappa)
        user_error("%s: both mass and kappa are given for [quark.%s]; give one of them (kappa = 1 / (2 mass + 8))",
                   ini_where(in, "quark", f->name, "kappa"), f->name);
    if (!mass && !kappa)
        user_error("%s: [quark.%s] has neither mass nor kappa; give one of them", ini_where(in, "quark", f->name, ""),
                   f->name);
    if (kappa) f->p.mass = 1 / (2 * k->kappa) - 4;
    else k->kappa = 1 / (2 * f->p.mass + 8);
    if (f->p.mass < -2 * fmin(1, k->nu / k->xi_0))
        log_warn(
            "%s: [quark.%s] kappa = %.8g is a mass of %.4g, beyond the critical one on any links: the doublers are "
            "lighter than the quark; kappa of clover quarks lies between 0.12 and 0.18",
            ini_where(in, "quark", f->name, kappa ? "kappa" : "mass"), f->name, k->kappa, f->p.mass);
}

void wilson_keys_complete(const ini_input *in, named_quark *f)
{
    const wilson_keys *k = wilson_keys_of(&f->p);
    complete_mass(in, f);
    complete_coefficients(in, f);
    if (k->clover_links == CLOVER_LINKS_THIN && !smearing_of(&f->p))
        user_error(
            "%s: clover_links = thin of [quark.%s] has no effect without `links`: all of its links are thin; leave it "
            "out",
            ini_where(in, "quark", f->name, "clover_links"), f->name);
}

const param_section wilson_part = PARAM_PART("quark", "Wilson quarks", wilson_keys, table);

/* The keys of an anisotropic lattice differ from those of an isotropic one. */
static int is_anisotropic(const wilson_keys *k)
{
    return k->xi_0 != 1 || k->nu != 1 || k->c_R != 0 || k->c_T != 0;
}

static int is_thin(const quark_params *f)
{
    return wilson_keys_of(f)->clover_links == CLOVER_LINKS_THIN;
}

static int is_exponential(const quark_params *f)
{
    return wilson_keys_of(f)->clover_term == CLOVER_EXPONENTIAL;
}

wilson_settings wilson_settings_of(const quark_params *f)
{
    const wilson_keys *k = wilson_keys_of(f);
    wilson_anisotropy anisotropy = {0};
    if (is_anisotropic(k)) anisotropy = (wilson_anisotropy){k->xi_0, k->nu, k->c_R, k->c_T};
    return (wilson_settings){.mass = f->mass,
                             .c_sw = k->c_sw,
                             .anisotropy = anisotropy,
                             .form = (schur_form)k->schur,
                             .p = quark_parity(f),
                             .storage = link_storage_of(f),
                             .inside = {k->c_F - 1, (k->ends_differ ? k->c_F_upper : k->c_F) - 1},
                             .exponential = is_exponential(f),
                             .thin_clover = is_thin(f)};
}

fermion *wilson_quark_make(const field *links, const quark_params *f, wilson_settings *s, fermion *const *others, int n)
{
    s->map = quark_map(links, f, others, n);
    fermion *quark = wilson_fermion(links, s);
    link_map_destroy(s->map); /* the quark has its own share */
    return quark;
}

static fermion *make(const field *links, const quark_params *f, fermion *const *others, int n)
{
    wilson_settings s = wilson_settings_of(f);
    return wilson_quark_make(links, f, &s, others, n);
}

void wilson_describe(const quark_params *f, double mass, char *text, size_t size)
{
    const wilson_keys *k = wilson_keys_of(f);
    const double kappa = 1 / (2 * mass + 8);
    if (!is_anisotropic(k)) snprintf(text, size, "kappa %.8g, c_sw %.6g", kappa, k->c_sw);
    else
        snprintf(text, size, "kappa %.8g, xi_0 %.6g, nu %.6g, clover_R %.6g, clover_T %.6g", kappa, k->xi_0, k->nu,
                 k->c_R, k->c_T);
}

static void describe(const quark_params *f, double mass, char *text, size_t size)
{
    wilson_describe(f, mass, text, size);
    quark_describe_theta(f, text, size);
}

int wilson_same_operator(const quark_params *f, const quark_params *g)
{
    const wilson_keys *k = wilson_keys_of(f), *l = wilson_keys_of(g);
    return k->c_sw == l->c_sw && k->xi_0 == l->xi_0 && k->nu == l->nu && k->c_R == l->c_R && k->c_T == l->c_T &&
           k->c_F == l->c_F && k->c_F_upper == l->c_F_upper && is_exponential(f) == is_exponential(g) &&
           is_thin(f) == is_thin(g) && quark_same_links(f, g);
}

int wilson_has_clover(const quark_params *f)
{
    const wilson_settings s = wilson_settings_of(f);
    const clover_coefficients c = wilson_clover(&s);
    return c.space != 0 || c.time != 0 || clover_has_inside(&c);
}

int wilson_has_log_det(const quark_params *f)
{
    const quark_kind *kind = quark_kind_of(f);
    wilson_settings s = wilson_settings_of(f);
    if (kind->twisted_mass || kind->doublet) s.mu = 1; /* kinds add their own; any number stands for it */
    return !wilson_has_constant_det(&s);
}

/* Hops and clover terms of the Schur complement and its dagger on half the sites. */
double wilson_normal_flops(const quark_params *f)
{
    return 2 * 1320 + (wilson_has_clover(f) ? 2 * 504 : 0);
}

/* Staples and leaves, whatever they are summed for. */
double wilson_force_flops(const quark_params *f)
{
    return wilson_has_clover(f) ? 48000 : 12000;
}

/* Hops and outer products. */
double wilson_term_flops(const quark_params *f)
{
    (void)f;
    return 12000;
}

double wilson_shift_flops(const quark_params *f)
{
    (void)f;
    return 240;
}

const quark_kind quark_wilson_clover = {.name = "wilson_clover",
                                        .help = "Wilson-clover, even-odd preconditioned",
                                        .parts = {&wilson_part, &link_reals_part, &smearing_part, &twist_part},
                                        .spins = 4,
                                        .flavours = 2,
                                        .ratios = 1,
                                        .blocks = 1,
                                        .coarsens = 1,
                                        .bounded = 1,
                                        .complete = wilson_keys_complete,
                                        .make = make,
                                        .describe = describe,
                                        .same_operator = wilson_same_operator,
                                        .log_det = wilson_has_log_det,
                                        .normal_flops = wilson_normal_flops,
                                        .force_flops = wilson_force_flops,
                                        .term_flops = wilson_term_flops,
                                        .shift_flops = wilson_shift_flops,
                                        .solve_op = "cg",
                                        .force_op = "hop_force"};
