/* BLAS on blocks of right-hand sides (M. Clark et al., arXiv:1710.09745, sections 6.3 and 6.4): tiles of X^dagger Y and of
 * X a + b w. Every column of a tile is read once from memory, and again from the first cache. Sums are exact (sums.h).
 * Spinors and colour vectors, with any number of slices. */

/* Entry j = row ny + column of the tile: re, im. */
FN void T(multiblas_dot_one)(const multiblas_dot_args *a, long u, int j, vexact *sum, int reals)
{
    const int left = a->first_x + j / a->ny, right = a->first_y + j % a->ny;
    if (a->upper && left > right) return;
    for (int s = 0; s < a->slices; s++) {
        vreal x[24], y[24];
        T(load)(x, &a->x, u, left * a->slices + s, reals);
        T(load)(y, &a->y, u, right * a->slices + s, reals);
        T(dot_deposit)(&sum[0], &sum[1], x, y, reals);
    }
}

/* Entries of the whole tile; columns are widened once. */
FN void T(multiblas_dot_tile)(const multiblas_dot_args *a, long u, vexact *sum, int reals)
{
    for (int s = 0; s < a->slices; s++) {
        T(wide) x[MULTIBLAS_TILE][24], y[24];
        for (int i = 0; i < a->nx; i++) T(load_wide)(x[i], &a->x, u, (a->first_x + i) * a->slices + s, reals);
        for (int j = 0; j < a->ny; j++) {
            T(load_wide)(y, &a->y, u, (a->first_y + j) * a->slices + s, reals);
            for (int i = 0; i < a->nx; i++) {
                vexact *const to = sum + 2 * (i * a->ny + j);
                if (!a->upper || a->first_x + i <= a->first_y + j) T(wide_dot_deposit)(to, to + 1, x[i], y, reals);
            }
        }
    }
}

FN void T(multiblas_dot_site)(const multiblas_dot_args *a, long u, vexact *sum)
{
    if (a->reals == 6) T(multiblas_dot_tile)(a, u, sum, 6);
    else T(multiblas_dot_tile)(a, u, sum, 24);
}

/* Column number j of the tile. */
FN void T(multiblas_axpy_one)(const multiblas_axpy_args *a, long u, int j, int reals)
{
    const vreal b = vset((real)a->b);
    for (int s = 0; s < a->slices; s++) {
        const int to = (a->first + j) * a->slices + s;
        vreal y[24], x[24];
        UNROLL for (int i = 0; i < reals; i++) y[i] = vset(0);
        if (a->b != 0) {
            T(load)(y, &a->w, u, to, reals);
            UNROLL for (int i = 0; i < reals; i++) y[i] *= b;
        }
        for (int k = 0; k < a->nx; k++) {
            const vreal re = vset((real)a->a[k][j][0]), im = vset((real)a->a[k][j][1]);
            T(load)(x, &a->x, u, (a->first_x + k) * a->slices + s, reals);
            UNROLL for (int i = 0; i < reals; i += 2)
            {
                y[i] = vfnma(im, x[i + 1], vfma(re, x[i], y[i]));
                y[i + 1] = vfma(im, x[i], vfma(re, x[i + 1], y[i + 1]));
            }
        }
        T(save)(y, &a->out, u, to, reals);
    }
}

FN void T(multiblas_axpy_site)(const multiblas_axpy_args *a, long u)
{
    for (int j = 0; j < a->n; j++) {
        if (a->reals == 6) T(multiblas_axpy_one)(a, u, j, 6);
        else T(multiblas_axpy_one)(a, u, j, 24);
    }
}
