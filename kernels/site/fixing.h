/* Gauge transformations U_mu(x) -> g(x) U_mu(x) g(x+mu)^dagger, and gauge fixing by over-relaxation.
 *
 * Landau and Coulomb gauge maximise sum_x sum_mu Re tr g(x) U_mu(x) g(x+mu)^dagger over g, mu in four or in three
 * directions. The terms of one site are Re tr w(x), w(x) = g(x) sum_mu (U_mu(x) g(x+mu)^dagger + U_mu(x-mu)^dagger
 * g(x-mu)^dagger), and sites of one parity are independent. */

/* Links at a site after the gauge transformation: w(x), of the first `directions`. own = g(x). */
FN void T(fixing_sum)(vreal w[18], const vreal own[18], const geom *g, const view *links, const view *rotation,
                      int directions, T(walker) home)
{
    vreal sum[18], u[18], far[18], m[18], n[18];
    T(su3_zero)(sum);
    for (int mu = 0; mu < directions; mu++) {
        T(walker) there = T(walk)(g, home, mu, 1);
        T(walk_load)(u, g, links, home, mu, 18);
        T(walk_load)(far, g, rotation, there, 0, 18);
        T(su3_mul_right_dagger)(m, u, far);
        T(su3_add)(sum, m);
        there = T(walk)(g, home, mu, -1);
        T(walk_load)(u, g, links, there, mu, 18);
        T(walk_load)(far, g, rotation, there, 0, 18);
        T(su3_mul)(m, far, u);
        T(su3_dagger)(n, m);
        T(su3_add)(sum, n);
    }
    T(su3_mul)(w, own, sum);
}

/* Rows i and j of m multiplied from the left by the SU(2) matrix (alpha, beta; -conj(beta), conj(alpha)), a = (Re alpha,
 * Im alpha, Re beta, Im beta). */
FN void T(rows_turn)(vreal m[18], int i, int j, const vreal a[4])
{
    UNROLL for (int c = 0; c < 3; c++)
    {
        vreal *x = m + 6 * i + 2 * c, *y = m + 6 * j + 2 * c;
        const vreal x0 = x[0], x1 = x[1], y0 = y[0], y1 = y[1];
        x[0] = vfnma(a[3], y1, vfma(a[2], y0, vfnma(a[1], x1, a[0] * x0)));
        x[1] = vfma(a[3], y0, vfma(a[2], y1, vfma(a[1], x0, a[0] * x1)));
        y[0] = vfma(a[1], y1, vfma(a[0], y0, vfnma(a[3], x1, -(a[2] * x0))));
        y[1] = vfnma(a[1], y0, vfma(a[0], y1, vfma(a[3], x0, -(a[2] * x1))));
    }
}

/* The number that makes the unit matrix where w has nothing to maximise, and is lost in rounding elsewhere. */
#define FIXING_TINY 1e-140

/* Over-relaxed maximum in the SU(2) subgroup of rows i and j (N. Cabibbo and E. Marinari, Phys. Lett. B 119 (1982) 387).
 * Re tr(h w) is largest for h = (alpha, beta), alpha ~ conj(w_ii) + w_jj, beta ~ conj(w_ji) - w_ij. The update is 1 +
 * omega (h - 1), normalised, the first two terms of h^omega (J. Mandula and M. Ogilvie, Phys. Lett. B 248 (1990) 156);
 * it raises the trace for 0 < omega < 2. */
FN void T(fixing_turn)(vreal a[4], const vreal w[18], int i, int j, vreal omega)
{
    const vreal *ii = w + 8 * i, *jj = w + 8 * j, *ij = w + 6 * i + 2 * j, *ji = w + 6 * j + 2 * i;
    a[0] = ii[0] + jj[0];
    a[1] = jj[1] - ii[1];
    a[2] = ji[0] - ij[0];
    a[3] = -(ji[1] + ij[1]);
    vreal norm = vset(0);
    UNROLL for (int k = 0; k < 4; k++) norm = vfma(a[k], a[k], norm);
    UNROLL for (int k = 0; k < 4; k++) a[k] *= omega;
    a[0] = vfma(1 - omega, vsqrt(norm), a[0]) + (real)FIXING_TINY;
    norm = vset(0);
    UNROLL for (int k = 0; k < 4; k++) norm = vfma(a[k], a[k], norm);
    const vreal inverse = 1 / vsqrt(norm);
    UNROLL for (int k = 0; k < 4; k++) a[k] *= inverse;
}

/* g(x) of one parity, over-relaxed in the three SU(2) subgroups one after the other. */
FN void T(gauge_relax_site)(const gauge_relax_args *a, long u)
{
    const vreal omega = vset((real)a->over_relaxation);
    vreal own[18], w[18], turn[4];
    T(load)(own, &a->out, u, 0, 18);
    T(fixing_sum)(w, own, &a->g, &a->links, &a->rotation, a->directions, T(walk_from)(&a->g, a->parity, u));
    UNROLL for (int k = 0; k < 3; k++)
    {
        const int i = k / 2, j = 1 + (k + 1) / 2;
        T(fixing_turn)(turn, w, i, j, omega);
        T(rows_turn)(w, i, j, turn);
        T(rows_turn)(own, i, j, turn);
    }
    T(su3_unitarise)(own);
    T(save)(own, &a->out, u, 0, 18);
}

/* Sums over a parity: Re tr w, and tr Delta Delta^dagger of Delta = (w - w^dagger) / 2 without its trace. */
FN void T(gauge_gradient_site)(const gauge_gradient_args *a, long u, vexact *sum)
{
    const T(walker) home = T(walk_from)(&a->g, a->parity, u);
    vreal own[18], w[18], x[8];
    vdouble trace = vdouble_zero(), s = vdouble_zero();
    T(walk_load)(own, &a->g, &a->rotation, home, 0, 18);
    T(fixing_sum)(w, own, &a->g, &a->links, &a->rotation, a->directions, home);
    T(add_real)(&trace, T(su3_trace)(w));
    T(su3_project)(x, w);
    s = vdouble_fma(x[0], x[0], s);
    s = vdouble_fma(x[1], x[1], s);
    s = vdouble_fma(x[0] + x[1], x[0] + x[1], s);
    UNROLL for (int i = 2; i < 8; i++) s = vdouble_fma((real)2 * x[i], x[i], s);
    T(exact_deposit)(&sum[0], trace);
    T(exact_deposit)(&sum[1], s);
}

/* Links after the gauge transformation; `out` may be the links. */
FN void T(gauge_rotate_site)(const gauge_rotate_args *a, long u)
{
    const T(walker) home = T(walk_from)(&a->g, a->parity, u);
    vreal own[18], far[18], link[18], m[18];
    T(walk_load)(own, &a->g, &a->rotation, home, 0, 18);
    for (int mu = 0; mu < 4; mu++) {
        T(walk_load)(link, &a->g, &a->links, home, mu, 18);
        T(su3_mul)(m, own, link);
        T(walk_load)(far, &a->g, &a->rotation, T(walk)(&a->g, home, mu, 1), 0, 18);
        T(su3_mul_right_dagger)(link, m, far);
        T(save)(link, &a->out, u, mu, 18);
    }
}
