/* The lowest eigenpairs of a Hermitian positive operator, by block Lanczos with thick restarts (K. Wu and H. Simon, SIAM J.
 * Matrix Anal. Appl. 22 (2000) 602) on a Chebyshev polynomial of the operator (Y. Saad, Math. Comp. 42 (1984) 567).
 *
 * B = T_p(2 (A - cutoff) / (high - cutoff) - 1) is large below the cutoff and at most 1 in [cutoff, high], where high
 * bounds the spectrum. Its largest eigenvalues belong to the lowest of A. All vectors are kept orthonormal. Once the pairs
 * have converged the process goes on from random vectors, until these find no more: so multiplets come out whole, whatever
 * the block. In the end A itself is diagonalised in the space that was found, and residuals |A v - value v| / high are those of
 * A, whatever the process claims.
 *
 * All fields are in double precision where A is. Collective; the same bits on every process grid. */
#ifndef PLAQ_EIGEN_H
#define PLAQ_EIGEN_H

#include <stdint.h>

#include "operators/linop.h"

#define EIGEN_MOST 1024 /* pairs */

typedef struct {
    int pairs;
    int block; /* vectors that A is applied to together */
    int basis; /* vectors that are kept, at least pairs + 3 block; 0: by rule */
    int order; /* order of the polynomial, even; lowered where rounding would leave the lowest vectors alone; 0: by rule */
    double cutoff; /* raised where fewer eigenvalues than pairs are below it; 0: by rule, from what the process finds */
    double tolerance; /* residual over the bound of the spectrum */
    int restarts;     /* most restarts */
    uint64_t seed;
} eigen_settings;

typedef struct eigen_pairs {
    int n, nblocks;
    double *values;    /* ascending */
    double *residuals; /* |A v - value v| / high for |v| = 1 */
    field **blocks;    /* vectors: pair k is column k % block of blocks[k / block] */
    int block;
    /* How they were found. */
    int converged, restarts, order;
    long applications; /* applications of A to one vector */
    double high, cutoff, seconds;
} eigen_pairs;

/* Why such settings cannot be on these vectors, or null. Local. */
const char *eigen_fits(const eigen_settings *s, const linop *a, char *message, size_t size);
/* Pairs that did not reach the tolerance, or are not all below the cutoff, have converged = 0, and are what was found. NULL
 * with a message where a given cutoff is above the bound of the spectrum, or a given order too high for a given cutoff.
 * Free with eigen_free(). */
eigen_pairs *eigen_solve(const eigen_settings *s, linop *a, char *message, size_t size);
/* Room for n pairs without contents, in blocks, of vectors of A. */
eigen_pairs *eigen_alloc(const linop *a, int n, int block);
void eigen_free(eigen_pairs *e);

/* x += sum over the first `modes` pairs of v (v, b - A x) / value: what is left of the residual has no part in them. With
 * of_normal the pairs are those of A^dagger A, and b - A x is multiplied by A^dagger. Any number of right-hand sides, in
 * double precision. Collective. */
void eigen_deflate(const eigen_pairs *e, int modes, const linop *a, int of_normal, field *x, const field *b);

#endif
