/* Forces of staggered quarks: derivatives taken back from the links of the hop to the thin ones.
 *
 * The derivative of an action S by links V, not unitary ones either, is the matrix A of dS = Re tr A^dagger dV: it
 * rotates as V does. It starts as a sum of outer products of vectors, one for fat and one for long links, and goes back
 * through the maps of kernels/site/staggered_links.h by their adjoints. The staples of a link are linear in it, by a
 * map that is its own adjoint; what is left are derivatives by the links at the sides of staples, staple_sides. */

/* r += c x y^dagger */
FN void T(add_outer)(vreal r[18], vreal c, const vreal x[6], const vreal y[6])
{
    UNROLL for (int i = 0; i < 3; i++)
    {
        const vreal re = c * x[2 * i], im = c * x[2 * i + 1];
        UNROLL for (int j = 0; j < 3; j++)
        {
            vreal *e = r + 6 * i + 2 * j;
            e[0] = vfma(re, y[2 * j], e[0]);
            e[0] = vfma(im, y[2 * j + 1], e[0]);
            e[1] = vfma(im, y[2 * j], e[1]);
            e[1] = vfnma(re, y[2 * j + 1], e[1]);
        }
    }
}

/* r = sign sum_i weight_i z_i(s) z_i(s + step mu)^dagger */
FN void T(outer_sum)(vreal r[18], const staggered_outer_args *a, T(stencil) st, long u, int mu, int step, vreal sign)
{
    const T(neighbour) n = T(neighbour_far)(&a->g, a->parity, a->nface, st, u, 2 * mu, step);
    T(su3_zero)(r);
    for (int i = 0; i < a->here.groups; i++) {
        vreal x[6], y[6];
        T(load)(x, &a->here, u, i, 6);
        if (n.near == NEAR_GHOST) T(load_real)(y, &a->ghost[2 * mu], n.unit, i, 6);
        else T(load)(y, &a->there, n.unit, i, 6);
        if (PLAQ_SIMD && n.near != NEAR_BODY)
            UNROLL for (int c = 0; c < 6; c++) y[c] = T(turn_as)(y[c], &a->g, n.near, 2 * mu);
        T(add_outer)(r, vset((real)a->weight[i]), x, y);
    }
    UNROLL for (int i = 0; i < 18; i++) r[i] *= sign;
}

FN void T(outer_add)(const view *to, long u, int mu, vreal factor, const vreal r[18])
{
    vreal sum[18];
    T(load)(sum, to, u, mu, 18);
    T(su3_axpy)(sum, factor, r);
    T(save)(sum, to, u, mu, 18);
}

FN void T(outer_direction)(const staggered_outer_args *a, T(stencil) st, long u, int mu, const vreal *near_sign,
                           const vreal *far_sign)
{
    vreal r[18];
    T(outer_sum)(r, a, st, u, mu, 1, near_sign[mu]);
    T(outer_add)(&a->near, u, mu, vset(1), r);
    if (a->extra.data) T(outer_add)(&a->extra, u, mu, vset((real)a->extra_factor), r);
    if (!a->far.data) return;
    T(outer_sum)(r, a, st, u, mu, 3, far_sign[mu]);
    T(outer_add)(&a->far, u, mu, vset((real)a->far_factor), r);
}

/* near_mu += the sum of outer products with the vectors one site away, phases and boundary as in the links there;
 * far_mu += far_factor times that with those three sites away; extra_mu += extra_factor times the first. */
FN void T(staggered_outer_site)(const staggered_outer_args *a, long u)
{
    const T(stencil) st = T(stencil_at)(&a->g, a->parity, u);
    vreal near_sign[4], far_sign[4];
    T(staggered_signs)(near_sign, &a->g, a->parity, u, 1, a->time_sign);
    T(staggered_signs)(far_sign, &a->g, a->parity, u, 3, a->time_sign);
    T(outer_direction)(a, st, u, 0, near_sign, far_sign);
    T(outer_direction)(a, st, u, 1, near_sign, far_sign);
    T(outer_direction)(a, st, u, 2, near_sign, far_sign);
    T(outer_direction)(a, st, u, 3, near_sign, far_sign);
}

/* Side terms of pairs of fields at s in derivatives by U_nu, summed over the pairs: here += factor_k ( m_k U y_k^dagger + a_k U
 * z_k^dagger ) to that at s, with U = U_nu(s+mu), m and a of direction mu at s, y and z the a and m at s+nu; and next +=
 * factor_k ( m_k^dagger U y_k + a_k^dagger U z_k ) to that at s+mu, with U = U_nu(s). The factor is 1 for the first two pairs,
 * a->seven for the others. `here` is of home, and `next` of the site behind it, whose next one home is. Both are done product
 * by product: what one reads, neighbours read at about the same time. */
FN void T(add_sides)(vreal here[18], vreal next[18], const staple_sides_args *a, const geom *g, T(walker) home, int mu,
                     int nu, int rows)
{
    const T(walker) back = T(walk)(g, home, mu, -1), at[2] = {home, back};
    const T(walker) link[2] = {T(walk)(g, home, mu, 1), back};
    const T(walker) up[2] = {T(walk)(g, home, nu, 1), T(walk)(g, back, nu, 1)};
    vreal held[2][18];
    T(matrix) side[2];
    UNROLL for (int below = 0; below < 2; below++) side[below] =
        T(hold)(held[below], g, T(matrix_at)(g, &a->links, link[below], nu), rows);
    for (int k = 0; k < SIDE_PAIRS; k++) {
        if (k == 2) UNROLL for (int i = 0; i < 36; i++) held[i / 18][i % 18] *= (real)a->seven;
        for (int turned = 0; turned < 2; turned++) {
            UNROLL for (int below = 0; below < 2; below++)
            {
                const T(matrix) x = T(matrix_at)(g, turned ? &a->a[k] : &a->m[k], at[below], mu),
                                end = T(matrix_at)(g, turned ? &a->m[k] : &a->a[k], up[below], mu);
                vreal y[18];
                T(matrix_load)(y, g, &end, 0, 18);
                T(add_product)(below ? next : here, g, &x, &side[below], y, below);
            }
        }
    }
}

/* Derivative by U_nu at the sides of staples: with the staples in direction nu of links m_mu, and A = a the derivative by them,
 * out_nu += factor times the derivative by U_nu, which stands at the sides of four staples; the same in m and a, and summed
 * over pairs of them, with the factors of add_sides. mu = nu - offset (mod 4). */
FN void T(staple_sides_link)(const staple_sides_args *a, const geom *g, T(walker) home, int nu, int rows)
{
    const long u = T(walk_unit)(g, home);
    vreal here[18], next[18], sum[18];
    T(su3_zero)(here);
    T(su3_zero)(next);
    T(add_sides)(here, next, a, g, home, (nu + 4 - a->offset) % 4, nu, rows);
    T(load)(sum, &a->out, u, nu, 18);
    T(su3_add)(sum, here);
    T(su3_add)(sum, next);
    T(save)(sum, &a->out, u, nu, 18);
}
LINKS_SITE(staple_sides)

/* The derivative by the links of three in a row: out_mu(s) += coefficient ( [A(s) U(s+2mu)^dagger + U(s-mu)^dagger
 * A(s-mu)] U(s+mu)^dagger + U(s-mu)^dagger U(s-2mu)^dagger A(s-2mu) ). */
#define PARTS_long_back 4
#define REACH_long_back 2
FN void T(long_back_part)(const long_back_args *a, const geom *g, T(walker) home, int mu)
{
    const T(walker) next = T(walk)(g, home, mu, 1), last = T(walk)(g, home, mu, -1), second = T(walk)(g, last, mu, -1);
    vreal x[18], y[18], before[18], sum[18], r[18];
    T(walk_load)(x, g, &a->in, home, mu, 18);
    T(walk_load)(y, g, &a->links, T(walk)(g, next, mu, 1), mu, 18);
    T(su3_mul_right_dagger)(sum, x, y);
    T(walk_load)(before, g, &a->links, last, mu, 18);
    T(walk_load)(x, g, &a->in, last, mu, 18);
    T(su3_mul_left_dagger)(r, before, x);
    T(su3_add)(sum, r);
    T(walk_load)(y, g, &a->links, next, mu, 18);
    T(su3_mul_right_dagger)(r, sum, y);
    T(walk_load)(x, g, &a->in, second, mu, 18);
    T(walk_load)(y, g, &a->links, second, mu, 18);
    T(su3_mul_left_dagger)(sum, y, x);
    T(su3_mul_left_dagger)(y, before, sum);
    T(su3_add)(r, y);
    T(outer_add)(&a->out, home.unit, mu, vset((real)a->coefficient), r);
}
PARTS_SITE(long_back)

/* ---- back through the projection to U(3) ----
 *
 * With V = W H, H Hermitian and positive, dW = W Omega and W^dagger dV - dV^dagger W = H Omega + Omega H =: L(Omega).
 * L is its own adjoint, so that A_V = -2 W Y with L(Y) = the anti-Hermitian part B of A_W^dagger W. In the basis of H
 * that is Y_ij = B_ij / (h_i + h_j); by the Cayley-Hamilton relation, with s1, s2, s3 the trace, the sum of principal
 * minors and the determinant of H,
 *   Y = (H^2 B - H B H + B H^2 - s1 (H B - B H) + s2 B) [2 (s1 H^2 + s3)]^-1
 * from (chi(x) - chi(-y)) / (x + y) with chi the characteristic polynomial. Where the smallest singular value h is
 * close to zero, the basis is computed, and h taken as `least` where it is below. (A. Bazavov et al., arXiv:1004.0342,
 * section II.B, bound this force by adding to all three eigenvalues of V^dagger V where the smallest is below a bound;
 * here the other two stay what they are.) */

/* r = a x b, of rows of complex numbers */
FN void T(row_cross)(vreal r[6], const vreal a[6], const vreal b[6])
{
    UNROLL for (int c = 0; c < 3; c++)
    {
        const int i = 2 * ((c + 1) % 3), j = 2 * ((c + 2) % 3);
        vreal re = a[i] * b[j], im = a[i] * b[j + 1];
        re = vfnma(a[i + 1], b[j + 1], re);
        im = vfma(a[i + 1], b[j], im);
        re = vfnma(a[j], b[i], re);
        re = vfma(a[j + 1], b[i + 1], re);
        im = vfnma(a[j], b[i + 1], im);
        r[2 * c] = re;
        r[2 * c + 1] = vfnma(a[j + 1], b[i], im);
    }
}

/* r = the adjugate of m, m r = det m; its determinant, which is real for a Hermitian m, is returned. */
FN vreal T(adjugate)(vreal r[18], const vreal m[18])
{
    vreal c[18];
    T(row_cross)(c, m + 6, m + 12);
    T(row_cross)(c + 6, m + 12, m);
    T(row_cross)(c + 12, m, m + 6);
    UNROLL for (int i = 0; i < 3; i++)
    {
        UNROLL for (int j = 0; j < 3; j++)
        {
            r[6 * i + 2 * j] = c[6 * j + 2 * i];
            r[6 * i + 2 * j + 1] = c[6 * j + 2 * i + 1];
        }
    }
    vreal det = m[0] * c[0];
    det = vfnma(m[1], c[1], det);
    UNROLL for (int i = 2; i < 6; i += 2)
    {
        det = vfma(m[i], c[i], det);
        det = vfnma(m[i + 1], c[i + 1], det);
    }
    return det;
}

/* y: H Y + Y H = B by the formula; *narrow: not positive where H is too close to singular for it. */
#define PROJECT_NARROW 0.005
FN void T(sylvester)(vreal y[18], vreal *narrow, const vreal h[18], const vreal b[18], vreal least)
{
    vreal h2[18], hb[18], bh[18], p[18], q[18];
    T(su3_mul)(h2, h, h);
    T(su3_mul)(hb, h, b);
    T(su3_mul)(bh, b, h);
    const vreal s1 = T(su3_trace)(h), s2 = (real)0.5 * (s1 * s1 - T(su3_trace)(h2));
    const vreal s3 = T(adjugate)(p, h);
    /* s3 / s2 is a lower bound of the smallest singular value, s1 / 3 one of the largest. */
    *narrow = s3 - s2 * vmax(least, (real)PROJECT_NARROW * s1);
    UNROLL for (int i = 0; i < 18; i++) p[i] = vfnma(s1, b[i], hb[i] - bh[i]);
    T(su3_mul)(q, h, p);
    UNROLL for (int i = 0; i < 18; i++) p[i] = vfma(s1, b[i], bh[i]);
    T(su3_mul)(y, p, h);
    UNROLL for (int i = 0; i < 18; i++)
    {
        y[i] = vfma(s2, b[i], y[i] + q[i]);
        q[i] = (real)2 * (s1 * h2[i] + (i % 8 == 0 ? s3 : vset(0)));
    }
    const vreal inverse = vinverse_or_zero(T(adjugate)(p, q));
    T(su3_mul)(q, y, p);
    UNROLL for (int i = 0; i < 18; i++) y[i] = inverse * q[i];
}

/* Solves H Y + Y H = B for one matrix, with H of v by its singular values. Returns whether one was below `least`. */
FN int T(sylvester_by_svd)(double y[18], const double v[18], const double b[18], double least)
{
    double x[18], r[18], norm[3], h[3], t[18], m[18];
    int filtered = 0;
    T(decompose)(x, r, norm, v);
    for (int i = 0; i < 3; i++) {
        h[i] = sqrt(norm[i]);
        filtered = filtered || h[i] < least;
        if (h[i] < least) h[i] = least;
    }
    /* m = r^dagger b r, y = r (m_ij / (h_i + h_j)) r^dagger */
    for (int stage = 0; stage < 4; stage++) {
        const double *from = stage == 0 ? b : stage == 2 ? m : t;
        double *to = stage == 1 ? m : stage == 3 ? y : t;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double re = 0, im = 0;
                for (int k = 0; k < 3; k++) {
                    /* stages 0 and 3 multiply from the right with r and r^dagger, 1 and 2 from the left with r^dagger
                     * and r */
                    const int left = stage == 1 || stage == 2, dagger = stage % 2;
                    const double *f = from + (left ? 6 * k + 2 * j : 6 * i + 2 * k);
                    const int row = left ? i : k, column = left ? k : j;
                    const double *e = r + (dagger ? 6 * column + 2 * row : 6 * row + 2 * column);
                    const double e1 = dagger ? -e[1] : e[1];
                    /* Fused by hand: compilers make such pairs one addition and subtraction of products, or not. */
                    re = fma(f[0], e[0], fma(-f[1], e1, re));
                    im = fma(f[0], e1, fma(f[1], e[0], im));
                }
                const double scale = stage == 1 ? (h[i] + h[j] > 0 ? 1 / (h[i] + h[j]) : 0) : 1;
                to[6 * i + 2 * j] = scale * re;
                to[6 * i + 2 * j + 1] = scale * im;
            }
    }
    return filtered;
}

/* a: derivative by w in, by v out. Sum: links with a singular value below `least`. */
FN void T(project_back_site)(const project_back_args *a, long u, vexact *sum)
{
    vreal filtered = vset(0);
    for (int mu = 0; mu < 4; mu++) {
        vreal v[18], w[18], h[18], b[18], y[18], x[9], narrow;
        T(load)(w, &a->w, u, mu, 18);
        T(load)(y, &a->a, u, mu, 18);
        T(su3_mul_left_dagger)(h, y, w);
        T(su3_antihermitian)(x, h);
        T(su3_from_antihermitian)(b, x);
        T(load)(v, &a->v, u, mu, 18);
        T(su3_mul_left_dagger)(h, w, v);
        T(sylvester)(y, &narrow, h, b, vset((real)a->least));
        for (int lane = 0; lane < W; lane++) {
            if (LANE(narrow, lane) > 0) continue;
            double one[18], right[18], solved[18];
            for (int i = 0; i < 18; i++) {
                one[i] = LANE(v[i], lane);
                right[i] = LANE(b[i], lane);
            }
            if (T(sylvester_by_svd)(solved, one, right, a->least)) LANE(filtered, lane) += 1;
            for (int i = 0; i < 18; i++) LANE(y[i], lane) = (real)solved[i];
        }
        T(su3_mul)(b, w, y);
        UNROLL for (int i = 0; i < 18; i++) b[i] *= (real)-2;
        T(save)(b, &a->a, u, mu, 18);
    }
    T(exact_deposit)(&sum[0], vdouble_fma(filtered, vset(1), vdouble_zero()));
}

/* momenta += dS/dU: with U -> exp(w T) U, dS = Re tr (U A^dagger T), the force is -P(U A^dagger) / 2. */
FN void T(staggered_momenta_site)(const staggered_momenta_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal link[18], m[18], r[18], x[8], p[8];
        T(load)(link, &a->links, u, mu, 18);
        T(load)(m, &a->a, u, mu, 18);
        T(su3_mul_right_dagger)(r, link, m);
        T(su3_project)(x, r);
        T(load)(p, &a->momenta, u, mu, 8);
        UNROLL for (int i = 0; i < 8; i++) p[i] = vfnma(vset((real)0.5), x[i], p[i]);
        T(save)(p, &a->momenta, u, mu, 8);
    }
}
