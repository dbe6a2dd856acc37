#include "operators/linop.h"

#include "kernels/base/error.h"

field *linop_vector(const linop *op, int nrhs)
{
    return field_create(op->lat, FIELD_SPINOR, op->prec, op->par, nrhs, op->where);
}

void linop_apply(const linop *op, field *y, const field *x, int dagger)
{
    DEBUG_ASSERT(y != x, "operator %s in place", op->table->name);
    op->table->apply(op, y, x, dagger);
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

void linop_destroy(linop *op)
{
    if (op) op->table->destroy(op);
}
