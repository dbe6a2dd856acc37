/* A^dagger of any operator. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/derived.h"

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    linop_apply(((const derived *)op)->inner, y, x, !dagger);
}

static linop *again(const derived *d, linop *inner)
{
    (void)d;
    return adjoint_create(inner);
}

static const linop_table table = {.name = "adjoint",
                                  .apply = apply,
                                  .at = derived_at,
                                  .local = derived_local,
                                  .refresh = derived_refresh,
                                  .destroy = derived_destroy};

linop *adjoint_inner(const linop *op)
{
    return op->table == &table ? ((const derived *)op)->inner : NULL;
}

linop *adjoint_create(linop *op)
{
    derived *d = calloc(1, sizeof *d);
    REQUIRE_MEMORY(d, "out of memory");
    derived_open(d, &table, op, again);
    return &d->base;
}
