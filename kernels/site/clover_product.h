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

/* psi = C psi at unit u for `many` spinors one after the other. In fixed point C is taken as the integers stored. */
FN void T(clover_times)(vreal *psi, int many, const view *clover, long u)
{
    UNROLL for (int chirality = 0; chirality < 2; chirality++)
    {
        vreal c[36], y[12];
        T(load_raw_stream)(c, clover, u, chirality, 36);
#if PLAQ_PREC >= 2
        const vreal w = T(load_scale)(clover, u, chirality) * (1 / FIXED_RANGE);
#endif
        UNROLL for (int k = 0; k < many; k++)
        {
            vreal *x = psi + 24 * k + 12 * chirality;
            T(clover_block_times)(y, c, x);
#if PLAQ_PREC >= 2
            UNROLL for (int i = 0; i < 12; i++) y[i] *= w;
#endif
            UNROLL for (int i = 0; i < 12; i++) x[i] = y[i];
        }
    }
}

/* y = C x for one chirality with C of the view at unit u, or y = x where the view is empty. */
FN void T(clover_chirality)(vreal y[12], const view *clover, long u, int chirality, const vreal x[12])
{
    vreal c[36];
    if (!clover->data) {
        UNROLL for (int i = 0; i < 12; i++) y[i] = x[i];
        return;
    }
    T(load_raw_stream)(c, clover, u, chirality, 36);
    T(clover_block_times)(y, c, x);
#if PLAQ_PREC >= 2
    const vreal w = T(load_scale)(clover, u, chirality) * (1 / FIXED_RANGE);
    UNROLL for (int i = 0; i < 12; i++) y[i] *= w;
#endif
}

/* psi = (C + X K) psi at unit u for the two flavours of a doublet, one spinor after the other, with
 * X = i mu gamma_5 tau_2 + epsilon tau_3, which is real; C and K are unit matrices where their views are empty. */
FN void T(doublet_times)(vreal psi[48], const view *clover, const view *mu_clover, double mu, double epsilon, long u)
{
    const vreal e = vset((real)epsilon);
    UNROLL for (int chirality = 0; chirality < 2; chirality++)
    {
        const vreal t = vset((real)(chirality ? -mu : mu));
        vreal y[2][12], z[2][12];
        UNROLL for (int flavour = 0; flavour < 2; flavour++)
        {
            const vreal *x = psi + 24 * flavour + 12 * chirality;
            T(clover_chirality)(y[flavour], clover, u, chirality, x);
            T(clover_chirality)(z[flavour], mu_clover, u, chirality, x);
        }
        UNROLL for (int i = 0; i < 12; i++)
        {
            psi[12 * chirality + i] = vfma(t, z[1][i], vfma(e, z[0][i], y[0][i]));
            psi[24 + 12 * chirality + i] = vfnma(t, z[0][i], vfnma(e, z[1][i], y[1][i]));
        }
    }
}

/* psi = (C + i mu gamma_5 K) psi at unit u for `many` spinors; C and K are unit matrices where their views are empty.
 * gamma_5 is +1 on the first chirality. */
FN void T(twisted_times)(vreal *psi, int many, const view *clover, const view *mu_clover, double mu, long u)
{
    UNROLL for (int k = 0; k < many; k++) UNROLL for (int chirality = 0; chirality < 2; chirality++)
    {
        vreal y[12], z[12], *x = psi + 24 * k + 12 * chirality;
        const vreal t = vset((real)(chirality ? -mu : mu));
        T(clover_chirality)(y, clover, u, chirality, x);
        T(clover_chirality)(z, mu_clover, u, chirality, x);
        UNROLL for (int i = 0; i < 12; i += 2)
        {
            x[i] = vfnma(t, z[i + 1], y[i]);
            x[i + 1] = vfma(t, z[i], y[i + 1]);
        }
    }
}
