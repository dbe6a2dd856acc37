#include "operators/local.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"

/* Blocks of so many sites, which fit. */
static blocks *cut(const lattice *lat, const int size[4], place where)
{
    char message[512];
    blocks *b = blocks_create(lat, size, where, message, sizeof message);
    REQUIRE(b, "%s", message);
    return b;
}

linop local_base(const linop *op, const block_shape *s)
{
    linop base = *op;
    int block[4], all[4];
    base.kept = NULL;
    base.coarsening = NULL;
    memcpy(block, s->size, sizeof block);
    if (s->overlap > 0) {
        overlap_extents(op->lat, s->size, s->overlap, block, all);
        base.over = overlap_create(op->lat, s->size, s->overlap, op->prec, op->where);
        base.lat = overlap_lattice(base.over);
        base.par = overlap_parity(base.over, op->par);
        base.flops *= (double)base.lat->local_volume / (double)op->lat->local_volume;
    }
    base.inside = cut(base.lat, block, op->where);
    overlap_extents(op->lat, s->size, 0, block, all);
    for (int d = 0; d < 4; d++)
        if (s->closed && block[d] == op->lat->size[d]) blocks_close(base.inside, d, d == 3 ? op->lat->time_sign : 1);
    return base;
}

void local_close(linop *local)
{
    blocks_destroy(local->inside);
    overlap_destroy(local->over);
}

void local_gather(const linop *local, field **to, const field *from)
{
    const overlap *o = local->over;
    if (!from) return;
    if (!*to)
        *to = field_create(overlap_lattice(o), from->kind, from->prec, overlap_parity(o, from->par), 1, from->where);
    overlap_gather(o, *to, from);
}

/* ---- restricted to own sites ---- */

typedef struct {
    linop base;
    linop *extended; /* borrowed */
    field *placed;   /* zero but on own sites */
} restricted;

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    restricted *r = (restricted *)op;
    if (!r->placed) r->placed = linop_vector(r->extended, 1);
    field *result = field_scratch(r->placed);
    overlap_place(r->extended->over, r->placed, x);
    linop_apply(r->extended, result, r->placed, dagger);
    overlap_keep(r->extended->over, y, result);
    field_destroy(result);
}

static void refresh(linop *op)
{
    linop_refresh(((restricted *)op)->extended);
}

static void destroy(linop *op)
{
    blocks_destroy(op->inside);
    field_destroy(((restricted *)op)->placed);
    free(op);
}

static const linop_table table = {.name = "restricted", .apply = apply, .refresh = refresh, .destroy = destroy};

linop *local_restricted(linop *op, const block_shape *s, char *message, size_t bytes)
{
    block_shape shape = *s;
    shape.restricted = 0;
    linop *extended = linop_local(op, &shape, message, bytes);
    if (!extended) return NULL;
    restricted *r = calloc(1, sizeof *r);
    REQUIRE_MEMORY(r, "out of memory");
    r->base = *op;
    r->base.coarsening = NULL;
    r->base.table = &table;
    r->base.kept = NULL;
    r->base.flops = extended->flops;
    r->base.inside = cut(op->lat, s->size, op->where);
    r->extended = extended;
    return &r->base;
}
