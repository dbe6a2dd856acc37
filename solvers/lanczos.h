/* The ends of the spectrum of a Hermitian positive operator, by the Lanczos process.
 *
 * low and high are the outermost Ritz values. Each has an eigenvalue of A within its error (the norm of the residual of
 * its Ritz vector), and up to rounding both are inside the spectrum: low is never below the lowest eigenvalue, high
 * never above the highest. That the eigenvalue next to an end is the outermost one is not proved, but misses only
 * eigenvectors to which the random start is orthogonal, to about the square root of the error. A bound to build on is
 * therefore low - low_error and high + high_error with some margin.
 *
 * The process keeps three vectors and does not orthogonalise again: eigenvalues that it finds more than once do not
 * move the ends. It stops when both errors are at most tolerance times their values. Collective; the same bits on every
 * process grid. */
#ifndef PLAQ_LANCZOS_H
#define PLAQ_LANCZOS_H

#include <stdint.h>

#include "operators/linop.h"

typedef enum {
    LANCZOS_CONVERGED,
    LANCZOS_TOO_MANY_STEPS, /* the values are what was reached, the errors what they are */
    LANCZOS_BROKEN          /* NaN, infinity, or an operator that is not Hermitian or not positive */
} lanczos_status;

typedef struct {
    lanczos_status status;
    double low, high, low_error, high_error;
    int steps; /* applications of A */
} spectrum;

spectrum lanczos_bounds(linop *a, uint64_t seed, int max_steps, double tolerance);

#endif
