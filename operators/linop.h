/* Linear operators: what solvers and actions see of a lattice operator.
 *
 * An operator acts on vectors of one shape, lattice, parity, precision and place; linop_vector() makes one. apply()
 * is required; `at` gives the same operator in another precision or place, owned by the first. Operators keep what they
 * derive from the links up to date by themselves (linop_refresh() is called by every entry point of a solver).
 *
 * linop_local() gives the operator inside blocks of sites (kernels/ops/block.h), for Schwarz methods: all that leads from
 * one block to another is left out, so that it is block diagonal and needs no messages. With an overlap
 * (kernels/ops/overlap.h) it acts on vectors on the extended blocks, which have another lattice and maybe another parity;
 * restricted, it acts on vectors of the whole lattice again: from a block's own sites to its own sites, by way of those
 * around it.
 *
 * linop_slices() gives the operator of the same quark on another number of slices in the fifth dimension. */
#ifndef PLAQ_LINOP_H
#define PLAQ_LINOP_H

#include "kernels/field/field.h"
#include "kernels/ops/block.h"
#include "kernels/ops/overlap.h"
#include "kernels/ops/vector.h"

typedef struct linop linop;

/* Blocks of `size` sites (all zero: the box of a rank), each continued by `overlap` sites in directions in which it is
 * shorter than the lattice; restricted: to own sites, where there is an overlap; closed: in the other directions the block
 * goes around, as the lattice does, and has no edge. */
typedef struct {
    int size[4], overlap, restricted, closed;
} block_shape;

typedef struct {
    const char *name;
    void (*apply)(const linop *op, field *y, const field *x, int dagger); /* y = A x or A^dagger x; y is not x */
    linop *(*at)(linop *op, precision prec, place where);
    linop *(*local)(linop *op, const block_shape *s, char *message,
                    size_t bytes); /* new, with `inside` set; null entry: there is none */
    linop *(*slices)(linop *op, int Ls, char *message, size_t bytes); /* new; null entry: there is none */
    void (*refresh)(linop *op);
    void (*destroy)(linop *op);
    void (*apply_dot)(const linop *op, field *y, const field *x, vector_sum *s); /* see linop_apply_dot(); or null */
    void (*apply_norm2)(const linop *op, field *y, const field *x, int dagger, vector_sum *s); /* linop_apply_norm2() */
    /* y = (A + shift) x in one go, A Hermitian; or null: shifted_create() adds the shift behind. */
    void (*apply_shifted)(const linop *op, field *y, const field *x, double shift);
} linop_table;

typedef struct linop_kept linop_kept;

struct linop {
    const linop_table *table;
    const struct coarsening *coarsening; /* how it is made coarse (operators/coarse.h); null: it cannot be */
    const lattice *lat;
    field_shape shape; /* shape of its vectors, of one right-hand side */
    parity par;
    precision prec;
    place where;
    double flops;     /* flops of one application, this rank */
    blocks *inside;   /* null: on the whole lattice */
    overlap *over;    /* overlap of the blocks; null: none */
    linop_kept *kept; /* operators that linop_local() and linop_slices() have made of it */
};

field *linop_vector(const linop *op, int nrhs);
void linop_apply(const linop *op, field *y, const field *x, int dagger);
/* y = A x for a Hermitian operator and one right-hand side; and (x, y) is on its way, for vector_sum_finish(). An operator may
 * find the product by its own way, sooner than y. */
void linop_apply_dot(const linop *op, field *y, const field *x, vector_sum *s);
/* y = A x or A^dagger x for one right-hand side, of one parity; and |x|^2 is on its way, for vector_sum_finish(),
 * and the operator is up to date. */
void linop_apply_norm2(const linop *op, field *y, const field *x, int dagger, vector_sum *s);
linop *linop_at(linop *op, precision prec, place where);
/* The operator inside such blocks, owned by `op`. Null, with the reason in `message`, where the lattice has them not.
 * With an overlap refresh() is collective, as is the first application after the links have changed. */
linop *linop_local(linop *op, const block_shape *s, char *message, size_t bytes);
/* The operator on Ls slices, owned by `op`. Null, with the reason in `message`, where there is no such operator. */
linop *linop_slices(linop *op, int Ls, char *message, size_t bytes);
void linop_refresh(linop *op);
void linop_destroy(linop *op);

/* Operators of an operator, which they borrow: A^dagger A, Hermitian and positive; A^dagger; A + shift. */
linop *normal_create(linop *op);
linop *adjoint_create(linop *op);
/* Operator that adjoint_create() made `op` of; null for any other `op`. */
linop *adjoint_inner(const linop *op);
linop *shifted_create(linop *op, double shift);

#endif
