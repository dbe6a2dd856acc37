/* The gauge action: plaquettes, rectangles and parallelograms (hmc/actions/gauge_kind.h). */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/actions/action.h"
#include "kernels/base/error.h"

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
