/* Spin projection in the DeGrand-Rossi basis, gamma_mu = [[0, G_mu], [G_mu^dagger, 0]] with G_x = i sigma_1,
 * G_y = -i sigma_2, G_z = i sigma_3, G_t = 1. A spinor is vreal[24], [spin][colour][re, im].
 *
 * (1 - s gamma_mu) psi, s = +-1, has upper spins h = psi_up - s G psi_down and lower spins -s G^dagger h; h is the half
 * spinor vreal[12]. s is a run-time factor folded into fused multiply-adds, so a dagger costs nothing. */

/* Projects one colour: h = psi_up - s G_mu psi_down; a, b the upper spins, d, e the lower; h[0..1] and h[6..7] are written. */
FN void T(spin_project_colour)(vreal h[8], const vreal a[2], const vreal b[2], const vreal d[2], const vreal e[2],
                               int mu, vreal s)
{
    vreal *f = h, *g = h + 6;
    if (mu == 0) {
        f[0] = T(add_signed)(s, e[1], a[0]);
        f[1] = T(subtract_signed)(s, e[0], a[1]);
        g[0] = T(add_signed)(s, d[1], b[0]);
        g[1] = T(subtract_signed)(s, d[0], b[1]);
    } else if (mu == 1) {
        f[0] = T(add_signed)(s, e[0], a[0]);
        f[1] = T(add_signed)(s, e[1], a[1]);
        g[0] = T(subtract_signed)(s, d[0], b[0]);
        g[1] = T(subtract_signed)(s, d[1], b[1]);
    } else if (mu == 2) {
        f[0] = T(add_signed)(s, d[1], a[0]);
        f[1] = T(subtract_signed)(s, d[0], a[1]);
        g[0] = T(subtract_signed)(s, e[1], b[0]);
        g[1] = T(add_signed)(s, e[0], b[1]);
    } else {
        f[0] = T(subtract_signed)(s, d[0], a[0]);
        f[1] = T(subtract_signed)(s, d[1], a[1]);
        g[0] = T(subtract_signed)(s, e[0], b[0]);
        g[1] = T(subtract_signed)(s, e[1], b[1]);
    }
}

/* h = psi_up - s G_mu psi_down */
FN void T(spin_project)(vreal h[12], const vreal psi[24], int mu, vreal s)
{
    UNROLL for (int c = 0; c < 3; c++)
        T(spin_project_colour)(h + 2 * c, psi + 2 * c, psi + 6 + 2 * c, psi + 12 + 2 * c, psi + 18 + 2 * c, mu, s);
}

/* Projects a spinor in memory, in units of its scale. */
FN void T(load_project)(vreal h[12], const view *in, long unit, int rhs, int mu, vreal s)
{
    if (LOADS_BY_ROW) {
        UNROLL for (int c = 0; c < 3; c++)
        {
            vreal p[8];
            UNROLL for (int k = 0; k < 4; k++) T(load_raw_part)(p + 2 * k, in, unit, rhs, 6 * k + 2 * c, 2);
            T(spin_project_colour)(h + 2 * c, p, p + 2, p + 4, p + 6, mu, s);
        }
    } else {
        vreal psi[24];
        T(load_encoded)(psi, in, unit, rhs, 24);
        T(spin_project)(h, psi, mu, s);
    }
}

/* psi_up += w h, psi_down += -s G_mu^dagger w h */
FN void T(spin_add)(vreal psi[24], const vreal h[12], int mu, vreal s, vreal w)
{
    s *= w; /* exact: s is a sign */
    UNROLL for (int c = 0; c < 3; c++)
    {
        vreal *a = psi + 2 * c, *b = a + 6, *d = a + 12, *e = a + 18;
        const vreal *f = h + 2 * c, *g = f + 6;
        a[0] = vfma(w, f[0], a[0]);
        a[1] = vfma(w, f[1], a[1]);
        b[0] = vfma(w, g[0], b[0]);
        b[1] = vfma(w, g[1], b[1]);
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
