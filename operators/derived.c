#include "operators/derived.h"

#include <stdlib.h>

void derived_open(derived *d, const linop_table *table, linop *inner, linop *(*again)(const derived *d, linop *inner))
{
    *d = (derived){.base = *inner, .inner = inner, .again = again};
    d->base.kept = NULL;
    d->base.coarsening = NULL;
    d->base.table = table;
}

void derived_destroy(linop *op)
{
    derived *d = (derived *)op;
    for (int p = 0; p < PREC_COUNT; p++)
        for (int w = 0; w < 2; w++) linop_destroy(d->others[p][w]);
    free(d);
}

linop *derived_at(linop *op, precision prec, place where)
{
    derived *d = (derived *)op;
    linop **other = &d->others[prec][where];
    if (!*other) *other = d->again(d, linop_at(d->inner, prec, where));
    return *other;
}

linop *derived_local(linop *op, const block_shape *s, char *message, size_t bytes)
{
    derived *d = (derived *)op;
    linop *inner = linop_local(d->inner, s, message, bytes);
    return inner ? d->again(d, inner) : NULL;
}

linop *derived_slices(linop *op, int Ls, char *message, size_t bytes)
{
    derived *d = (derived *)op;
    linop *inner = linop_slices(d->inner, Ls, message, bytes);
    return inner ? d->again(d, inner) : NULL;
}

void derived_refresh(linop *op)
{
    linop_refresh(((derived *)op)->inner);
}
