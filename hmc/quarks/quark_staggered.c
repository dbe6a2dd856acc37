/* staggered: staggered quarks of sections [quark.NAME]. */
#include "hmc/quarks/quark_staggered.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark_links.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/staggered.h"
#include "operators/staggered.h"

#define AT(member) offsetof(staggered_keys, member)

static const param table[] = {
    {"links", PARAM_CHOICE, AT(links), "hisq", PARAM_RANGE(STAGGERED_KINDS), NULL,
     "naive: thin links; fat7: tadpole-improved paths of up to 7 links; asqtad: those with Lepage's path, and "
     "paths of 3 in a row; hisq: both one after the other without tadpoles, with a projection to U(3) between",
     1},
    {"u0", PARAM_REAL, AT(u0), "1", "[0.1,2]", NULL,
     "tadpole factor of fat7 and asqtad links, fourth root of the plaquette, which enters by its inverse powers; "
     "has to be given with them",
     1},
    {"long_reals", PARAM_CHOICE, AT(long_reals), "18", PARAM_RANGE(LONG_REALS), "reals",
     "storage of links of three in a row in solvers, of asqtad and hisq: whole; 13: two rows and the phase of the "
     "determinant, from which the third row is computed, which moves less; or 9: that phase and the eight "
     "parameters of a matrix in SU(3), which moves least and computes most, and loses a digit or two on a few "
     "links, in solvers' true residuals, too",
     0},
    {"naik_epsilon", PARAM_REAL, AT(naik_epsilon), "0", "(-1,1]|auto", NULL,
     "of a heavy quark with hisq links: paths of 3 in a row get 1 + epsilon, the link itself epsilon / 8 more, so that "
     "a free quark of mass m (in lattice units) moves as in the continuum (hep-lat/0610092). auto: the series in that "
     "mass, -27/40 m^2 + 327/1120 m^4 - 15607/268800 m^6 - 73697/3942400 m^8, for m below 1; published ensembles need "
     "the number with which they were made",
     1},
};

static const char *const link_names[] = {STAGGERED_KINDS(PARAM_TEXT)};

const staggered_links_kind *staggered_links_of(const quark_params *f)
{
    static const staggered_links_kind kinds[] = {[STAGGERED_NAIVE] = {0, 0, 0},
                                                 [STAGGERED_FAT7] = {1, 0, 1},
                                                 [STAGGERED_ASQTAD] = {1, 1, 1},
                                                 [STAGGERED_HISQ] = {2, 1, 0}};
    return &kinds[staggered_keys_of(f)->links];
}

static int is_hisq(const quark_params *f)
{
    return staggered_keys_of(f)->links == STAGGERED_HISQ;
}

static void check_mass(const ini_input *in, const named_quark *f)
{
    quark_need_mass(in, f);
    if (!(f->p.mass > 0))
        user_error("%s: mass = %g of the staggered quark [quark.%s] is not positive",
                   ini_where(in, "quark", f->name, "mass"), f->p.mass, f->name);
    if (f->p.mass * f->p.mass < DBL_MIN)
        user_error("%s: mass = %g of the staggered quark [quark.%s] is too small: its square underflows",
                   ini_where(in, "quark", f->name, "mass"), f->p.mass, f->name);
}

/* ---- the Naik term of heavy quarks ----
 *
 * A free quark has sum over mu of f(p_mu)^2 = -m^2 with f(p) = s + a s^3, s = sin p, a = (1 + epsilon) / 6. At rest p_t =
 * i M, and f becomes F(M) = S - a S^3 with S = sinh M: the rest mass M has F(M) = m, and the kinetic mass is m F'(M). The
 * two agree if F F' = M, a quadratic equation for a (E. Follana et al., Phys. Rev. D 75 (2007) 054502, hep-lat/0610092,
 * eq. (24), where it is in M). Its root in powers of m instead of M is the series. */

#define NAIK_SERIES_BELOW 1.0

double staggered_naik_series(double m)
{
    const double x = m * m;
    return x * (-27.0 / 40 + x * (327.0 / 1120 + x * (-15607.0 / 268800 - x * 73697 / 3942400)));
}

/* 1 + epsilon of a rest mass M: 3 a^2 S^4 - 4 a S^2 + 1 = M / (S cosh M). Small M lose digits in the difference, so there
 * the series in M^2, whose first terms are those of the one in m, stands in. */
static double naik_of_rest_mass(double M)
{
    const double S = sinh(M), x = M * M;
    if (M < 0.05) return 1 + x * (-27.0 / 40 + x * 327 / 1120);
    return 2 * (2 - sqrt(1 + 3 * M / (S * cosh(M)))) / (S * S);
}

double staggered_naik_exact(double m)
{
    /* F(M) with its epsilon rises with M, from 0; M is near m for light quarks and grows as a logarithm for heavy ones. */
    double low = 0, high = m;
    for (int i = 0; i < 100; i++) {
        const double M = 0.5 * (low + high), S = sinh(M);
        if (S - naik_of_rest_mass(M) / 6 * S * S * S < m) low = M;
        else high = M;
    }
    return naik_of_rest_mass(0.5 * (low + high)) - 1;
}

static double naik_epsilon_of(const quark_params *f)
{
    const double epsilon = staggered_keys_of(f)->naik_epsilon;
    return isnan(epsilon) ? staggered_naik_series(f->mass) : epsilon;
}

static void settle_epsilon(const ini_input *in, named_quark *f)
{
    staggered_keys *k = staggered_keys_of(&f->p);
    if (isnan(k->naik_epsilon) && !(f->p.mass < NAIK_SERIES_BELOW))
        user_error("%s: naik_epsilon = auto of [quark.%s] is a series in the mass, which is %g and has to be below %g; "
                   "give the number: at tree level it is %.5f",
                   ini_where(in, "quark", f->name, "naik_epsilon"), f->name, f->p.mass, NAIK_SERIES_BELOW,
                   staggered_naik_exact(f->p.mass));
    k->naik_epsilon = naik_epsilon_of(&f->p);
}

/* A positive mass, and no keys of other links. */
static void complete(const ini_input *in, named_quark *f)
{
    check_mass(in, f);
    const staggered_links_kind *links = staggered_links_of(&f->p);
    const char *name = link_names[staggered_keys_of(&f->p)->links];
    const struct {
        const char *key, *of;
        int fits;
    } keys[] = {{"u0", "fat7 or asqtad", links->tadpoles},
                {"naik_epsilon", "hisq", is_hisq(&f->p)},
                {"long_reals", "asqtad or hisq", links->long_links}};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (ini_given(in, "quark", f->name, keys[k].key) && !keys[k].fits)
            user_error("%s: %s is for links = %s, not for links = %s of [quark.%s]",
                       ini_where(in, "quark", f->name, keys[k].key), keys[k].key, keys[k].of, name, f->name);
    if (links->tadpoles && !ini_given(in, "quark", f->name, "u0"))
        user_error("%s: [quark.%s] with links = %s has no u0; give the tadpole factor, fourth root of the plaquette, "
                   "or 1 for paths without one",
                   ini_where(in, "quark", f->name, "links"), f->name, name);
    settle_epsilon(in, f);
}

const param_section staggered_part = PARAM_PART("quark", "staggered quarks", staggered_keys, table);

static fermion *make(const field *links, const quark_params *f, fermion *const *others, int n)
{
    const staggered_keys *k = staggered_keys_of(f);
    const double *theta = theta_of(f);
    static const int reals[] = {[LONG_REALS_18] = 18, [LONG_REALS_13] = 13, [LONG_REALS_9] = 9};
    const staggered_fermion_settings s = {.smearing = {.kind = (staggered_kind)k->links,
                                                       .u0 = k->u0,
                                                       .epsilon = k->naik_epsilon,
                                                       .long_reals = reals[k->long_reals],
                                                       .theta = {theta[0], theta[1], theta[2], theta[3]}},
                                          .mass = f->mass,
                                          .p = quark_parity(f)};
    return staggered_fermion(links, &s, others, n);
}

static int same_operator(const quark_params *f, const quark_params *g)
{
    const staggered_keys *k = staggered_keys_of(f), *l = staggered_keys_of(g);
    return k->links == l->links && k->u0 == l->u0 && naik_epsilon_of(f) == naik_epsilon_of(g) && quark_same_links(f, g);
}

static int reach(const quark_params *f)
{
    return staggered_links_of(f)->long_links ? 3 : 2;
}

/* ---- the log ---- */

static void describe(const quark_params *f, double mass, char *text, size_t size)
{
    const staggered_keys *k = staggered_keys_of(f);
    (void)mass;
    if (staggered_links_of(f)->tadpoles) snprintf(text, size, "%s, u0 %.6g", link_names[k->links], k->u0);
    else if (k->naik_epsilon != 0) snprintf(text, size, "hisq, naik_epsilon %.6g", k->naik_epsilon);
    else snprintf(text, size, "%s", link_names[k->links]);
    quark_describe_theta(f, text, size);
}

/* Published ensembles have series of several kinds. */
#define EPSILON_ALLOWED 0.01

static void advise(const named_quark *f, double mass, double u0)
{
    const staggered_keys *k = staggered_keys_of(&f->p);
    const staggered_links_kind *links = staggered_links_of(&f->p);
    const double epsilon = is_hisq(&f->p) ? staggered_naik_exact(mass) : 0;
    if (links->tadpoles && !isnan(u0) && k->u0 != u0)
        log_warn("[quark.%s] u0 = %g, but [gauge] u0 = %g; ensembles have one tadpole factor in both", f->name, k->u0,
                 u0);
    if (fabs(k->naik_epsilon - epsilon) > EPSILON_ALLOWED)
        log_warn("[quark.%s] naik_epsilon = %g, but a quark of mass %g moves as in the continuum with %.4f at tree "
                 "level; auto sets it below mass 1",
                 f->name, k->naik_epsilon, mass, epsilon);
}

/* ---- cost ---- */

/* Two hops on half of the sites. */
static double normal_flops(const quark_params *f)
{
    return staggered_links_of(f)->long_links ? 1146 : 570;
}

/* The smearing there and back. */
static double force_flops(const quark_params *f)
{
    return staggered_links_of(f)->levels * staggered_smearing_flops();
}

static double term_flops(const quark_params *f)
{
    (void)f;
    return 4000;
}

static double shift_flops(const quark_params *f)
{
    (void)f;
    return 30;
}

const quark_kind quark_staggered = {.name = "staggered",
                                    .help = "staggered: naive, fat7, asqtad or HISQ links; four tastes",
                                    .parts = {&staggered_part, &twist_part},
                                    .spins = 1,
                                    .flavours = 4,
                                    .shifted_by_mass = 1,
                                    .chemical_potential = 1,
                                    .complete = complete,
                                    .make = make,
                                    .describe = describe,
                                    .advise = advise,
                                    .same_operator = same_operator,
                                    .in_gauge_loops = is_hisq,
                                    .reach = reach,
                                    .normal_flops = normal_flops,
                                    .force_flops = force_flops,
                                    .term_flops = term_flops,
                                    .shift_flops = shift_flops,
                                    .solve_op = "staggered_cg",
                                    .force_op = "hisq_force"};
