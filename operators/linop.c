#include "operators/linop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "operators/local.h"

/* What linop_local() has made of an operator. */
struct linop_locals {
    block_shape shape;
    linop *op;
    linop_locals *next;
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

double linop_apply_dot(const linop *op, field *y, const field *x)
{
    DEBUG_ASSERT(y != x, "operator %s in place", op->table->name);
    if (op->table->apply_dot) return op->table->apply_dot(op, y, x);
    double product[2];
    linop_apply(op, y, x, 0);
    vector_dot(product, x, y, 0);
    return product[0];
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

linop *linop_local(linop *op, const block_shape *s, char *message, size_t bytes)
{
    for (linop_locals *l = op->locals; l; l = l->next)
        if (!memcmp(&l->shape, s, sizeof l->shape)) return l->op;
    if (!blocks_fit(op->lat, s->size, 1, message, bytes) ||
        !overlap_can_be(op->lat, s->size, s->overlap, message, bytes))
        return NULL;
    if (!op->table->local) {
        snprintf(message, bytes, "there is no operator %s inside blocks", op->table->name);
        return NULL;
    }
    linop *made = s->restricted && s->overlap > 0 ? local_restricted(op, s, message, bytes)
                                                  : op->table->local(op, s, message, bytes);
    if (!made) return NULL;
    linop_locals *l = calloc(1, sizeof *l);
    REQUIRE_MEMORY(l, "out of memory");
    l->shape = *s;
    l->op = made;
    l->next = op->locals;
    op->locals = l;
    return l->op;
}

void linop_destroy(linop *op)
{
    if (!op) return;
    for (linop_locals *l = op->locals, *next; l; l = next) {
        next = l->next;
        linop_destroy(l->op);
        free(l);
    }
    op->table->destroy(op);
}
