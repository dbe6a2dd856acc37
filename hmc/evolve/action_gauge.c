/* The gauge action: plaquettes, rectangles and parallelograms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/evolve/action.h"
#include "kernels/base/error.h"
#include "kernels/base/param.h"

/* Fixed c1: P. Weisz, Nucl. Phys. B 212 (1983) 1; Y. Iwasaki, UTHEP-118 (1983); QCD-TARO, Nucl. Phys. B 577 (2000) 263.
 * One loop: M. Luescher and P. Weisz, Phys. Lett. B 158 (1985) 250, with tadpoles as in M. Alford et al.,
 * hep-lat/9507010; loops of HISQ quarks: A. Hart, G. M. von Hippel and R. R. Horgan, arXiv:0812.0503. The numbers are
 * the rounded ones of the ensembles: MILC, arXiv:0903.3598 (asqtad) and arXiv:1004.0342 (HISQ). */
static const gauge_kind kinds[] = {
    {"wilson", "", "plaquette alone", .c1 = 0},
    {"symanzik", "", "plaquette and rectangle, c1 = -1/12 (tree level)", .c1 = -1.0 / 12},
    {"iwasaki", "", "c1 = -0.331", .c1 = -0.331},
    {"dbw2", "", "c1 = -1.4088", .c1 = -1.4088},
    {"custom", "c1", "c1 as given", .c1 = NAN},
    {"symanzik_tadpole", "u0", "plaquette and rectangle, tree level with tadpoles", .tadpole = 1},
    {"symanzik_1loop", "u0",
     "plaquette, rectangle and parallelogram, one loop with tadpoles, without loops of quarks (MILC's asqtad "
     "ensembles)",
     .tadpole = 1, .rectangle = {0.6264, 0}, .parallelogram = {0.04335, 0}},
    {"symanzik_1loop_hisq", "u0 flavours", "the same with loops of HISQ quarks (MILC's HISQ ensembles)", .tadpole = 1,
     .rectangle = {0.6264, 1.1746}, .parallelogram = {0.0433, 0.0156}},
};

const gauge_kind *gauge_kind_number(int i)
{
    return i < (int)(sizeof kinds / sizeof kinds[0]) ? &kinds[i] : NULL;
}

int gauge_kind_has(const gauge_kind *kind, const char *key)
{
    return param_has_word(kind->keys, key);
}

gauge_weights gauge_kind_weights(const gauge_kind *kind, double beta, double c1, double u0, int flavours)
{
    if (!kind->tadpole) return gauge_weights_c1(beta, isnan(kind->c1) ? c1 : kind->c1);
    const double r = kind->rectangle[0] - kind->rectangle[1] * flavours;
    const double p = kind->parallelogram[0] - kind->parallelogram[1] * flavours;
    const gauge_weights w = {beta, -beta * (1 - r * log(u0)) / (20 * u0 * u0), beta * p * log(u0) / (u0 * u0)};
    return w;
}

typedef struct {
    action base;
    gauge_weights weights;
} gauge_part;

static int value(action *a, double *s)
{
    const gauge_part *g = (const gauge_part *)a;
    *s = gauge_action(a->links, g->weights);
    return 0;
}

static int force(action *a, field *f)
{
    const gauge_part *g = (const gauge_part *)a;
    gauge_force(f, a->links, g->weights);
    return 0;
}

static void destroy(action *a)
{
    free(a);
}

action *gauge_action_create(const char *name, const field *links, gauge_weights weights)
{
    static const action_table table = {.value = value, .force = force, .destroy = destroy};
    gauge_part *g = calloc(1, sizeof *g);
    REQUIRE_MEMORY(g, "out of memory");
    g->base.table = &table;
    g->base.links = links;
    snprintf(g->base.name, sizeof g->base.name, "%s", name);
    g->weights = weights;
    return &g->base;
}
