/* Linear operators: what solvers and actions see of a lattice operator.
 *
 * An operator acts on vectors of one shape (lattice, parity, precision, place); linop_vector() makes one. apply() is
 * required; `at` gives the same operator in another precision or place, owned by the first. Operators keep what they
 * derive from the links up to date by themselves (linop_refresh() is called by every entry point of a solver). */
#ifndef PLAQ_LINOP_H
#define PLAQ_LINOP_H

#include "kernels/lattice/field.h"

typedef struct linop linop;

typedef struct {
    const char *name;
    void (*apply)(const linop *op, field *y, const field *x, int dagger); /* y = A x or A^dagger x; y is not x */
    linop *(*at)(linop *op, precision prec, place where);
    void (*refresh)(linop *op);
    void (*destroy)(linop *op);
} linop_table;

struct linop {
    const linop_table *table;
    const lattice *lat;
    parity par;
    precision prec;
    place where;
    double flops; /* of one application, this rank */
};

field *linop_vector(const linop *op, int nrhs);
void linop_apply(const linop *op, field *y, const field *x, int dagger);
linop *linop_at(linop *op, precision prec, place where);
void linop_refresh(linop *op);
void linop_destroy(linop *op);

/* Operators of an operator, which they borrow: A^dagger A, Hermitian and positive; A^dagger; A + shift. */
linop *normal_create(linop *op);
linop *adjoint_create(linop *op);
linop *shifted_create(linop *op, double shift);

#endif
