/* The clover term on one work item: two Hermitian 6x6 blocks, one a chirality (upper and lower spins), each 36 reals:
 * the diagonal, then the lower triangle row by row, (re, im). */

#define CLOVER_LOWER(i, j) (6 + (i) * ((i)-1) + 2 * (j)) /* real part of element (i, j), i > j */

/* y = C x for one chirality, x and y vreal[12]. */
FN void T(clover_block_times)(vreal y[12], const vreal c[36], const vreal x[12])
{
    UNROLL for (int i = 0; i < 6; i++)
    {
        vreal re = c[i] * x[2 * i], im = c[i] * x[2 * i + 1];
        UNROLL for (int j = 0; j < i; j++)
        {
            const vreal *l = c + CLOVER_LOWER(i, j);
            re = vfma(l[0], x[2 * j], re);
            im = vfma(l[0], x[2 * j + 1], im);
            re = vfnma(l[1], x[2 * j + 1], re);
            im = vfma(l[1], x[2 * j], im);
        }
        UNROLL for (int j = i + 1; j < 6; j++)
        {
            const vreal *l = c + CLOVER_LOWER(j, i);
            re = vfma(l[0], x[2 * j], re);
            im = vfma(l[0], x[2 * j + 1], im);
            re = vfma(l[1], x[2 * j + 1], re);
            im = vfnma(l[1], x[2 * j], im);
        }
        y[2 * i] = re;
        y[2 * i + 1] = im;
    }
}

/* psi = C psi at unit u. */
FN void T(clover_times)(vreal psi[24], const view *clover, long u)
{
    UNROLL for (int chirality = 0; chirality < 2; chirality++)
    {
        vreal c[36], y[12];
        T(load_stream)(c, clover, u, chirality, 36);
        T(clover_block_times)(y, c, psi + 12 * chirality);
        UNROLL for (int i = 0; i < 12; i++) psi[12 * chirality + i] = y[i];
    }
}

/* out = factor C in, over one parity; out may be in. */
FN void T(clover_apply_site)(const clover_apply_args *a, long u)
{
    const vreal factor = vset((real)a->factor);
    for (int r = 0; r < a->in.groups; r++) {
        vreal psi[24];
        T(load)(psi, &a->in, u, r, 24);
        T(clover_times)(psi, &a->clover, u);
        UNROLL for (int i = 0; i < 24; i++) psi[i] *= factor;
        T(save)(psi, &a->out, u, r, 24);
    }
}
