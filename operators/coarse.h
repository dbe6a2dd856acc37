/* Coarse operators: the Galerkin product of an operator with null vectors on aggregates, on a coarser lattice.
 *
 * A twisted mass is apart: of M = D + i mu gamma_5 with gamma_5 D gamma_5 = D^dagger the Galerkin product is that of D, and
 * X has i mu gamma_5 beside it, since null vectors have a chirality each; mu may be scaled (C. Alexandrou et al.,
 * arXiv:1610.02370).
 *
 * M_c = P^dagger M P with P the null vectors of each aggregate and chirality, made orthonormal (M. Clark et al.,
 * arXiv:1612.07873, sections 3 and 4). M_c = X (1 + Y) with X the site-diagonal part and Y hops to next neighbours; gamma_5
 * M_c gamma_5 = M_c^dagger with gamma_5 = +1, -1 on the two chiralities. The system is
 *   red-black             1 - Y_pq Y_qp on even sites, where all extents of the coarse lattice are even
 *   without parity        1 + Y, where one is odd.
 *
 * What an operator needs to be made coarse is its `coarsening`; coarse systems have one, so levels follow each other. The
 * residual r of a system stands for one of the whole operator that is zero on the other parity, and of a correction of the
 * whole operator the sites of the system are kept.
 *
 * A coarse lattice may be too small for all ranks. Then some of them hold it, and the others no site of it: a rank makes its
 * aggregates' part of the Galerkin product and of P^dagger v on a lattice of all ranks, and what is made is gathered. */
#ifndef PLAQ_COARSE_H
#define PLAQ_COARSE_H

#include "kernels/ops/coarse.h"
#include "operators/linop.h"

/* M = M' + number + i twist gamma_5 */
typedef struct {
    double number, twist;
} operator_shift;

/* Coarsening of an operator: v are its vectors; rows, on its parity or on both, have `spins` x `colours` components. */
typedef struct coarsening {
    int spins, colours;
    void (*residual)(linop *op, field *rows, const field *v); /* residual of M, from that of the system */
    void (*vector)(linop *op, field *rows, const field *v);   /* the vector itself */
    void (*correct)(linop *op, field *v, const field *rows);  /* v += rows */
    /* The null vector of M on both parities whose part on that of the system is v. */
    void (*complete)(linop *op, field *rows, const field *v);
    void (*galerkin)(linop *op, const aggregation *a, field *links, field *diagonal,
                     const field *vectors);    /* product of D */
    unsigned long (*version)(const linop *op); /* version of what M is made of */
    double (*twist)(const linop *op);          /* twisted mass mu; of a coarse system that of the finest operator */
    /* True if M is that of another operator with a shift, on whatever links; the shift into *by. Null: it never is. */
    int (*shifted)(const linop *op, const linop *from, operator_shift *by);
    /* The system B with A^dagger = S B S^-1, that of -mu: A itself without a twisted mass; and y = S x of B, or S^-1 x. y is
     * not x. Null where adjoints are not solved. */
    linop *(*partner)(linop *op);
    void (*gamma5_conjugate)(linop *op, field *y, const field *x, int inverse);
} coarsening;

typedef struct {
    int block[4], vectors; /* extents of aggregates; null vectors, an even number up to 64 */
    int half_links;        /* links in half precision, of an operator in single */
    int tensor_cores;      /* hops of several right-hand sides on tensor cores (coarse_hop()) */
    int ranks;             /* ranks that hold the coarse lattice, at most; 0: all, or as many as parity lets */
    double mu_factor;      /* factor of the twisted mass there; 0: 1 */
} coarse_settings;

typedef struct coarse coarse;

/* The ranks along each direction that hold the coarse lattice: divisors of those that hold the fine one, so that each has
 * as many sites as parity needs, and at most s->ranks in all. */
void coarse_grid(const lattice *fine, const coarse_settings *s, int grid[4]);
/* True if a lattice, which may be a plan, has such aggregates of so many components a site; else 0, with the reason. */
int coarse_fits(const lattice *lat, int components, const coarse_settings *s, char *message, size_t bytes);
/* A coarse operator of `fine`, which has a coarsening and is borrowed, in its precision and place; to be built. */
coarse *coarse_create(linop *fine, const coarse_settings *s);
/* Coarse operator with the null vectors and the lattice of `from`, which has to be there as long; of the same kind of
 * operator, precision and place. */
coarse *coarse_create_shifted(linop *fine, const coarse *from);
void coarse_destroy(coarse *c);

/* Null vector number k is v, a vector of the fine system. */
void coarse_set_vector(coarse *c, int k, const field *v);
/* Makes the null vectors orthonormal, and the operator from them. Returns how many of them depend on others: then the
 * operator is no use. Collective. */
double coarse_build(coarse *c);
/* Builds M_c from the coarse operator that owns the null vectors, which is built. M is that of it with the shift `by`, and so
 * is M_c with its mu scaled, for P^dagger P = 1. */
void coarse_build_shifted(coarse *c, const operator_shift *by);
/* The coarse system; owned. */
linop *coarse_system(coarse *c);

/* A whole vector of the coarse lattice. */
field *coarse_vector(const coarse *c, int nrhs);
/* b = P^dagger r for a residual r of the fine system, and v += P x; b and x are whole. */
void coarse_from_fine(coarse *c, field *b, const field *r);
void coarse_to_fine(coarse *c, field *v, const field *x);
/* b = P^dagger v for the null vector of M that is v on the sites of the system. */
void coarse_project(coarse *c, field *b, const field *v);
/* The source of the system of M_c x = b, and x from its solution y; b becomes X^-1 b. */
void coarse_prepare(coarse *c, field *source, field *b);
void coarse_reconstruct(coarse *c, field *x, const field *y, const field *b);
/* y = M_c x on the whole lattice. */
void coarse_apply(coarse *c, field *y, const field *x);

/* Aggregation and its null vectors, for tests. */
const aggregation *coarse_aggregation(const coarse *c);
const field *coarse_prolongator(const coarse *c);

#endif
