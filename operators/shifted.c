/* A + shift of any operator, with a real shift. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/spinor.h"
#include "operators/linop.h"

typedef struct {
    linop base;
    linop *inner;
    double shift;
    linop *others[PREC_COUNT][2];
} shifted;

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    const shifted *s = (const shifted *)op;
    linop_apply(s->inner, y, x, dagger);
    if (s->shift != 0) spinor_axpby(y, s->shift, x, 1);
}

static linop *at(linop *op, precision prec, place where)
{
    shifted *s = (shifted *)op;
    linop **other = &s->others[prec][where];
    if (!*other) *other = shifted_create(linop_at(s->inner, prec, where), s->shift);
    return *other;
}

static linop *local(linop *op, const int size[4], char *message, size_t bytes)
{
    linop *inner = linop_local(((shifted *)op)->inner, size, message, bytes);
    return inner ? shifted_create(inner, ((shifted *)op)->shift) : NULL;
}

static void refresh(linop *op)
{
    linop_refresh(((shifted *)op)->inner);
}

static void destroy(linop *op)
{
    shifted *s = (shifted *)op;
    for (int p = 0; p < PREC_COUNT; p++)
        for (int w = 0; w < 2; w++) linop_destroy(s->others[p][w]);
    free(s);
}

static const linop_table table = {"shifted", apply, at, local, refresh, destroy};

linop *shifted_create(linop *op, double shift)
{
    shifted *s = calloc(1, sizeof *s);
    REQUIRE(s, "out of memory");
    s->base = *op;
    s->base.locals = NULL;
    s->base.table = &table;
    s->inner = op;
    s->shift = shift;
    return &s->base;
}
