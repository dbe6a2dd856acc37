/* Small complex matrices and the thin QR decomposition, which solvers for blocks of right-hand sides share.
 *
 * Matrices are those of GSL (gsl_matrix_complex). They are computed from exact sums, the same way on every rank, and so
 * have the same bits everywhere. */
#ifndef PLAQ_BLOCK_MATRIX_H
#define PLAQ_BLOCK_MATRIX_H

#include <gsl/gsl_matrix.h>

#include "solvers/solver.h"

#define BLOCK_MOST SOLVER_BLOCK_MOST

typedef gsl_matrix_complex block_matrix;

/* n x m, all zero; and A B, A^dagger B or A B^dagger where a letter of `dagger` is 1. Free with block_free(). */
block_matrix *block_zero(int n, int m);
block_matrix *block_product(const block_matrix *a, int dagger_a, const block_matrix *b, int dagger_b);
block_matrix *block_dagger(const block_matrix *a);
void block_scale(block_matrix *a, double factor);
void block_scale_columns(block_matrix *a, const double *factors); /* factors[j] of column j */
void block_free(block_matrix *a);
/* The inverse of a Hermitian positive matrix, or null where it is not positive to rounding, or no number. */
block_matrix *block_inverse(const block_matrix *a);
/* |column j|^2 */
double block_column_norm2(const block_matrix *a, int j);

/* X^dagger Y; and out = factor X a + b w, as in kernels/ops/multiblas.h. Collective. */
block_matrix *block_dot(const field *x, const field *y, int hermitian);
void block_axpy(field *out, double factor, const block_matrix *a, const field *x, double b, const field *w);

/* Thin QR: Q C = M with orthonormal columns of Q, by Cholesky decomposition of M^dagger M (algorithm 2 of M. Clark et
 * al., arXiv:1710.09745), repeated where M is ill conditioned. Columns that depend on others, or are zero, are dropped: Q
 * then has fewer columns than M, and C more columns than rows; what is dropped of a column is below 1e-6 of its norm, or
 * some roundings of the fields' precision. *q: M, and becomes Q; *work: of the same shape, is overwritten; both may be
 * replaced by smaller fields, which have at least one column. gram: M^dagger M, which is used up, or null; a device does what was
 * started behind it, while the host factorises. Returns C, or null where M has numbers that are none, or is all zero.
 * Collective. */
block_matrix *block_qr(field **q, field **work, block_matrix *gram);

#endif
