/* Stout smearing (C. Morningstar and M. Peardon, hep-lat/0311018) and its derivative.
 *
 *   C_mu(x) = sum_(nu != mu) rho_mu,nu (both staples of the link in the plane mu, nu)
 *   Q = P(C U^dagger),  U' = exp(Q) U
 *
 * with P the traceless anti-Hermitian part (their i Q is this Q). Forces are in the algebra: F of a link is dS(exp(w) U) =
 * -2 tr(w F) for every w in su(3), and U' in SU(3) needs no more. With dU' U'^dagger = J dQ + exp(Q) w exp(-Q), where
 * J dQ = int_0^1 exp(s Q) dQ exp(-s Q) ds,
 *
 *   Lambda = J^T F' = int_0^1 exp(-s Q) F' exp(s Q) ds
 *   F = exp(-Q) F' exp(Q) + terms of -2 Re tr(d(C U^dagger) Lambda)
 *
 * C U^dagger at x is a sum of plaquettes that begin at x, so the second part is the derivative of plaquettes with an
 * insertion Lambda at one corner. A plaquette from A in the directions mu and nu, with corners B = A + mu and D = A + nu,
 * is part of C U^dagger of four links. Run in the sense A B C D, it has the insertions, in 2 Re tr,
 *
 *   Z_A = rho_mu,nu Lambda_mu(A) - rho_nu,mu Lambda_nu(A),   Z_B = rho_nu,mu Lambda_nu(B),   Z_D = -rho_mu,nu Lambda_mu(D).
 */

/* q = P(C U^dagger) of the link in direction mu at home. Returns 0 where all its staples have weight zero. */
FN int T(stout_exponent)(vreal q[8], const geom *g, const view *links, const stout_weights *weights, T(walker) home,
                         int mu, const vreal link[18])
{
    vreal sum[18], m[18], omega[18];
    int any = 0;
    T(su3_zero)(sum);
    for (int nu = 0; nu < 4; nu++) {
        const double rho = weights->rho[mu][nu];
        if (nu == mu || rho == 0) continue;
        any = 1;
        UNROLL for (int side = 0; side < 2; side++)
        {
            const int staple[3] = {2 * nu + side, 2 * mu, 2 * nu + 1 - side};
            T(walk_product)(m, g, links, home, staple, 3, 2);
            T(su3_axpy)(sum, vset((real)rho), m);
        }
    }
    T(su3_mul_right_dagger)(omega, sum, link);
    T(su3_project)(q, omega);
    return any;
}

#define PARTS_stout 4
#define REACH_stout 1
FN void T(stout_part)(const stout_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], q[8], e[18], r[18];
    T(walk_link)(link, g, &a->links, home, mu, 2);
    if (T(stout_exponent)(q, g, &a->links, &a->w, home, mu, link)) {
        T(su3_exp)(e, q);
        T(su3_mul)(r, e, link);
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

/* Lambda from F', which `force` holds, and exp(-Q) F' exp(Q) in place of F'. */
#define PARTS_stout_back 4
#define REACH_stout_back 1
FN void T(stout_back_part)(const stout_back_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], q[8], f[8], lambda[9];
    T(walk_link)(link, g, &a->links, home, mu, 2);
    T(load)(f, &a->force, home.unit, mu, 8);
    if (T(stout_exponent)(q, g, &a->links, &a->w, home, mu, link)) {
        vreal e[18], m[18], r[18];
        T(stout_transposed)(lambda, q, f);
        T(su3_exp)(e, q);
        T(su3_from_algebra)(m, f);
        T(su3_mul_left_dagger)(r, e, m);
        T(su3_mul)(m, r, e);
        T(su3_project)(f, m);
        T(save)(f, &a->force, home.unit, mu, 8);
        lambda[8] = lambda[7];
        UNROLL for (int i = 7; i > 2; i--) lambda[i] = lambda[i - 1];
        lambda[2] = -lambda[0] - lambda[1];
    } else {
        UNROLL for (int i = 0; i < 9; i++) lambda[i] = vset(0);
    }
    T(save)(lambda, &a->lambda, home.unit, mu, 9);
}
PARTS_SITE(stout_back)

FN void T(lambda_load)(vreal z[18], const geom *g, const view *lambda, T(walker) w, int mu)
{
    vreal x[9];
    T(walk_load)(x, g, lambda, w, mu, 9);
    T(su3_from_antihermitian)(z, x);
}

/* Z_A of a plaquette, see above. */
FN void T(stout_corner)(vreal z[18], const geom *g, const view *lambda, const stout_weights *w, T(walker) at, int mu,
                        int nu)
{
    vreal y[18];
    T(lambda_load)(z, g, lambda, at, mu);
    T(lambda_load)(y, g, lambda, at, nu);
    const vreal a = vset((real)w->rho[mu][nu]), b = vset((real)w->rho[nu][mu]);
    UNROLL for (int i = 0; i < 18; i++) z[i] = vfnma(b, y[i], a * z[i]);
}

FN void T(scaled_lambda)(vreal z[18], const geom *g, const view *lambda, T(walker) at, int mu, double factor)
{
    T(lambda_load)(z, g, lambda, at, mu);
    UNROLL for (int i = 0; i < 18; i++) z[i] *= (real)factor;
}

/* force += the second part of F. Above a link U from A to B the plaquette is U R with R = V W^dagger X^dagger from B by C and
 * D home: F -= P(U (R Z_A + Z_B R + V W^dagger Z_D X^dagger)). Below it U is the side D C of the plaquette from A = x - nu,
 * which is Y U^dagger from D with Y = X^dagger W V: F += P((Z_D Y + X^dagger Z_A W V + X^dagger W Z_B V) U^dagger). */
#define PARTS_stout_gather 4
#define REACH_stout_gather 1
FN void T(stout_gather_part)(const stout_gather_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], above[18], below[18], z[18], r[18], m[18], n[18];
    T(walk_link)(link, g, &a->links, home, mu, 2);
    T(su3_zero)(above);
    T(su3_zero)(below);
    for (int nu = 0; nu < 4; nu++) {
        const double own = a->w.rho[mu][nu], other = a->w.rho[nu][mu];
        if (nu == mu || (own == 0 && other == 0)) continue;
        const T(walker) b = T(walk)(g, home, mu, 1), d = T(walk)(g, home, nu, 1);
        vreal v[18], w[18], x[18];
        T(walk_link)(v, g, &a->links, b, nu, 2);
        T(walk_link)(w, g, &a->links, d, mu, 2);
        T(walk_link)(x, g, &a->links, home, nu, 2);
        /* m = V W^dagger, n = V W^dagger X^dagger = R */
        T(su3_mul_right_dagger)(m, v, w);
        T(su3_mul_right_dagger)(n, m, x);
        T(stout_corner)(z, g, &a->lambda, &a->w, home, mu, nu);
        T(su3_mul)(r, n, z);
        T(su3_add)(above, r);
        T(scaled_lambda)(z, g, &a->lambda, b, nu, other);
        T(su3_mul)(r, z, n);
        T(su3_add)(above, r);
        T(scaled_lambda)(z, g, &a->lambda, d, mu, -own);
        T(su3_mul)(r, m, z);
        T(su3_mul_right_dagger)(n, r, x);
        T(su3_add)(above, n);
        /* Below: A = x - nu, B = A + mu. */
        const T(walker) under = T(walk)(g, home, nu, -1), beside = T(walk)(g, under, mu, 1);
        T(walk_link)(x, g, &a->links, under, nu, 2);
        T(walk_link)(w, g, &a->links, under, mu, 2);
        T(walk_link)(v, g, &a->links, beside, nu, 2);
        /* n = W V; r = (Z_A W V + W Z_B V); then X^dagger of both */
        T(su3_mul)(n, w, v);
        T(stout_corner)(z, g, &a->lambda, &a->w, under, mu, nu);
        T(su3_mul)(r, z, n);
        T(scaled_lambda)(z, g, &a->lambda, beside, nu, other);
        T(su3_mul)(m, w, z);
        T(su3_mul)(z, m, v);
        T(su3_add)(r, z);
        T(su3_mul_left_dagger)(m, x, r);
        T(su3_add)(below, m);
        T(su3_mul_left_dagger)(m, x, n);
        T(scaled_lambda)(z, g, &a->lambda, home, mu, -own);
        T(su3_mul)(r, z, m);
        T(su3_add)(below, r);
    }
    vreal f[8], p[8];
    T(su3_mul)(r, link, above);
    T(su3_mul_right_dagger)(m, below, link);
    UNROLL for (int i = 0; i < 18; i++) m[i] -= r[i];
    T(su3_project)(f, m);
    T(load)(p, &a->force, home.unit, mu, 8);
    UNROLL for (int i = 0; i < 8; i++) p[i] += f[i];
    T(save)(p, &a->force, home.unit, mu, 8);
}
PARTS_SITE(stout_gather)
