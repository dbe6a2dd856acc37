/* Arguments of multi-BLAS: BLAS on blocks of right-hand sides. The same in every precision. */
#ifndef PLAQ_FAMILY_MULTIBLAS_H
#define PLAQ_FAMILY_MULTIBLAS_H

#include "kernels/field/view.h"

/* Tiles of X^dagger Y, each of so many columns of X with so many of Y. A launch has one on the host, and up to
 * MULTIBLAS_TILES on a device. The sums of a tile are those of its pairs, row by row: re, im. Work items are cells of 2^4
 * sites, of one parity; cells are `cells` in each direction, whose units are `stride` apart (of sites, not cells). `reals`
 * are the components of a group, `slices` the groups of a right-hand side. */
#define MULTIBLAS_TILE 4
#define MULTIBLAS_TILE_SUMS (2 * MULTIBLAS_TILE * MULTIBLAS_TILE)
#define MULTIBLAS_TILES 256

typedef struct {
    view x, y;
    int nx, ny;    /* columns of X and of Y */
    int hermitian; /* only entries with column of X <= column of Y are asked for */
    int rounded;   /* a device gives values in place of sums */
    int reals, slices, cells[4], stride[4];
    int tiles;
    unsigned char first[MULTIBLAS_TILES][2]; /* first columns of X and of Y */
} multiblas_dot_args;

/* Columns `first` to first + n - 1 of out = X a + b w, with the nx columns of X; coefficient a[k * row + j](re, im) of column k of
 * X in column first + j of out, in arithmetic precision and in memory of the host. With b = 0 w is not read. */
#define MULTIBLAS_COEFFICIENT_BYTES 16384 /* bytes of coefficients of a launch on a device */

typedef struct {
    view out, w, x;
    const void *a;
    double b;
    int row, n, nx, first;
    int reals, slices;
} multiblas_axpy_args;

#endif
