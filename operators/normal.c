/* The normal operator A^dagger A. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/derived.h"

static linop *inner_of(const linop *op)
{
    return ((const derived *)op)->inner;
}

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    (void)dagger; /* Hermitian */
    field *half = field_scratch(x);
    linop_apply(inner_of(op), half, x, 0);
    linop_apply(inner_of(op), y, half, 1);
    field_destroy(half);
}

/* (x, A^dagger A x) = |A x|^2, whose sum travels while the second half is made. */
static void apply_dot(const linop *op, field *y, const field *x, vector_sum *s)
{
    field *half = field_scratch(x);
    linop_apply(inner_of(op), half, x, 0);
    linop_apply_norm2(inner_of(op), y, half, 1, s);
    field_destroy(half);
}

static linop *again(const derived *d, linop *inner)
{
    (void)d;
    return normal_create(inner);
}

static const linop_table table = {.name = "normal",
                                  .apply = apply,
                                  .at = derived_at,
                                  .local = derived_local,
                                  .slices = derived_slices,
                                  .refresh = derived_refresh,
                                  .destroy = derived_destroy,
                                  .apply_dot = apply_dot};

linop *normal_create(linop *op)
{
    derived *d = calloc(1, sizeof *d);
    REQUIRE_MEMORY(d, "out of memory");
    derived_open(d, &table, op, again);
    d->base.flops = 2 * op->flops;
    return &d->base;
}
