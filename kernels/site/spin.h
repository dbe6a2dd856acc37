/* Spin projection in the DeGrand-Rossi basis, gamma_mu = [[0, G_mu], [G_mu^dagger, 0]] with G_x = i sigma_1,
 * G_y = -i sigma_2, G_z = i sigma_3, G_t = 1. A spinor is vreal[24], [spin][colour][re, im].
 *
 * (1 - s gamma_mu) psi, s = +-1, has upper spins h = psi_up - s G psi_down and lower spins -s G^dagger h; h is the half
 * spinor vreal[12]. s is a run-time factor folded into fused multiply-adds, so a dagger costs nothing. */

/* h = psi_up - s G_mu psi_down */
FN void T(spin_project)(vreal h[12], const vreal psi[24], int mu, vreal s)
{
    UNROLL for (int c = 0; c < 3; c++)
    {
        const vreal *a = psi + 2 * c, *b = a + 6, *d = a + 12, *e = a + 18;
        vreal *f = h + 2 * c, *g = f + 6;
        if (mu == 0) {
            f[0] = vfma(s, e[1], a[0]);
            f[1] = vfnma(s, e[0], a[1]);
            g[0] = vfma(s, d[1], b[0]);
            g[1] = vfnma(s, d[0], b[1]);
        } else if (mu == 1) {
            f[0] = vfma(s, e[0], a[0]);
            f[1] = vfma(s, e[1], a[1]);
            g[0] = vfnma(s, d[0], b[0]);
            g[1] = vfnma(s, d[1], b[1]);
        } else if (mu == 2) {
            f[0] = vfma(s, d[1], a[0]);
            f[1] = vfnma(s, d[0], a[1]);
            g[0] = vfnma(s, e[1], b[0]);
            g[1] = vfma(s, e[0], b[1]);
        } else {
            f[0] = vfnma(s, d[0], a[0]);
            f[1] = vfnma(s, d[1], a[1]);
            g[0] = vfnma(s, e[0], b[0]);
            g[1] = vfnma(s, e[1], b[1]);
        }
    }
}

/* psi_up += h, psi_down += -s G_mu^dagger h */
FN void T(spin_add)(vreal psi[24], const vreal h[12], int mu, vreal s)
{
    UNROLL for (int c = 0; c < 3; c++)
    {
        vreal *a = psi + 2 * c, *b = a + 6, *d = a + 12, *e = a + 18;
        const vreal *f = h + 2 * c, *g = f + 6;
        a[0] += f[0];
        a[1] += f[1];
        b[0] += g[0];
        b[1] += g[1];
        if (mu == 0) {
            d[0] = vfnma(s, g[1], d[0]);
            d[1] = vfma(s, g[0], d[1]);
            e[0] = vfnma(s, f[1], e[0]);
            e[1] = vfma(s, f[0], e[1]);
        } else if (mu == 1) {
            d[0] = vfnma(s, g[0], d[0]);
            d[1] = vfnma(s, g[1], d[1]);
            e[0] = vfma(s, f[0], e[0]);
            e[1] = vfma(s, f[1], e[1]);
        } else if (mu == 2) {
            d[0] = vfnma(s, f[1], d[0]);
            d[1] = vfma(s, f[0], d[1]);
            e[0] = vfma(s, g[1], e[0]);
            e[1] = vfnma(s, g[0], e[1]);
        } else {
            d[0] = vfnma(s, f[0], d[0]);
            d[1] = vfnma(s, f[1], d[1]);
            e[0] = vfnma(s, g[0], e[0]);
            e[1] = vfnma(s, g[1], e[1]);
        }
    }
}
