/* Arguments of multi-BLAS: BLAS on blocks of right-hand sides. The same in every precision. */
#ifndef PLAQ_FAMILY_MULTIBLAS_H
#define PLAQ_FAMILY_MULTIBLAS_H

#include "kernels/field/view.h"

/* A tile of X^dagger Y: columns first_x to first_x + nx - 1 of X with first_y to first_y + ny - 1 of Y. `reals` are the
 * components of a group, `slices` the groups of a right-hand side; n = nx ny. */
#define MULTIBLAS_TILE 4

typedef struct {
    view x, y;
    int n, nx, ny, first_x, first_y;
    int upper; /* only entries with column of X <= column of Y */
    int reals, slices;
} multiblas_dot_args;

/* A tile of out = X a + b w: columns first_x to first_x + nx - 1 of X into columns `first` to first + n - 1 of out. With
 * b = 0 w is not read. */
#define MULTIBLAS_FROM 16
#define MULTIBLAS_TO 8

typedef struct {
    view out, w, x;
    double a[MULTIBLAS_FROM][MULTIBLAS_TO][2], b;
    int n, nx, first, first_x;
    int reals, slices;
} multiblas_axpy_args;

#endif
