/* Arguments of the kernels of coarse operators: rows, aggregates, transfer, Galerkin product, coarse hop. The same in
 * every precision.
 *
 * Fields are in rows order. A coarse matrix of n x n components is [column][re, im][row], so that the rows of a column
 * stand together. Null vectors at a site of n components are [component][re, im][vector], with zeros behind the vectors
 * up to a multiple of COARSE_PAD. The first half of a site's components has chirality +, the second -. */
#ifndef PLAQ_FAMILY_COARSE_H
#define PLAQ_FAMILY_COARSE_H

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

#define COARSE_PAD 8           /* vectors, and columns of a Galerkin product that are made together */
#define COARSE_CHAINS 4        /* sums that a product's row is made of, direction by direction */
#define COARSE_VECTORS_MOST 64 /* null vectors of an aggregate and chirality */
#define COARSE_COMPONENTS_MOST (2 * COARSE_VECTORS_MOST)

/* Between a field in sites order and the same in rows: group g of a site stands at g reals of the row or, where rows have
 * as many groups, in group g. */
typedef struct {
    geom g;
    view sites, rows; /* views of one parity */
    int parity, reals, groups_apart;
    int add; /* adds to sites */
} coarse_rows_args;
typedef coarse_rows_args coarse_gather_args, coarse_scatter_args;

/* Aggregates: blocks of a fine lattice, one a coarse site; rows of both lattices, even ones first. */
typedef struct {
    geom coarse;
    int sub[4], parities, block[4];
    long rows_of_parity; /* fine */
    int components, vectors, padded;
    int parity; /* parity of a launch's coarse sites */
} coarse_aggregates;

typedef struct {
    coarse_aggregates of;
    view vectors, in;
    int number; /* vector number of `in`, on the parity `fine` */
    int fine;
} coarse_insert_args;

typedef struct {
    coarse_aggregates of;
    view vectors;
} coarse_orthonormalise_args;

/* fine: the parity that the fine vectors have; 2: both. */
typedef struct {
    coarse_aggregates of;
    view vectors, fine_vector, coarse_vector;
    int fine;
} coarse_transfer_args;
typedef coarse_transfer_args coarse_restrict_args, coarse_prolong_args;

/* links: forward ones of the fine lattice in rows, 4 x 18 reals a site; clover: 2 x 36; or, of a coarse lattice, its
 * matrices. `ghost`: null vectors above the box along each direction, even rows first, `ghost_rows` of each parity. */
typedef struct {
    coarse_aggregates of;
    view vectors, links, diagonal, ghost[4];
    view out, out_diagonal;
    long ghost_rows[4];
    int split[4], time_sign; /* time_sign: step over the last time slice of this rank */
} coarse_galerkin_args;
typedef coarse_galerkin_args coarse_galerkin_wilson_args;

typedef struct {
    geom g;
    view links, ghost[4]; /* matrices of links, both parities; forward ones below the box along each direction */
    long rows_of_parity, ghost_rows[4];
    int parity, components, parities;
} coarse_backward_args;

typedef struct {
    view in, out;
    const int *face;
    long reals;
} coarse_pack_args;

typedef struct {
    view in, out;
    int components;
} coarse_invert_args;

typedef struct {
    view links, inverse;
    int components;
} coarse_fold_args;

/* Matrices in floating point and in fixed point, from one to the other. */
typedef struct {
    view real, fixed;
    int components;
} coarse_compress_args;
typedef coarse_compress_args coarse_expand_args;

/* A number of each chirality: number + i twist gamma_5. */
typedef struct {
    double number, twist;
} coarse_scalar;

/* matrices = matrices times + plus */
typedef struct {
    view matrices;
    coarse_scalar times, plus;
    int components;
} coarse_shift_args;

/* out = a sum_dir Y_dir(x) in(x + dir) + b add; links may be in fixed point */
typedef struct {
    geom g;
    view out, in, links, add, ghost[8];
    double a, b;
    int parity, components;
} coarse_hop_args;

/* The same on tensor cores of a device, in about 11 bits, for several right-hand sides. */
typedef coarse_hop_args coarse_hop_tensor_args;

/* out = X in, with gamma_5 in front of X and behind it where `left` and `right` are -1 and not 1 */
typedef struct {
    view out, in, matrices;
    int components, left, right;
} coarse_local_args;

#endif
