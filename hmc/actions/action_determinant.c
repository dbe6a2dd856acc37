/* The factor of a determinant that a fermion's systems do not have, which is known exactly: S = -flavours log det. */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/actions/action.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"

typedef struct {
    action base;
    fermion *quark;
    int flavours;
} determinant;

static double log_det(const determinant *d, fermion *quark)
{
    double negatives;
    const double value = fermion_log_det(quark, &negatives);
    if (negatives > 0)
        log_warn("%s: the clover term has %.0f negative eigenvalues; the quark mass is too low for this roughness",
                 d->base.name, negatives);
    return value;
}

static int value(action *a, double *s)
{
    const determinant *d = (determinant *)a;
    *s = -d->flavours * log_det(d, d->quark);
    return 0;
}

static int force(action *a, field *f)
{
    const determinant *d = (determinant *)a;
    void *sum = fermion_open_force(d->quark, f);
    fermion_add_force_log_det(sum, d->quark, d->flavours);
    fermion_close_force(d->quark, sum);
    return 0;
}

static void destroy(action *a)
{
    free(a);
}

action *determinant_action_create(const char *name, fermion *quark, int flavours)
{
    static const action_table table = {.value = value, .force = force, .destroy = destroy};
    determinant *d = calloc(1, sizeof *d);
    REQUIRE_MEMORY(d, "out of memory");
    d->base.table = &table;
    d->base.links = quark->links;
    snprintf(d->base.name, sizeof d->base.name, "%s", name);
    d->quark = quark;
    d->flavours = flavours;
    return &d->base;
}
