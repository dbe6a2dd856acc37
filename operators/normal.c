/* The normal operator A^dagger A. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/derived.h"

typedef struct {
    derived d;
    field *work;
} normal;

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    (void)dagger; /* Hermitian */
    normal *n = (normal *)op;
    if (!n->work || n->work->groups != x->groups) {
        field_destroy(n->work);
        n->work = field_like(x);
    }
    linop_apply(n->d.inner, n->work, x, 0);
    linop_apply(n->d.inner, y, n->work, 1);
}

static void destroy(linop *op)
{
    normal *n = (normal *)op;
    derived_close(&n->d);
    field_destroy(n->work);
    free(n);
}

static linop *again(const derived *d, linop *inner)
{
    (void)d;
    return normal_create(inner);
}

static const linop_table table = {"normal", apply, derived_at, derived_local, derived_refresh, destroy};

linop *normal_create(linop *op)
{
    normal *n = calloc(1, sizeof *n);
    REQUIRE(n, "out of memory");
    derived_open(&n->d, &table, op, again);
    n->d.base.flops = 2 * op->flops;
    return &n->d.base;
}
