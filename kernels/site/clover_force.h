/* The clover term from and to the field strength, and its forces. sigma_{mu nu} = (i/2) [gamma_mu, gamma_nu] is block
 * diagonal in the DeGrand-Rossi basis: a signed Pauli matrix a chirality. Conventions of forces: hop_force.h. */

/* sigma_{mu nu} of a plane (xy xz xt yz yt zt) on a chirality: a Pauli matrix (0 1 2 for tau_1 tau_2 tau_3) and a sign.
 */
FN int T(sigma_pauli)(int plane)
{
    const int pauli[6] = {2, 1, 0, 0, 1, 2};
    return pauli[plane];
}

FN int T(sigma_sign)(int plane, int chirality)
{
    const int upper[6] = {1, 1, -1, 1, 1, -1};
    const int lower[6] = {1, 1, 1, 1, -1, 1};
    return chirality ? lower[plane] : upper[plane];
}

/* Number of a plane's factor: 0 in space, 1 with time. */
FN int T(plane_kind)(int plane)
{
    return plane == 2 || plane > 3;
}

/* Adds `inside` to the diagonals on the slices next to the first and to the last one. */
FN void T(add_inside)(vreal *diagonal, const double inside[2], int last, const geom *g, int parity, long u)
{
    const T(walker) home = T(walk_from)(g, parity, u);
    for (int lane = 0; lane < W; lane++) {
        const int t = T(time_slice)(g, home, lane);
        if (t == 1) LANE(*diagonal, lane) += (real)inside[0];
        if (t == last - 1) LANE(*diagonal, lane) += (real)inside[1];
    }
}

/* The two blocks of C = diagonal + i factor sum_{mu<nu} sigma F, with f = F anti-Hermitian i sigma F is Hermitian. factor is
 * c_sw / 2, or that of spatial planes and of those with time. */
FN void T(clover_build_site)(const clover_build_args *a, long u)
{
    vreal diagonal = vset((real)a->diagonal);
    if (a->inside[0] != 0 || a->inside[1] != 0) T(add_inside)(&diagonal, a->inside, a->last, &a->g, a->parity, u);
    for (int chirality = 0; chirality < 2; chirality++) {
        vreal c[36];
        UNROLL for (int i = 0; i < 36; i++) c[i] = i < 6 ? diagonal : vset(0);
        for (int plane = 0; plane < 6; plane++) {
            vreal x[9], f[18];
            T(load)(x, &a->tensor, u, plane, 9);
            const vreal k = vset((real)(T(sigma_sign)(plane, chirality) * a->factor[T(plane_kind)(plane)]));
            UNROLL for (int i = 0; i < 9; i++) x[i] *= k;
            T(su3_from_antihermitian)(f, x);
            const int pauli = T(sigma_pauli)(plane);
            /* i tau F: tau_3 puts i F and -i F on the diagonal blocks; the block below holds i F for tau_1, -F for
             * tau_2. */
            UNROLL for (int i = 0; i < 3; i++)
            {
                UNROLL for (int j = 0; j < 3; j++)
                {
                    const vreal re = f[6 * i + 2 * j], im = f[6 * i + 2 * j + 1];
                    vreal *low = c + CLOVER_LOWER(3 + i, j);
                    if (pauli == 0) {
                        low[0] -= im;
                        low[1] += re;
                    } else if (pauli == 1) {
                        low[0] -= re;
                        low[1] -= im;
                    } else if (i == j) {
                        c[i] -= im;
                        c[3 + i] += im;
                    } else if (i > j) {
                        vreal *upper = c + CLOVER_LOWER(i, j), *lower = c + CLOVER_LOWER(3 + i, 3 + j);
                        upper[0] -= im;
                        upper[1] += re;
                        lower[0] += im;
                        lower[1] -= re;
                    }
                }
            }
        }
        T(save)(c, &a->out, u, chirality, 36);
    }
}

/* inverse = C^-1 of a Hermitian block by C = L D L^dagger; l: pivots D on the diagonal, L below it. */
FN void T(clover_block_invert)(vreal inverse[36], vreal l[36], const vreal c[36])
{
    UNROLL for (int j = 0; j < 6; j++)
    {
        vreal d = c[j];
        UNROLL for (int k = 0; k < j; k++)
        {
            const vreal *p = l + CLOVER_LOWER(j, k);
            d = vfnma(l[k], vfma(p[0], p[0], p[1] * p[1]), d);
        }
        l[j] = d;
        const vreal r = 1 / d;
        UNROLL for (int i = j + 1; i < 6; i++)
        {
            vreal re = c[CLOVER_LOWER(i, j)], im = c[CLOVER_LOWER(i, j) + 1];
            UNROLL for (int k = 0; k < j; k++)
            {
                const vreal *p = l + CLOVER_LOWER(i, k), *q = l + CLOVER_LOWER(j, k);
                const vreal pr = p[0] * l[k], pi = p[1] * l[k];
                re = vfnma(pr, q[0], re);
                re = vfnma(pi, q[1], re);
                im = vfnma(pi, q[0], im);
                im = vfma(pr, q[1], im);
            }
            l[CLOVER_LOWER(i, j)] = re * r;
            l[CLOVER_LOWER(i, j) + 1] = im * r;
        }
    }
    /* Column j of the inverse: L y = e_j, then D L^dagger z = y. */
    UNROLL for (int j = 0; j < 6; j++)
    {
        vreal y[12];
        UNROLL for (int i = 0; i < 12; i++) y[i] = vset(i == 2 * j ? (real)1 : (real)0);
        UNROLL for (int i = j + 1; i < 6; i++) UNROLL for (int k = j; k < i; k++)
        {
            const vreal *p = l + CLOVER_LOWER(i, k);
            y[2 * i] = vfma(p[1], y[2 * k + 1], vfnma(p[0], y[2 * k], y[2 * i]));
            y[2 * i + 1] = vfnma(p[1], y[2 * k], vfnma(p[0], y[2 * k + 1], y[2 * i + 1]));
        }
        UNROLL for (int i = 5; i >= j; i--)
        {
            const vreal r = 1 / l[i];
            y[2 * i] *= r;
            y[2 * i + 1] *= r;
            UNROLL for (int k = i + 1; k < 6; k++)
            {
                const vreal *p = l + CLOVER_LOWER(k, i);
                y[2 * i] = vfnma(p[1], y[2 * k + 1], vfnma(p[0], y[2 * k], y[2 * i]));
                y[2 * i + 1] = vfma(p[1], y[2 * k], vfnma(p[0], y[2 * k + 1], y[2 * i + 1]));
            }
            if (i == j) {
                inverse[j] = y[2 * j];
            } else {
                inverse[CLOVER_LOWER(i, j)] = y[2 * i];
                inverse[CLOVER_LOWER(i, j) + 1] = y[2 * i + 1];
            }
        }
    }
}

/* logs += weight sum of log |pivot| */
FN void T(log_pivots_add)(vdouble *logs, const vreal l[36], double weight)
{
    UNROLL for (int i = 0; i < 6; i++)
    {
        vreal logarithm = vset(0);
        for (int lane = 0; lane < W; lane++)
            LANE(logarithm, lane) = (real)(weight * log(fabs((double)LANE(l[i], lane))));
        T(add_real)(logs, logarithm);
    }
}

/* sum += the number of pivots below zero */
FN void T(negative_pivots_add)(vdouble *sum, const vreal l[36])
{
    UNROLL for (int i = 0; i < 6; i++)
    {
        vreal below = vset(0);
        for (int lane = 0; lane < W; lane++) LANE(below, lane) = LANE(l[i], lane) < 0 ? 1 : 0;
        T(add_real)(sum, below);
    }
}

/* out = C^-1; sums: log |det C|, and the number of negative pivots. */
FN void T(clover_invert_site)(const clover_invert_args *a, long u, vexact *sum)
{
    vdouble logs = vdouble_zero(), negatives = vdouble_zero();
    for (int chirality = 0; chirality < 2; chirality++) {
        vreal c[36], l[36], inverse[36];
        T(load)(c, &a->in, u, chirality, 36);
        T(clover_block_invert)(inverse, l, c);
        T(save)(inverse, &a->out, u, chirality, 36);
        T(log_pivots_add)(&logs, l, 1);
        T(negative_pivots_add)(&negatives, l);
    }
    T(exact_deposit)(&sum[0], logs);
    T(exact_deposit)(&sum[1], negatives);
}

/* The lower triangle of r = C D of Hermitian blocks, which is all of it where they commute. */
FN void T(clover_block_product)(vreal r[36], const vreal c[36], const vreal d[36])
{
    UNROLL for (int j = 0; j < 6; j++)
    {
        vreal column[12], y[12];
        UNROLL for (int i = 0; i < 6; i++)
        {
            const int low = i > j ? i : j, high = i > j ? j : i;
            column[2 * i] = i == j ? d[i] : d[CLOVER_LOWER(low, high)];
            column[2 * i + 1] = i == j  ? vset(0)
                                : i > j ? d[CLOVER_LOWER(low, high) + 1]
                                        : -d[CLOVER_LOWER(low, high) + 1];
        }
        T(clover_block_times)(y, c, column);
        r[j] = y[2 * j];
        UNROLL for (int i = j + 1; i < 6; i++)
        {
            r[CLOVER_LOWER(i, j)] = y[2 * i];
            r[CLOVER_LOWER(i, j) + 1] = y[2 * i + 1];
        }
    }
}

/* Unit block, in place. */
FN void T(clover_block_one)(vreal c[36])
{
    UNROLL for (int i = 0; i < 36; i++) c[i] = vset(i < 6 ? (real)1 : (real)0);
}

/* out = d exp(in / d) of both blocks, by Horner's rule. */
FN void T(clover_exp_site)(const clover_exp_args *a, long u)
{
    const vreal diagonal = vset((real)a->diagonal), scale = vset((real)(1 / a->diagonal));
    vreal inside = vset(0);
    if (a->inside[0] != 0 || a->inside[1] != 0) T(add_inside)(&inside, a->inside, a->last, &a->g, a->parity, u);
    for (int chirality = 0; chirality < 2; chirality++) {
        vreal x[36], e[36], r[36];
        T(load)(x, &a->in, u, chirality, 36);
        UNROLL for (int i = 0; i < 36; i++) x[i] *= scale;
        T(clover_block_one)(e);
        for (int n = a->terms; n > 0; n--) {
            const vreal factor = vset((real)(1.0 / n));
            T(clover_block_product)(r, x, e);
            UNROLL for (int i = 0; i < 36; i++) e[i] = r[i] * factor;
            UNROLL for (int i = 0; i < 6; i++) e[i] += 1;
        }
        UNROLL for (int i = 0; i < 36; i++) e[i] *= diagonal;
        UNROLL for (int i = 0; i < 6; i++) e[i] += inside;
        T(save)(e, &a->out, u, chirality, 36);
    }
}

/* out += X Y^dagger + Y X^dagger of spins and colours of either chirality, summed over groups. */
FN void T(clover_outer_site)(const clover_outer_args *a, long u)
{
    for (int chirality = 0; chirality < 2; chirality++) {
        vreal h[36];
        T(load)(h, &a->out, u, chirality, 36);
        for (int group = 0; group < a->x.groups; group++) {
            vreal x[24], y[24];
            T(load)(x, &a->x, u, group, 24);
            T(load)(y, &a->y, u, group, 24);
            const vreal *p = x + 12 * chirality, *q = y + 12 * chirality;
            UNROLL for (int i = 0; i < 6; i++)
            {
                h[i] += 2 * vfma(p[2 * i], q[2 * i], p[2 * i + 1] * q[2 * i + 1]);
                UNROLL for (int j = 0; j < i; j++)
                {
                    vreal *low = h + CLOVER_LOWER(i, j);
                    /* x_i conj(y_j) + y_i conj(x_j) */
                    low[0] += vfma(p[2 * i], q[2 * j], p[2 * i + 1] * q[2 * j + 1]) +
                              vfma(q[2 * i], p[2 * j], q[2 * i + 1] * p[2 * j + 1]);
                    low[1] += vfnma(p[2 * i], q[2 * j + 1], p[2 * i + 1] * q[2 * j]) +
                              vfnma(q[2 * i], p[2 * j + 1], q[2 * i + 1] * p[2 * j]);
                }
            }
        }
        T(save)(h, &a->out, u, chirality, 36);
    }
}

/* out = int_0^1 ds exp((1 - s) A) H exp(s A), A = exponent / d, of both blocks: tr [H dC] = tr [out d(exponent)] for C = d exp(A).
 * Order n of the series is T_n = (A T_(n-1) + H A^n / n!) / (n + 1), whose sum is Hermitian though the parts are not. out may be
 * in. */
FN void T(clover_chain_site)(const clover_chain_args *a, long u)
{
    const vreal scale = vset((real)(1 / a->diagonal));
    for (int chirality = 0; chirality < 2; chirality++) {
        vreal h[36], x[36], power[36], t[36], sum[36], r[36];
        T(load)(h, &a->in, u, chirality, 36);
        T(load)(x, &a->exponent, u, chirality, 36);
        UNROLL for (int i = 0; i < 36; i++)
        {
            x[i] *= scale;
            t[i] = sum[i] = h[i];
        }
        T(clover_block_one)(power);
        for (int n = 1; n <= a->terms; n++) {
            const vreal factor = vset((real)(1.0 / n)), next = vset((real)(1.0 / (n + 1)));
            T(clover_block_product)(r, x, power);
            UNROLL for (int i = 0; i < 36; i++) power[i] = r[i] * factor; /* A^n / n! */
            T(clover_block_product)(r, x, t);
            T(clover_block_product)(t, h, power);
            UNROLL for (int i = 0; i < 36; i++)
            {
                t[i] = (t[i] + r[i]) * next;
                sum[i] += t[i];
            }
        }
        T(save)(sum, &a->out, u, chirality, 36);
    }
}

/* mu_out = K = (C^2 + s)^-1 and out = C K for the square s = mu^2, of which (C + i mu gamma_5)^-1 = C K - i mu gamma_5 K. The
 * sums are log |det(C + i mu gamma_5)|, half of log |det (C^2 + s)|, and the number of negative pivots of C^2 + s. */
FN void T(twisted_invert_site)(const twisted_invert_args *a, long u, vexact *sum)
{
    const vreal mu2 = vset((real)a->square);
    vdouble logs = vdouble_zero(), negatives = vdouble_zero();
    for (int chirality = 0; chirality < 2; chirality++) {
        vreal c[36], square[36], l[36], k[36];
        T(load)(c, &a->in, u, chirality, 36);
        T(clover_block_product)(square, c, c);
        UNROLL for (int i = 0; i < 6; i++) square[i] += mu2;
        T(clover_block_invert)(k, l, square);
        T(log_pivots_add)(&logs, l, 0.5);
        T(negative_pivots_add)(&negatives, l);
        T(save)(k, &a->mu_out, u, chirality, 36);
        T(clover_block_product)(square, c, k);
        T(save)(square, &a->out, u, chirality, 36);
    }
    T(exact_deposit)(&sum[0], logs);
    T(exact_deposit)(&sum[1], negatives);
}

/* The anti-Hermitian part of i tau contracted over spin: for a 2x2 spin block of colour matrices m[s][t], of the matrix
 * i sum_st tau_{ts} m[s][t], pauli as above. */
FN void T(spin_trace)(vreal z[9], vreal m[4][18], int pauli)
{
    vreal trace[18];
    UNROLL for (int e = 0; e < 18; e += 2)
    {
        vreal re, im; /* sum tau_{ts} m_{st} */
        if (pauli == 0) {
            re = m[1][e] + m[2][e];
            im = m[1][e + 1] + m[2][e + 1];
        } else if (pauli == 1) {
            /* tau_{10} = i goes with m[0][1], tau_{01} = -i with m[1][0] */
            re = m[2][e + 1] - m[1][e + 1];
            im = m[1][e] - m[2][e];
        } else {
            re = m[0][e] - m[3][e];
            im = m[0][e + 1] - m[3][e + 1];
        }
        trace[e] = -im;
        trace[e + 1] = re;
    }
    T(su3_antihermitian)(z, trace);
}

/* Z += factor (sigma's sign) z[chirality] in a plane and in the other one of the same Pauli matrix, 5 - plane */
FN void T(insertion_add)(const view *tensor, long u, int plane, const double factor[2], vreal z[2][9])
{
    UNROLL for (int k = 0; k < 2; k++)
    {
        const int here = k ? 5 - plane : plane;
        const vreal upper = vset((real)(T(sigma_sign)(here, 0) * factor[T(plane_kind)(here)]));
        const vreal lower = vset((real)(T(sigma_sign)(here, 1) * factor[T(plane_kind)(here)]));
        vreal sum[9];
        T(load)(sum, tensor, u, here, 9);
        UNROLL for (int i = 0; i < 9; i++) sum[i] = vfma(lower, z[1][i], vfma(upper, z[0][i], sum[i]));
        T(save)(sum, tensor, u, here, 9);
    }
}

/* p q^dagger of two colour vectors */
FN void T(outer)(vreal m[18], const vreal p[6], const vreal q[6])
{
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = 0; j < 3; j++)
    {
        m[6 * i + 2 * j] = vfma(p[2 * i], q[2 * j], p[2 * i + 1] * q[2 * j + 1]);
        m[6 * i + 2 * j + 1] = vfnma(p[2 * i], q[2 * j + 1], p[2 * i + 1] * q[2 * j]);
    }
}

/* The insertions of one group, see clover_insert_site(). */
FN void T(clover_insert_group)(const clover_insert_args *a, long u, int group)
{
    vreal x[24], y[24];
    T(load)(x, &a->x, u, group, 24);
    T(load)(y, &a->y, u, group, 24);
    UNROLL for (int plane = 0; plane < 3; plane++)
    {
        const int pauli = T(sigma_pauli)(plane);
        const int one = pauli == 2 ? 0 : 1, other = 3 - one; /* spin blocks, those that this matrix has */
        vreal z[2][9];
        UNROLL for (int chirality = 0; chirality < 2; chirality++)
        {
            const vreal *p = x + 12 * chirality, *q = y + 12 * chirality;
            vreal m[4][18];
            T(outer)(m[one], p + 6 * (one / 2), q + 6 * (one % 2));
            T(outer)(m[other], p + 6 * (other / 2), q + 6 * (other % 2));
            T(spin_trace)(z[chirality], m, pauli);
        }
        T(insertion_add)(&a->tensor, u, plane, a->factor, z);
    }
}

/* Z_{mu nu} += factor * anti-Hermitian part of sum_spin i sigma_{mu nu} X Y^dagger, for all planes, summed over groups. */
FN void T(clover_insert_site)(const clover_insert_args *a, long u)
{
    for (int group = 0; group < a->x.groups; group++) T(clover_insert_group)(a, u, group);
}

/* Insertions of the logarithm of the determinant: Z_{mu nu} += factor * tr_spin i sigma_{mu nu} C^-1, for all planes. */
FN void T(clover_insert_det_site)(const clover_insert_det_args *a, long u)
{
    vreal m[2][4][18];
    UNROLL for (int chirality = 0; chirality < 2; chirality++)
    {
        vreal c[36];
        T(load)(c, &a->inverse, u, chirality, 36);
        UNROLL for (int st = 0; st < 4; st++) UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = 0; j < 3; j++)
        {
            const int row = 3 * (st / 2) + i, column = 3 * (st % 2) + j;
            vreal *e = m[chirality][st] + 6 * i + 2 * j;
            e[0] = row == column ? c[row] : row > column ? c[CLOVER_LOWER(row, column)] : c[CLOVER_LOWER(column, row)];
            e[1] = row == column  ? vset(0)
                   : row > column ? c[CLOVER_LOWER(row, column) + 1]
                                  : -c[CLOVER_LOWER(column, row) + 1];
        }
    }
    UNROLL for (int plane = 0; plane < 3; plane++)
    {
        vreal z[2][9];
        UNROLL for (int chirality = 0; chirality < 2; chirality++)
            T(spin_trace)(z[chirality], m[chirality], T(sigma_pauli)(plane));
        T(insertion_add)(&a->tensor, u, plane, a->factor, z);
    }
}

FN void T(insertion_load)(vreal z[18], const geom *g, const view *tensor, T(walker) w, int plane)
{
    vreal x[9];
    T(walk_load)(x, g, tensor, w, plane, 9);
    T(su3_from_antihermitian)(z, x);
}

/* momenta += factor P(U_mu(x) B), with B the sum over the plaquettes at the link of their other three links with the
 * insertion Z at each corner in turn; plaquettes below the link run against the plane's orientation. */
#define PARTS_clover_force 4
#define REACH_clover_force 1
FN void T(clover_force_part)(const clover_force_args *a, const geom *g, T(walker) home, int mu)
{
    const T(walker) end = T(walk)(g, home, mu, 1);
    vreal sum[18], z[18], r[18];
    T(su3_zero)(sum);
    for (int nu = 0; nu < 4; nu++) {
        if (nu == mu) continue;
        const int low = mu < nu ? mu : nu, high = mu < nu ? nu : mu;
        const int plane = low == 0 ? high - 1 : low == 1 ? high + 1 : 5;
        vreal m[18], staples[18];
        T(su3_zero)(staples);
        UNROLL for (int side = 0; side < 2; side++)
        {
            const vreal sign = vset((mu < nu) == (side == 0) ? (real)1 : (real)-1);
            const int out = 2 * nu + side, back = 2 * nu + 1 - side;
            const T(walker) corner = T(walk)(g, end, nu, side ? -1 : 1);
            T(walker) w = corner;
            vreal a1[18], a2[18], a3[18];
            /* Products one after the other, so that few matrices are held at a time: a1 (z a2 + a2 z) a3 */
            T(step_first)(a2, g, &a->links, &w, 2 * mu + 1, 2);
            T(insertion_load)(z, g, &a->tensor, corner, plane);
            T(su3_antihermitian_mul)(m, z, a2);
            T(insertion_load)(z, g, &a->tensor, w, plane);
            T(su3_mul_antihermitian)(r, a2, z);
            T(su3_add)(m, r);
            T(step_first)(a3, g, &a->links, &w, back, 2);
            w = end;
            T(step_first)(a1, g, &a->links, &w, out, 2);
            T(su3_mul)(r, a1, m);
            T(su3_mul)(m, r, a3);
            T(su3_axpy)(sum, sign, m);
            /* and a1 a2 a3, which insertions at the ends of the link multiply on both sides alike. */
            T(su3_mul)(r, a1, a2);
            T(su3_mul)(m, r, a3);
            T(su3_axpy)(staples, sign, m);
        }
        T(insertion_load)(z, g, &a->tensor, end, plane);
        T(su3_antihermitian_mul)(m, z, staples);
        T(su3_add)(sum, m);
        T(insertion_load)(z, g, &a->tensor, home, plane);
        T(su3_mul_antihermitian)(m, staples, z);
        T(su3_add)(sum, m);
    }
    vreal link[18], x[8], p[8];
    T(walk_link)(link, g, &a->links, home, mu, 2);
    T(su3_mul)(r, link, sum);
    T(su3_project)(x, r);
    T(load)(p, &a->momenta, home.unit, mu, 8);
    UNROLL for (int i = 0; i < 8; i++) p[i] = vfma(vset((real)a->factor), x[i], p[i]);
    T(save)(p, &a->momenta, home.unit, mu, 8);
}
PARTS_SITE(clover_force)
