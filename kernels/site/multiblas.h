/* BLAS on blocks of right-hand sides (M. Clark et al., arXiv:1710.09745, sections 6.3 and 6.4): tiles of X^dagger Y and of
 * X a + b w, of spinors and colour vectors with any number of slices.
 *
 * Dots add the eight sites of one parity of a 2^4 cell in a fixed order, in arithmetic precision, and cells exactly, so that
 * process grids, lanes, threads and devices leave no trace: lanes and ranks cut between cells. */

/* Unit of the first site of a cell, and of its site number k from there: bit 0 is y, bit 1 z, bit 2 t. */
FN long T(cell_unit)(const multiblas_dot_args *a, unsigned cell)
{
    const unsigned *n = (const unsigned *)a->cells;
    const unsigned x = cell % n[0], yzt = cell / n[0], y = yzt % n[1], zt = yzt / n[1];
    return (long)x +
           2L * (y * (unsigned)a->stride[1] + zt % n[2] * (unsigned)a->stride[2] + zt / n[2] * (unsigned)a->stride[3]);
}

FN int T(cell_step)(const multiblas_dot_args *a, int k)
{
    return (k & 1) * a->stride[1] + (k >> 1 & 1) * a->stride[2] + (k >> 2) * a->stride[3];
}

/* sum += conj(x) y of a complex number. */
FN void T(add_product)(vreal sum[2], const vreal *x, const vreal *y)
{
    sum[0] = vfma(x[1], y[1], vfma(x[0], y[0], sum[0]));
    sum[1] = vfnma(x[1], y[0], vfma(x[0], y[1], sum[1]));
}

#ifndef __CUDACC__
/* The sum of a cell, widened. */
FN void T(deposit_cell)(vexact *sum, vreal x)
{
    T(exact_deposit)(sum, vdouble_fma(x, vset(1), vdouble_zero()));
}

/* A cell's products of one slice in a tile. Columns beyond the last are the last: their sums are not looked at. */
FN void T(multiblas_dot_slice)(const multiblas_dot_args *a, unsigned cell, int s, vexact *sum, int ny, int reals)
{
    vreal product[MULTIBLAS_TILE][MULTIBLAS_TILE][2], x[MULTIBLAS_TILE][24], y[24];
    const long first = T(cell_unit)(a, cell);
    const int left = a->first[0][0], right = a->first[0][1], last = a->nx - 1;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < MULTIBLAS_TILE; i++) product[j][i][0] = product[j][i][1] = vset(0);
    for (int k = 0; k < 8; k++) {
        const long u = first + T(cell_step)(a, k);
        for (int i = 0; i < MULTIBLAS_TILE; i++)
            T(load)(x[i], &a->x, u, (left + i < last ? left + i : last) * a->slices + s, reals);
        for (int j = 0; j < ny; j++) {
            vreal p[MULTIBLAS_TILE][2];
            T(load)(y, &a->y, u, (right + j) * a->slices + s, reals);
            UNROLL for (int i = 0; i < 2 * MULTIBLAS_TILE; i++) p[i / 2][i % 2] = product[j][i / 2][i % 2];
            /* Columns of X side by side: one after the other each product would wait for the sum before it. */
            UNROLL for (int c = 0; c < reals; c += 2) UNROLL for (int i = 0; i < MULTIBLAS_TILE; i++)
                T(add_product)(p[i], x[i] + c, y + c);
            UNROLL for (int i = 0; i < 2 * MULTIBLAS_TILE; i++) product[j][i / 2][i % 2] = p[i / 2][i % 2];
        }
    }
    for (int i = 0; i < MULTIBLAS_TILE && left + i <= last; i++)
        for (int j = a->hermitian && left == right ? i : 0; j < ny; j++)
            for (int c = 0; c < 2; c++) T(deposit_cell)(sum + 2 * (i * MULTIBLAS_TILE + j) + c, product[j][i][c]);
}

FN void T(multiblas_dot_site)(const multiblas_dot_args *a, long cell, vexact *sum)
{
    int ny = a->ny - a->first[0][1];
    if (ny > MULTIBLAS_TILE) ny = MULTIBLAS_TILE;
    for (int s = 0; s < a->slices; s++) {
        if (a->reals == 6) T(multiblas_dot_slice)(a, (unsigned)cell, s, sum, ny, 6);
        else T(multiblas_dot_slice)(a, (unsigned)cell, s, sum, ny, 24);
    }
}
#endif

/* out += re and im of a coefficient times x. */
FN void T(add_multiple)(vreal *out, vreal re, vreal im, const vreal *x, int reals)
{
    UNROLL for (int i = 0; i < reals; i += 2)
    {
        out[i] = vfnma(im, x[i + 1], vfma(re, x[i], out[i]));
        out[i + 1] = vfma(im, x[i], vfma(re, x[i + 1], out[i + 1]));
    }
}

#ifndef __CUDACC__
/* Columns from number j of the launch on, of slice s, which share what is read of X: one of 24 reals, or up to MULTIBLAS_TILE of
 * 6. columns and reals are literals. */
FN void T(multiblas_axpy_columns)(const multiblas_axpy_args *a, long u, int j, int s, int columns, int reals)
{
    vreal y[24], x[24];
    UNROLL for (int i = 0; i < columns * reals; i++) y[i] = vset(0);
    if (a->b != 0) {
        UNROLL for (int k = 0; k < columns; k++)
            T(load)(y + k * reals, &a->w, u, (a->first + j + k) * a->slices + s, reals);
        UNROLL for (int i = 0; i < columns * reals; i++) y[i] *= (real)a->b;
    }
    for (int of_x = 0; of_x < a->nx; of_x++) {
        const real *by = (const real *)a->a + 2 * ((long)of_x * a->row + j);
        T(load)(x, &a->x, u, of_x * a->slices + s, reals);
        UNROLL for (int k = 0; k < columns; k++)
            T(add_multiple)(y + k * reals, vset(by[2 * k]), vset(by[2 * k + 1]), x, reals);
    }
    UNROLL for (int k = 0; k < columns; k++)
        T(save)(y + k * reals, &a->out, u, (a->first + j + k) * a->slices + s, reals);
}

FN void T(multiblas_axpy_site)(const multiblas_axpy_args *a, long u)
{
    for (int s = 0; s < a->slices; s++) {
        int j = 0;
        for (; a->reals == 6 && j + MULTIBLAS_TILE <= a->n; j += MULTIBLAS_TILE)
            T(multiblas_axpy_columns)(a, u, j, s, MULTIBLAS_TILE, 6);
        for (; j < a->n; j++) {
            if (a->reals == 6) T(multiblas_axpy_columns)(a, u, j, s, 1, 6);
            else T(multiblas_axpy_columns)(a, u, j, s, 1, 24);
        }
    }
}
#endif
