/* The normal operator A^dagger A. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/linop.h"

typedef struct {
    linop base;
    linop *inner;
    field *work;
    linop *others[PREC_COUNT][2];
} normal;

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    (void)dagger; /* Hermitian */
    normal *n = (normal *)op;
    if (!n->work || n->work->groups != x->groups) {
        field_destroy(n->work);
        n->work = field_like(x);
    }
    linop_apply(n->inner, n->work, x, 0);
    linop_apply(n->inner, y, n->work, 1);
}

static linop *at(linop *op, precision prec, place where)
{
    normal *n = (normal *)op;
    linop **other = &n->others[prec][where];
    if (!*other) *other = normal_create(linop_at(n->inner, prec, where));
    return *other;
}

static linop *local(linop *op, const int size[4], char *message, size_t bytes)
{
    linop *inner = linop_local(((normal *)op)->inner, size, message, bytes);
    return inner ? normal_create(inner) : NULL;
}

static void refresh(linop *op)
{
    linop_refresh(((normal *)op)->inner);
}

static void destroy(linop *op)
{
    normal *n = (normal *)op;
    for (int p = 0; p < PREC_COUNT; p++)
        for (int w = 0; w < 2; w++) linop_destroy(n->others[p][w]);
    field_destroy(n->work);
    free(n);
}

static const linop_table table = {"normal", apply, at, local, refresh, destroy};

linop *normal_create(linop *op)
{
    normal *n = calloc(1, sizeof *n);
    REQUIRE(n, "out of memory");
    n->base = *op;
    n->base.locals = NULL;
    n->base.table = &table;
    n->base.flops = 2 * op->flops;
    n->inner = op;
    return &n->base;
}
