/* A^dagger of any operator. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/linop.h"

typedef struct {
    linop base;
    linop *inner;
    linop *others[PREC_COUNT][2];
} adjoint;

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    linop_apply(((const adjoint *)op)->inner, y, x, !dagger);
}

static linop *at(linop *op, precision prec, place where)
{
    adjoint *d = (adjoint *)op;
    linop **other = &d->others[prec][where];
    if (!*other) *other = adjoint_create(linop_at(d->inner, prec, where));
    return *other;
}

static linop *local(linop *op, const int size[4], char *message, size_t bytes)
{
    linop *inner = linop_local(((adjoint *)op)->inner, size, message, bytes);
    return inner ? adjoint_create(inner) : NULL;
}

static void refresh(linop *op)
{
    linop_refresh(((adjoint *)op)->inner);
}

static void destroy(linop *op)
{
    adjoint *d = (adjoint *)op;
    for (int p = 0; p < PREC_COUNT; p++)
        for (int w = 0; w < 2; w++) linop_destroy(d->others[p][w]);
    free(d);
}

static const linop_table table = {"adjoint", apply, at, local, refresh, destroy};

linop *adjoint_create(linop *op)
{
    adjoint *d = calloc(1, sizeof *d);
    REQUIRE(d, "out of memory");
    d->base = *op;
    d->base.locals = NULL;
    d->base.table = &table;
    d->inner = op;
    return &d->base;
}
