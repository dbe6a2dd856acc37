/* Multi-BLAS: BLAS on blocks of right-hand sides (M. Clark et al., arXiv:1710.09745, section 6).
 *
 * X, Y are spinors or colour vectors with any number of right-hand sides each, their columns; fields of a call share
 * lattice, kind, slices, parity, precision and place. Small matrices are complex, row by row, pairs re, im. Sums are
 * over all ranks, exact, and the same bits everywhere. */
#ifndef PLAQ_OPS_MULTIBLAS_H
#define PLAQ_OPS_MULTIBLAS_H

#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* value[i * y->nrhs + j] = (x_i, y_j) = sum conj(x_i) y_j. hermitian: the matrix is known to be Hermitian, and its lower
 * triangle is made from the upper one. On a planned lattice: the unit matrix. Collective. */
void multiblas_dot(double (*value)[2], const field *x, const field *y, int hermitian);

/* out_j = sum_i x_i a[i * out->nrhs + j] + b w_j. out may be w and is not x; w has the columns of out, and with b = 0 may
 * be null. */
void multiblas_axpy(field *out, const double (*a)[2], const field *x, double b, const field *w);

#ifdef __cplusplus
}
#endif
#endif
