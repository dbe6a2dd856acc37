#include "operators/linop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "operators/local.h"

/* An operator made of another: on Ls slices, or with Ls = 0 in blocks. */
struct linop_kept {
    int Ls;
    block_shape shape;
    linop *op;
    linop_kept *next;
};

field *linop_vector(const linop *op, int nrhs)
{
    field_shape shape = op->shape;
    shape.nrhs = nrhs;
    return field_create_shape(op->lat, &shape, op->prec, op->par, op->where);
}

void linop_apply(const linop *op, field *y, const field *x, int dagger)
{
    DEBUG_ASSERT(y != x, "operator %s in place", op->table->name);
    op->table->apply(op, y, x, dagger);
}

void linop_apply_dot(const linop *op, field *y, const field *x, vector_sum *s)
{
    DEBUG_ASSERT(y != x, "operator %s in place", op->table->name);
    if (op->table->apply_dot) {
        op->table->apply_dot(op, y, x, s);
        return;
    }
    linop_apply(op, y, x, 0);
    vector_real_dot_start(s, x, y, 0);
}

void linop_apply_norm2(const linop *op, field *y, const field *x, int dagger, vector_sum *s)
{
    DEBUG_ASSERT(y != x, "operator %s in place", op->table->name);
    if (op->table->apply_norm2) {
        op->table->apply_norm2(op, y, x, dagger, s);
        return;
    }
    vector_norm2_start(s, x, 0);
    linop_apply(op, y, x, dagger);
}

linop *linop_at(linop *op, precision prec, place where)
{
    if (op->prec == prec && op->where == where) return op;
    return op->table->at(op, prec, where);
}

void linop_refresh(linop *op)
{
    op->table->refresh(op);
}

static linop *find(const linop *op, int Ls, const block_shape *s)
{
    for (linop_kept *k = op->kept; k; k = k->next)
        if (k->Ls == Ls && !memcmp(&k->shape, s, sizeof k->shape)) return k->op;
    return NULL;
}

static linop *keep(linop *op, int Ls, const block_shape *s, linop *made)
{
    linop_kept *k = calloc(1, sizeof *k);
    REQUIRE_MEMORY(k, "out of memory");
    *k = (linop_kept){Ls, *s, made, op->kept};
    op->kept = k;
    return made;
}

linop *linop_local(linop *op, const block_shape *s, char *message, size_t bytes)
{
    linop *there = find(op, 0, s);
    if (there) return there;
    if (!blocks_fit(op->lat, s->size, 1, message, bytes) ||
        !overlap_can_be(op->lat, s->size, s->overlap, message, bytes))
        return NULL;
    if (!op->table->local) {
        snprintf(message, bytes, "there is no operator %s inside blocks", op->table->name);
        return NULL;
    }
    linop *made = s->restricted && s->overlap > 0 ? local_restricted(op, s, message, bytes)
                                                  : op->table->local(op, s, message, bytes);
    return made ? keep(op, 0, s, made) : NULL;
}

linop *linop_slices(linop *op, int Ls, char *message, size_t bytes)
{
    const block_shape none = {{0}, 0, 0, 0};
    linop *there = find(op, Ls, &none);
    if (there) return there;
    if (!op->table->slices) {
        snprintf(message, bytes, "there is no operator %s on other numbers of slices", op->table->name);
        return NULL;
    }
    linop *made = op->table->slices(op, Ls, message, bytes);
    return made ? keep(op, Ls, &none, made) : NULL;
}

void linop_destroy(linop *op)
{
    if (!op) return;
    for (linop_kept *k = op->kept, *next; k; k = next) {
        next = k->next;
        linop_destroy(k->op);
        free(k);
    }
    op->table->destroy(op);
}
