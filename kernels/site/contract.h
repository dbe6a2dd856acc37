/* Densities of contractions at a site. */

/* Sums over colours of conj(x) y: re, and the two parts whose difference is im, which cancel to nothing where x is y. */
FN void T(colours_add)(vreal sum[3], const vreal x[6], const vreal y[6])
{
    UNROLL for (int c = 0; c < 6; c += 2)
    {
        sum[0] = vfma(x[c], y[c], sum[0]);
        sum[1] = vfma(x[c], y[c + 1], sum[1]);
        sum[2] = vfma(x[c + 1], y[c], sum[2]);
        sum[0] = vfma(x[c + 1], y[c + 1], sum[0]);
    }
}

FN void T(colours_save)(const vreal sum[3], const view *out, long u, int channel)
{
    vreal rho[2];
    rho[0] = sum[0];
    rho[1] = sum[1] - sum[2];
    T(save)(rho, out, u, channel, 2);
}

/* Channel 4 k + l = sum over colours c of the sink and columns d, colours of the source, of conj(a(c, k; d)) b(c, l; d). One
 * k at a time: its sums stay in registers. */
FN void T(spin_pairs_site)(const spin_pairs_args *a, long u)
{
    for (int k = 0; k < 4; k++) {
        vreal sum[4][3], x[6], y[6];
        UNROLL for (int l = 0; l < 4; l++) sum[l][0] = sum[l][1] = sum[l][2] = vset(0);
        for (int d = 0; d < CONTRACT_COLOURS; d++) {
            T(load)(x, &a->a, u, 4 * (a->first_a + d) + k, 6);
            UNROLL for (int l = 0; l < 4; l++)
            {
                T(load)(y, &a->b, u, 4 * (a->first_b + d) + l, 6);
                T(colours_add)(sum[l], x, y);
            }
        }
        UNROLL for (int l = 0; l < 4; l++) T(colours_save)(sum[l], &a->out, u, 4 * k + l);
    }
}

/* x^dagger y over all groups. */
FN void T(inner_of)(const inner_args *a, long u, int reals)
{
    vreal sum[3] = {vset(0), vset(0), vset(0)}, x[24], y[24];
    for (int group = 0; group < a->x.groups; group++) {
        T(load)(x, &a->x, u, group, reals);
        T(load)(y, &a->y, u, group, reals);
        UNROLL for (int c = 0; c < reals; c += 6) T(colours_add)(sum, x + c, y + c);
    }
    T(colours_save)(sum, &a->out, u, 0);
}

FN void T(inner_site)(const inner_args *a, long u)
{
    if (a->reals == 6) T(inner_of)(a, u, 6);
    else T(inner_of)(a, u, 24);
}
