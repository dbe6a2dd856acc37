#include "hmc/actions/gauge_kind.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/base/error.h"

/* ---- keys ---- */

#define AT(member) offsetof(gauge_params, member)
#define SECTION(owner, table, help)                                                                                    \
    {                                                                                                                  \
        "gauge", 0, table, (int)(sizeof(table) / sizeof(table)[0]), sizeof(gauge_params), help, owner                  \
    }

static char names[256], help[1280];

static const param keys[] = {
    {"action", PARAM_CHOICE, AT(action), "wilson", names, NULL, help, 1},
    {"beta", PARAM_REAL, AT(beta), NULL, "[0,1e6]", NULL,
     "coupling: S = beta sum [c0 (1 - Re tr P/3) + c1 (1 - Re tr R/3)] over plaquettes P and rectangles R, "
     "c0 = 1 - 8 c1 and beta = 6/g^2; or of symanzik_1loop: c0 = 1, c1 = -(1 - r ln u0)/(20 u0^2), and beside them "
     "c2 (1 - Re tr C/3) over parallelograms C, c2 = p ln u0/u0^2, beta = 10/g^2; symanzik_tadpole is that with "
     "r = p = 0",
     1},
    {"xi_0", PARAM_REAL, AT(xi_0), "1", "(0,100]", NULL,
     "bare anisotropy a_s / a_t: weights of loops in space are divided by it, those of loops with time multiplied", 1},
    {"c_G", PARAM_REAL, AT(c_G), "1", "(0,100]", NULL,
     "boundary coefficient of time_boundary = open: loops in space on the end slices have c_G / 2 times their weight "
     "(CLS: 1); and of schroedinger, c_t: plaquettes in time with an edge on a wall have c_G times theirs",
     1},
    {"c_G_upper", PARAM_REAL, AT(c_G_upper), "1", "(0,100]", NULL,
     "of time_boundary = open-schroedinger: c_G of the wall, where c_G is that of the open end", 1},
    {"wall_rectangles", PARAM_CHOICE, AT(wall_rectangles), "winding", PARAM_RANGE(WALL_RECTANGLES), NULL,
     "improved actions at a wall, equal to leading order in a; winding: plaquettes in time with an edge on it add 1 - "
     "Re tr P^2 / 3 with half the weight of rectangles (openQCD); weighted: rectangles with two links on it have 3/2 "
     "times their weight (hep-lat/9808007, choice B)",
     1},
};
static const param c1_table[] = {
    {"c1", PARAM_REAL, AT(c1), "0", "[-100,100]", NULL, "coefficient of the rectangles; has to be given", 1},
};
static const param u0_table[] = {
    {"u0", PARAM_REAL, AT(u0), "1", "[0.1,1]", NULL,
     "tadpole factor, fourth root of the plaquette, which enters by its inverse powers; has to be given", 1},
};
static const param space_table[] = {
    {"u_s", PARAM_REAL, AT(u_s), "1", "[0.1,1]", NULL, "tadpole factor of links in space; has to be given", 1},
    {"u_t", PARAM_REAL, AT(u_t), "1", "[0.1,1]", NULL, "tadpole factor of links in time, often 1; has to be given", 1},
};
static const param flavours_table[] = {
    {"flavours", PARAM_INT, AT(flavours), "0", "[0,16]", NULL,
     "number of HISQ quarks in the loops: r = 0.6264 - 1.1746 N and p = 0.0433 - 0.0156 N, where "
     "symanzik_1loop has 0.6264 and 0.04335",
     1},
};

static const param_section section = SECTION(NULL, keys, "the gauge action");
static const param_section c1_part = SECTION("c1", c1_table, ""), u0_part = SECTION("tadpoles", u0_table, ""),
                           space_part = SECTION("tadpoles of space and time", space_table, ""),
                           flavours_part = SECTION("loops of quarks", flavours_table, "");

/* ---- the actions ---- */

/* Fixed c1: P. Weisz, Nucl. Phys. B 212 (1983) 1; Y. Iwasaki, UTHEP-118 (1983); QCD-TARO, Nucl. Phys. B 577 (2000) 263.
 * One loop: M. Luescher and P. Weisz, Phys. Lett. B 158 (1985) 250, with tadpoles as in M. Alford et al.,
 * hep-lat/9507010; loops of HISQ quarks: A. Hart, G. M. von Hippel and R. R. Horgan, arXiv:0812.0503. The numbers are
 * the rounded ones of the ensembles: MILC, arXiv:0903.3598 (asqtad) and arXiv:1004.0342 (HISQ). */
static const gauge_kind kinds[] = {
    {"wilson", "plaquette alone", .c1 = 0},
    {"symanzik", "plaquette and rectangle, c1 = -1/12 (tree level)", .c1 = -1.0 / 12},
    {"iwasaki", "c1 = -0.331", .c1 = -0.331},
    {"dbw2", "c1 = -1.4088", .c1 = -1.4088},
    {"custom", "c1 as given", {&c1_part}, .c1 = NAN},
    {"symanzik_tadpole", "plaquette and rectangle, tree level with tadpoles", {&u0_part}, .tadpole = 1},
    {"symanzik_1loop",
     "plaquette, rectangle and parallelogram, one loop with tadpoles, without loops of quarks (MILC's asqtad "
     "ensembles)",
     {&u0_part},
     .tadpole = 1,
     .isotropic = 1,
     .rectangle = {0.6264, 0},
     .parallelogram = {0.04335, 0}},
    {"symanzik_1loop_hisq",
     "the same with loops of HISQ quarks (MILC's HISQ ensembles)",
     {&u0_part, &flavours_part},
     .tadpole = 1,
     .isotropic = 1,
     .rectangle = {0.6264, 1.1746},
     .parallelogram = {0.0433, 0.0156}},
    {"symanzik_space",
     "improved in space, for anisotropic lattices: weights beta / xi_0 of 5/(3 u_s^4) and -1/(12 u_s^6) of plaquettes "
     "and "
     "rectangles in space, beta xi_0 of 4/(3 u_s^2 u_t^2) and -1/(12 u_s^4 u_t^2) with one link in time, none with two",
     {&space_part},
     .short_in_time = 1},
};

const gauge_kind *gauge_kind_number(int i)
{
    return i < (int)(sizeof kinds / sizeof kinds[0]) ? &kinds[i] : NULL;
}

int gauge_kind_has(const gauge_kind *kind, const char *key)
{
    for (int k = 0; kind->parts[k]; k++)
        if (param_find(kind->parts[k], key)) return 1;
    return 0;
}

static param_parts parts;

static void fill_parts(void)
{
    if (parts.n) return;
    for (int i = 0; gauge_kind_number(i); i++) {
        param_add_choice(names, sizeof names, help, sizeof help, kinds[i].name, kinds[i].help);
        for (int k = 0; kinds[i].parts[k]; k++) param_parts_add(&parts, kinds[i].parts[k], kinds[i].name);
    }
}

const param_section *gauge_section(int number)
{
    fill_parts();
    return number == 0 ? &section : number <= parts.n ? &parts.sections[number - 1] : NULL;
}

/* Plaquette and rectangle of C. Morningstar and M. Peardon, hep-lat/9901004, before the anisotropy. */
static gauge_weights weights_short_in_time(const gauge_params *g)
{
    const double s2 = g->u_s * g->u_s, t2 = g->u_t * g->u_t, s4 = s2 * s2;
    return (gauge_weights){.plaquette = {5 * g->beta / (3 * s4), 4 * g->beta / (3 * s2 * t2)},
                           .rectangle = {-g->beta / (12 * s4 * s2), -g->beta / (12 * s4 * t2), 0},
                           .c_G = {1, 1}};
}

static gauge_weights isotropic_weights(const gauge_params *g)
{
    const gauge_kind *kind = gauge_kind_of(g);
    const double u0 = g->u0;
    if (kind->short_in_time) return weights_short_in_time(g);
    if (!kind->tadpole) return gauge_weights_c1(g->beta, isnan(kind->c1) ? g->c1 : kind->c1);
    const double r = kind->rectangle[0] - kind->rectangle[1] * g->flavours;
    const double p = kind->parallelogram[0] - kind->parallelogram[1] * g->flavours;
    const gauge_weights w =
        GAUGE_WEIGHTS(g->beta, -g->beta * (1 - r * log(u0)) / (20 * u0 * u0), g->beta * p * log(u0) / (u0 * u0));
    return w;
}

gauge_weights gauge_params_weights(const gauge_params *g)
{
    gauge_weights w = isotropic_weights(g);
    const int weighted = g->wall_rectangles == WALL_WEIGHTED;
    w.c_G[0] = g->c_G;
    w.c_G[1] = g->ends_differ ? g->c_G_upper : g->c_G;
    w.along_wall = weighted ? 1.5 : 1;
    w.twice_at_wall = weighted ? 0 : 0.5;
    return g->xi_0 == 1 ? w : gauge_weights_anisotropic(w, g->xi_0);
}

int gauge_params_have(const gauge_params *g, const char *key)
{
    return gauge_kind_has(gauge_kind_of(g), key);
}
