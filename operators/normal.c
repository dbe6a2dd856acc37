/* The normal operator A^dagger A. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/derived.h"

typedef struct {
    derived d;
    field *work;
} normal;

/* A x */
static field *half_way(const linop *op, const field *x)
{
    normal *n = (normal *)op;
    if (!n->work || n->work->groups != x->groups) {
        field_destroy(n->work);
        n->work = field_like(x);
    }
    linop_apply(n->d.inner, n->work, x, 0);
    return n->work;
}

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    (void)dagger; /* Hermitian */
    linop_apply(((normal *)op)->d.inner, y, half_way(op, x), 1);
}

/* (x, A^dagger A x) = |A x|^2, whose sum travels while the second half is made. */
static double apply_dot(const linop *op, field *y, const field *x)
{
    vector_sum s;
    linop_apply_norm2(((normal *)op)->d.inner, y, half_way(op, x), 1, &s);
    return vector_sum_finish(&s);
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

static const linop_table table = {.name = "normal",
                                  .apply = apply,
                                  .at = derived_at,
                                  .local = derived_local,
                                  .refresh = derived_refresh,
                                  .destroy = destroy,
                                  .apply_dot = apply_dot};

linop *normal_create(linop *op)
{
    normal *n = calloc(1, sizeof *n);
    REQUIRE_MEMORY(n, "out of memory");
    derived_open(&n->d, &table, op, again);
    n->d.base.flops = 2 * op->flops;
    return &n->d.base;
}
