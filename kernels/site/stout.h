/* Exponential smearing and its derivative: stout links (C. Morningstar and M. Peardon, hep-lat/0311018), and the levels of
 * HEX links (S. Capitani, S. Durr and C. Hoelbling, hep-lat/0607006).
 *
 *   C_mu(x) = sum_(nu != mu) rho_mu,nu (A_nu(x) B_mu(x + nu) A_nu(x + mu)^dagger
 *                                       + A_nu(x - nu)^dagger B_mu(x - nu) A_nu(x - nu + mu))
 *   Q = P(C U^dagger),  U' = exp(Q) U
 *
 * with P the traceless anti-Hermitian part (their i Q is this Q). U are thin links; A and B are links that may differ
 * from plane to plane, and are U of stout links. Forces are in the algebra: F of a link is dS(exp(w) U) = -2 tr(w F) for
 * every w in su(3), and U' in SU(3) needs no more. With dU' U'^dagger = J dQ + exp(Q) w exp(-Q), where
 * J dQ = int_0^1 exp(s Q) dQ exp(-s Q) ds,
 *
 *   Lambda = J^T F' = int_0^1 exp(-s Q) F' exp(s Q) ds
 *   F of U = exp(-Q) F' exp(Q) - P(Lambda C U^dagger)
 *   dS by A and B = -2 Re tr(dC H^dagger) with the insertion H = -Lambda U.
 *
 * The last line says: S changes as that of staples whose thin link is H. H starts and ends where its link does. */

/* Sum of the weighted staples of the link mu at home. Returns 0 where all have weight zero. */
FN int T(staples_sum_all)(vreal sum[18], const geom *g, const smear_links *l, T(walker) home, int mu)
{
    int any = 0;
    T(su3_zero)(sum);
    for (int nu = 0; nu < 4; nu++) {
        const double rho = l->s.rho[mu][nu];
        if (nu == mu || rho == 0) continue;
        const view *side = &l->from[l->s.side[mu][nu]], *across = &l->from[l->s.across[mu][nu]];
        any = 1;
        UNROLL for (int below = 0; below < 2; below++)
        {
            vreal a[18], b[18], c[18], m[18];
            const T(walker) from = below ? T(walk)(g, home, nu, -1) : home;
            T(walk_link)(a, g, side, from, nu, 2);
            T(walk_link)(b, g, across, below ? from : T(walk)(g, home, nu, 1), mu, 2);
            T(walk_link)(c, g, side, T(walk)(g, from, mu, 1), nu, 2);
            if (below) {
                T(su3_mul_left_dagger)(m, a, b);
                T(su3_mul)(a, m, c);
            } else {
                T(su3_mul)(m, a, b);
                T(su3_mul_right_dagger)(a, m, c);
            }
            T(su3_axpy)(sum, vset((real)rho), a);
        }
    }
    return any;
}

#define PARTS_stout 4
#define REACH_stout 1
FN void T(stout_part)(const stout_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], sum[18], q[8], r[18];
    T(walk_link)(link, g, &a->l.thin, home, mu, 2);
    if (T(staples_sum_all)(sum, g, &a->l, home, mu)) {
        T(su3_mul_right_dagger)(r, sum, link);
        T(su3_project)(q, r);
        T(su3_exp)(sum, q);
        T(su3_mul)(r, sum, link);
    } else {
        UNROLL for (int i = 0; i < 18; i++) r[i] = link[i];
    }
    T(save)(r, &a->out, home.unit, mu, 18);
}
PARTS_SITE(stout)

/* Terms of the series of Lambda: with |Q| <= 1.5 the remainder is below 3^27 / 27!. */
#define STOUT_TERMS 27

/* lambda = sum_k (-ad Q)^k f / (k + 1)! by Horner's rule. [Q, X] is twice the anti-Hermitian part of Q X. */
FN void T(stout_transposed)(vreal lambda[8], const vreal q[8], const vreal f[8])
{
    vreal m[18], l[18], r[18], x[8];
    T(su3_from_algebra)(m, q);
    UNROLL for (int i = 0; i < 8; i++) lambda[i] = f[i];
    for (int k = STOUT_TERMS; k > 1; k--) {
        T(su3_from_algebra)(l, lambda);
        T(su3_antihermitian_mul)(r, m, l);
        T(su3_project)(x, r);
        UNROLL for (int i = 0; i < 8; i++) lambda[i] = vfnma(vset((real)(2.0 / k)), x[i], f[i]);
    }
}

/* The force of U in place of F', which `force` holds, and the insertion. */
#define PARTS_stout_back 4
#define REACH_stout_back 1
FN void T(stout_back_part)(const stout_back_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], omega[18], h[18];
    T(walk_link)(link, g, &a->l.thin, home, mu, 2);
    if (T(staples_sum_all)(h, g, &a->l, home, mu)) {
        vreal q[8], f[8], p[8], e[18], m[18], r[18];
        T(su3_mul_right_dagger)(omega, h, link);
        T(su3_project)(q, omega);
        T(load)(f, &a->force, home.unit, mu, 8);
        T(su3_exp)(e, q);
        T(su3_from_algebra)(m, f);
        T(su3_mul_left_dagger)(r, e, m);
        T(su3_mul)(m, r, e);
        T(stout_transposed)(p, q, f);
        T(su3_from_algebra)(e, p);
        T(su3_antihermitian_mul)(r, e, omega);
        UNROLL for (int i = 0; i < 18; i++) m[i] -= r[i];
        T(su3_project)(f, m);
        T(save)(f, &a->force, home.unit, mu, 8);
        T(su3_antihermitian_mul)(h, e, link);
        UNROLL for (int i = 0; i < 18; i++) h[i] = -h[i];
    }
    T(save)(h, &a->insertion, home.unit, mu, 18);
}
PARTS_SITE(stout_back)

/* r = a x + b y */
FN void T(su3_combine)(vreal r[18], double a, const vreal x[18], double b, const vreal y[18])
{
    UNROLL for (int i = 0; i < 18; i++) r[i] = vfma(vset((real)a), x[i], (real)b * y[i]);
}

/* sum += R of the plaquette above the link U mu at home, which is U R with R = V W^dagger X^dagger, or below it, where R =
 * V^dagger W^dagger X and X begins at home - nu; V and X are links nu, and W is a link mu. One factor after the other is
 * replaced by its insertion: W by that of staples around links mu, in which U is across, and V and X by those of staples
 * around links nu, in which U is a side. */
FN void T(stout_plaquette)(vreal sum[18], const stout_gather_args *a, const geom *g, T(walker) home, int mu, int nu,
                           int below)
{
    const smear_roles *r = &a->r;
    const double across = r->rho_across[mu][nu], side = r->rho_side[mu][nu];
    const view *own = &a->from[r->own], *other = &a->from[r->other[mu][nu]];
    const view *of_mu = &a->insertion[r->across[mu][nu]], *of_nu = &a->insertion[r->side[mu][nu]];
    const T(walker) at_x = below ? T(walk)(g, home, nu, -1) : home, at_v = T(walk)(g, at_x, mu, 1);
    const T(walker) at_w = below ? at_x : T(walk)(g, home, nu, 1);
    vreal u[18], h[18], k[18], m[18], n[18];
    /* m = across V W'^dagger + side V' W^dagger and n = side V W^dagger, or
     * m = across W'^dagger X + side W^dagger X' and n = side W^dagger X */
    T(walk_link)(u, g, other, below ? at_x : at_v, nu, 2);
    T(walk_link)(h, g, of_mu, at_w, mu, 3);
    if (below) T(su3_mul_left_dagger)(m, h, u);
    else T(su3_mul_right_dagger)(m, u, h);
    T(walk_link)(h, g, own, at_w, mu, 2);
    if (below) T(su3_mul_left_dagger)(n, h, u);
    else T(su3_mul_right_dagger)(n, u, h);
    T(walk_link)(u, g, of_nu, below ? at_x : at_v, nu, 3);
    if (below) T(su3_mul_left_dagger)(k, h, u);
    else T(su3_mul_right_dagger)(k, u, h);
    T(su3_combine)(m, across, m, side, k);
    /* sum += m X^dagger + n X'^dagger, or V^dagger m + V'^dagger n */
    T(walk_link)(u, g, other, below ? at_v : at_x, nu, 2);
    T(walk_link)(h, g, of_nu, below ? at_v : at_x, nu, 3);
    if (below) T(su3_mul_left_dagger)(k, u, m);
    else T(su3_mul_right_dagger)(k, m, u);
    T(su3_add)(sum, k);
    if (below) T(su3_mul_left_dagger)(k, h, n);
    else T(su3_mul_right_dagger)(k, n, h);
    T(su3_axpy)(sum, vset((real)side), k);
}

/* force += P(U sum of R) of the links of the field `own`. */
#define PARTS_stout_gather 4
#define REACH_stout_gather 1
FN void T(stout_gather_part)(const stout_gather_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], sum[18], m[18], f[8], p[8];
    T(su3_zero)(sum);
    for (int nu = 0; nu < 4; nu++) {
        if (nu == mu || (a->r.rho_across[mu][nu] == 0 && a->r.rho_side[mu][nu] == 0)) continue;
        T(stout_plaquette)(sum, a, g, home, mu, nu, 0);
        T(stout_plaquette)(sum, a, g, home, mu, nu, 1);
    }
    T(walk_link)(link, g, &a->from[a->r.own], home, mu, 2);
    T(su3_mul)(m, link, sum);
    T(su3_project)(f, m);
    T(load)(p, &a->force, home.unit, mu, 8);
    UNROLL for (int i = 0; i < 8; i++) p[i] += f[i];
    T(save)(p, &a->force, home.unit, mu, 8);
}
PARTS_SITE(stout_gather)
