/* The gauge action: plaquettes and rectangles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hmc/evolve/action.h"
#include "kernels/base/error.h"
#include "kernels/gauge.h"

/* P. Weisz, Nucl. Phys. B 212 (1983) 1; Y. Iwasaki, UTHEP-118 (1983); QCD-TARO, Nucl. Phys. B 577 (2000) 263. */
static const gauge_kind kinds[] = {
    {"wilson", 0, "plaquette alone"},   {"symanzik", -1.0 / 12, "plaquette and rectangle, c1 = -1/12 (tree level)"},
    {"iwasaki", -0.331, "c1 = -0.331"}, {"dbw2", -1.4088, "c1 = -1.4088"},
    {"custom", NAN, "c1 as given"},
};

const gauge_kind *gauge_kind_number(int i)
{
    return i < (int)(sizeof kinds / sizeof kinds[0]) ? &kinds[i] : NULL;
}

typedef struct {
    action base;
    double beta, c1;
} gauge_part;

static int value(action *a, double *s)
{
    const gauge_part *g = (const gauge_part *)a;
    *s = gauge_action(a->links, g->beta, g->c1);
    return 0;
}

static int force(action *a, field *f)
{
    const gauge_part *g = (const gauge_part *)a;
    gauge_force(f, a->links, g->beta, g->c1);
    return 0;
}

static void destroy(action *a)
{
    free(a);
}

action *gauge_action_create(const char *name, const field *links, double beta, double c1)
{
    static const action_table table = {NULL, value, force, destroy, NULL};
    gauge_part *g = calloc(1, sizeof *g);
    REQUIRE(g, "out of memory");
    g->base.table = &table;
    g->base.links = links;
    snprintf(g->base.name, sizeof g->base.name, "%s", name);
    g->beta = beta;
    g->c1 = c1;
    return &g->base;
}
