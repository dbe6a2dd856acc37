/* Links of staggered quarks.
 *
 * Fat links are sums of paths (K. Orginos, D. Toussaint and R. Sugar, hep-lat/9903032), made level by level: a staple
 * around a direction of what the level before left, in place of a link. The paths of 3, 5 and 7 links are staples of
 * staples in further directions; the path of G. P. Lepage (hep-lat/9809157), which goes two sites to a side, is the
 * staple of a staple in the same direction, but for the two paths there that come back to the link itself. */

/* ---- paths ---- */

/* Matrix of a field without scales, or one that is held. */
typedef struct {
    const view *v;
    long unit;
    int turn, group;
    const vreal *held; /* or null */
} T(matrix);

FN T(matrix) T(matrix_at)(const geom *g, const view *v, T(walker) w, int group)
{
    const T(matrix) m = {.v = v, .unit = T(walk_unit)(g, w), .turn = w.turn, .group = group};
    return m;
}

/* n of its components from number `first` on, lanes turned home. */
FN void T(matrix_load)(vreal *x, const geom *g, const T(matrix) * m, int first, int n)
{
    if (m->held) {
        UNROLL for (int i = 0; i < n; i++) x[i] = m->held[first + i];
        return;
    }
    T(load_raw_part)(x, m->v, m->unit, m->group, first, n);
    T(turn_home)(x, g, m->turn, n);
}

/* m, held in x from here on. `rows`, a literal, is how many rows are read: 3, or 2 of a matrix in SU(3). */
FN T(matrix) T(hold)(vreal x[18], const geom *g, T(matrix) m, int rows)
{
    T(matrix_load)(x, g, &m, 0, 6 * rows);
    if (rows == 2) T(su3_third_row)(x);
    m.held = x;
    return m;
}

/* sum += column row */
FN void T(add_column_row)(vreal sum[18], const vreal column[6], const vreal row[6])
{
    UNROLL for (int i = 0; i < 6; i += 2)
    {
        UNROLL for (int j = 0; j < 6; j += 2)
        {
            vreal *e = sum + 3 * i + j;
            e[0] = vfma(column[i], row[j], e[0]);
            e[1] = vfma(column[i], row[j + 1], e[1]);
            e[0] = vfnma(column[i + 1], row[j + 1], e[0]);
            e[1] = vfma(column[i + 1], row[j], e[1]);
        }
    }
}

/* sum += a b end^dagger, or with the literal `first` a^dagger b end, one row of b after the other. */
FN void T(add_product)(vreal sum[18], const geom *g, const T(matrix) * a, const T(matrix) * b, const vreal end[18],
                       int first)
{
    UNROLL for (int k = 0; k < 3; k++)
    {
        vreal row[6], column[6], t[6];
        T(matrix_load)(row, g, b, 6 * k, 6);
        if (first) T(matrix_load)(column, g, a, 6 * k, 6);
        else UNROLL for (int i = 0; i < 3; i++) T(matrix_load)(column + 2 * i, g, a, 6 * i + 2 * k, 2);
        UNROLL for (int j = 0; j < 3; j++)
        {
            vreal other[6];
            UNROLL for (int i = 0; i < 3; i++)
            {
                const int e = first ? 6 * i + 2 * j : 6 * j + 2 * i;
                other[2 * i] = end[e];
                other[2 * i + 1] = first ? end[e + 1] : -end[e + 1];
            }
            T(row_times)(t + 2 * j, row, other);
        }
        if (first) UNROLL for (int i = 1; i < 6; i += 2) column[i] = -column[i];
        T(add_column_row)(sum, column, t);
    }
}

/* A staple of in_mu in direction nu: where the links at its sides stand, and where what they go around does.
 * From above it is U_nu(s) in(s+nu) U_nu(s+mu)^dagger; from below U_nu(s-nu)^dagger in(s-nu) U_nu(s-nu+mu). */
typedef struct {
    T(matrix) side, end;
    T(walker) middle;
} T(staple);

FN T(staple) T(staple_at)(const geom *g, const view *links, T(walker) home, int mu, int nu, int below)
{
    const T(walker) there = T(walk)(g, home, nu, below ? -1 : 1), at = below ? there : home;
    const T(staple) s = {T(matrix_at)(g, links, at, nu), T(matrix_at)(g, links, T(walk)(g, at, mu, 1), nu), there};
    return s;
}

/* sum += both staples of `in`_mu in direction nu. The map is its own adjoint. The link at the first side is held where
 * it is made of two rows; three are read as they are used. */
FN void T(add_staples)(vreal sum[18], const geom *g, const view *links, int rows, const view *in, T(walker) home,
                       int mu, int nu)
{
    UNROLL for (int below = 0; below < 2; below++)
    {
        const T(staple) s = T(staple_at)(g, links, home, mu, nu, below);
        const T(matrix) middle = T(matrix_at)(g, in, s.middle, mu);
        vreal end[18], held[18];
        T(hold)(end, g, s.end, rows);
        const T(matrix) side = rows == 2 ? T(hold)(held, g, s.side, rows) : s.side;
        T(add_product)(sum, g, &side, &middle, end, below);
    }
}

/* sum += factor times the staples of `in`, other_sum += factor times those of other_in: their sides are read once. */
FN void T(add_staples_of_two)(vreal sum[18], vreal other_sum[18], real factor, const geom *g, const view *links,
                              int rows, const view *in, const view *other_in, T(walker) home, int mu, int nu)
{
    UNROLL for (int below = 0; below < 2; below++)
    {
        const T(staple) s = T(staple_at)(g, links, home, mu, nu, below);
        const T(matrix) middle = T(matrix_at)(g, in, s.middle, mu), other = T(matrix_at)(g, other_in, s.middle, mu);
        vreal end[18], held[18];
        T(hold)(end, g, s.end, rows);
        UNROLL for (int i = 0; i < 18; i++) end[i] *= factor;
        const T(matrix) side = T(hold)(held, g, s.side, rows);
        T(add_product)(sum, g, &side, &middle, end, below);
        T(add_product)(other_sum, g, &side, &other, end, below);
    }
}

/* Site of the i-th work item of a kernel over both parities. */
FN T(walker) T(walk_both)(const geom *g, long i, long chunk)
{
    const long part = i / chunk;
    return T(walk_from)(g, (int)(part & 1), (part >> 1) * chunk + (i - part * chunk));
}

/* out_j,mu = the staples of in_mu in direction mu + j (mod 4), j = 1, 2, 3 */
#define REACH_staples 1
FN void T(staples_link)(const staples_args *a, const geom *g, T(walker) home, int mu, int rows)
{
    const long u = T(walk_unit)(g, home);
    for (int j = 1; j < 4; j++) {
        vreal sum[18];
        T(su3_zero)(sum);
        T(add_staples)(sum, g, &a->links, rows, &a->in, home, mu, (mu + j) % 4);
        T(save)(sum, &a->out[j], u, mu, 18);
    }
}

/* Core that the paths around direction mu + j go around, in place of a link, from x and its staples y_1, y_2, y_3:
 *   out_j = three x + one y_j + five (y_k + y_l) + seven (staples of y_l in mu + k and of y_k in mu + l)
 * with k, l the other two. (`one` is the weight of staples in the same direction, Lepage's.) */
#define REACH_staples_core 1
FN void T(staples_core_link)(const staples_core_args *a, const geom *g, T(walker) home, int mu, int rows)
{
    const long u = T(walk_unit)(g, home);
    const real seven = (real)a->seven;
    const vreal one = vset((real)a->one), five = vset((real)a->five);
    vreal first[18], second[18], third[18], r[18];
    T(load)(r, &a->in, u, mu, 18);
    UNROLL for (int c = 0; c < 18; c++) first[c] = second[c] = third[c] = (real)a->three * r[c];
    UNROLL for (int j = 1; j < 4; j++)
    {
        T(load)(r, &a->threes[j], u, mu, 18);
        T(su3_axpy)(first, j == 1 ? one : five, r);
        T(su3_axpy)(second, j == 2 ? one : five, r);
        T(su3_axpy)(third, j == 3 ? one : five, r);
    }
    /* The sums change places from direction to direction: a GPU cannot index registers. */
    for (int j = 1; j < 4; j++) {
        const int k = j % 3 + 1, l = k % 3 + 1;
        const view *x = &a->threes[k], *y = &a->threes[l];
        T(add_staples_of_two)(third, second, seven, g, &a->links, rows, x, y, home, mu, (mu + j) % 4);
        UNROLL for (int c = 0; c < 18; c++)
        {
            const vreal moved = first[c];
            first[c] = second[c];
            second[c] = third[c];
            third[c] = moved;
        }
    }
    T(save)(first, &a->out[1], u, mu, 18);
    T(save)(second, &a->out[2], u, mu, 18);
    T(save)(third, &a->out[3], u, mu, 18);
}

/* out = plain_factor plain + the staples of in_j in direction mu + j, j = 1, 2, 3, or with `add` out +=. */
#define REACH_staples_sum 1
FN void T(staples_sum_link)(const staples_sum_args *a, const geom *g, T(walker) home, int mu, int rows)
{
    const long u = T(walk_unit)(g, home);
    vreal sum[18], r[18];
    T(load)(r, &a->plain, u, mu, 18);
    UNROLL for (int c = 0; c < 18; c++) sum[c] = (real)a->plain_factor * r[c];
    if (a->add) {
        T(load)(r, &a->out, u, mu, 18);
        T(su3_add)(sum, r);
    }
    for (int j = 1; j < 4; j++) T(add_staples)(sum, g, &a->links, rows, &a->in[j], home, mu, (mu + j) % 4);
    T(save)(sum, &a->out, u, mu, 18);
}

/* The kernels, all directions of the i-th work item, T(name_link) with as many rows of links as `special` says; a GPU
 * takes directions one by one. */
#define LINKS_SITE(name)                                                                                               \
    FN void T(name##_site)(const name##_args *a, long i)                                                               \
    {                                                                                                                  \
        const T(walker) home = T(walk_both)(&a->g, i, a->chunk);                                                       \
        for (int mu = 0; mu < 4; mu++) {                                                                               \
            if (a->special) T(name##_link)(a, &a->g, home, mu, 2);                                                     \
            else T(name##_link)(a, &a->g, home, mu, 3);                                                                \
        }                                                                                                              \
    }
LINKS_SITE(staples)
LINKS_SITE(staples_core)
LINKS_SITE(staples_sum)

/* Row of three numbers times c + i s. */
FN void T(row_phase)(vreal row[6], vreal c, vreal s)
{
    UNROLL for (int i = 0; i < 6; i += 2)
    {
        const vreal re = row[i], im = row[i + 1];
        row[i] = vfnma(s, im, c * re);
        row[i + 1] = vfma(s, re, c * im);
    }
}

/* y_mu = (re_mu + i im_mu) x_mu on links */
FN void T(links_scale_site)(const links_scale_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        const vreal re = vset((real)a->re[mu]), im = vset((real)a->im[mu]);
        vreal x[18];
        T(load)(x, &a->x, u, mu, 18);
        if (a->im[mu] == 0) UNROLL for (int i = 0; i < 18; i++) x[i] *= re;
        else UNROLL for (int i = 0; i < 18; i += 6) T(row_phase)(x + i, re, im);
        T(save)(x, &a->y, u, mu, 18);
    }
}

/* out_mu = coefficient U_mu(s) U_mu(s+mu) U_mu(s+2mu), the path of S. Naik, Nucl. Phys. B316 (1989) 238. */
#define PARTS_long_links 4
#define REACH_long_links 2
FN void T(long_links_part)(const long_links_args *a, const geom *g, T(walker) home, int mu)
{
    const vreal c = vset((real)a->coefficient);
    const T(walker) next = T(walk)(g, home, mu, 1);
    vreal x[18], y[18], r[18];
    T(walk_load)(x, g, &a->links, home, mu, 18);
    T(walk_load)(y, g, &a->links, next, mu, 18);
    T(su3_mul)(r, x, y);
    T(walk_load)(y, g, &a->links, T(walk)(g, next, mu, 1), mu, 18);
    T(su3_mul)(x, r, y);
    UNROLL for (int i = 0; i < 18; i++) x[i] *= c;
    T(save)(x, &a->out, home.unit, mu, 18);
}
PARTS_SITE(long_links)

/* Links that lead `reach` sites get the phases eta_x = (-1)^t, eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), eta_t = 1, and
 * in t the sign of the boundary as often as they cross it. */
FN void T(staggered_signs)(vreal sign[4], const geom *g, int parity, long u, int reach, int time_sign)
{
    const int16_t *c = g->coord[parity] + 4 * u;
    UNROLL for (int mu = 0; mu < 4; mu++) sign[mu] = vset(1);
    for (int lane = 0; lane < W; lane++) {
        const int32_t *o = g->lane_origin + 4 * lane;
        const int x = o[0] + c[0], y = o[1] + c[1], t = o[3] + c[3];
        if (t & 1) LANE(sign[0], lane) = -1;
        if ((t + x) & 1) LANE(sign[1], lane) = -1;
        if ((t + x + y) & 1) LANE(sign[2], lane) = -1;
        if ((t + reach) / g->global[3] & 1) LANE(sign[3], lane) = (real)time_sign;
    }
}

FN void T(staggered_phases_site)(const staggered_phases_args *a, long u)
{
    vreal sign[4];
    T(staggered_signs)(sign, &a->g, a->parity, u, a->reach, a->time_sign);
    for (int mu = 0; mu < 4; mu++) {
        vreal x[18];
        T(load)(x, &a->links, u, mu, 18);
        UNROLL for (int i = 0; i < 18; i++) x[i] *= sign[mu];
        T(save)(x, &a->links, u, mu, 18);
    }
}

/* out_mu = the phase of det U_mu over pi, in [-1, 1], of unitary U, to 2^-50: rounding would leave phases of SU(3)
 * whose squares are too small for fast arithmetic in single precision. */
FN void T(link_phases_site)(const link_phases_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[18], y[18], angle[1];
        T(load)(x, &a->links, u, mu, 18);
        UNROLL for (int i = 0; i < 12; i++) y[i] = x[i];
        T(su3_third_row)(y);
        vreal re = vset(0), im = vset(0);
        UNROLL for (int i = 12; i < 18; i += 2)
        {
            re = vfma(x[i], y[i], vfma(x[i + 1], y[i + 1], re));
            im = vfma(x[i + 1], y[i], vfnma(x[i], y[i + 1], im));
        }
        angle[0] = vset(0);
        for (int lane = 0; lane < W; lane++) {
            const double phase = atan2((double)LANE(im, lane), (double)LANE(re, lane)) / 3.14159265358979323846;
            LANE(angle[0], lane) = (real)(rint(phase * 0x1p50) * 0x1p-50);
        }
        T(save)(angle, &a->out, u, mu, 1);
    }
}

/* row = row R, R = 2/3 (all ones) - 1: the half turn about the diagonal, its own inverse. */
FN void T(half_turn)(vreal row[6])
{
    UNROLL for (int i = 0; i < 2; i++)
    {
        const vreal mean = (real)(2.0 / 3) * (row[i] + row[2 + i] + row[4 + i]);
        UNROLL for (int j = i; j < 6; j += 2) row[j] = mean - row[j];
    }
}

/* U = e^(-i phi/3) U R, phi the phase of det U: special, and, where U is near a multiple of the unit matrix, far from
 * the matrices that eight reals cannot hold, by that turn. */
FN void T(link_specials_site)(const link_specials_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[18], angle[1], c, s;
        T(load)(x, &a->links, u, mu, 18);
        T(load)(angle, &a->phases, u, mu, 1);
        T(cos_sin_pi)(&c, &s, angle[0] * (real)(1.0 / 3));
        UNROLL for (int i = 0; i < 18; i += 6)
        {
            T(row_phase)(x + i, c, -s);
            T(half_turn)(x + i);
        }
        T(save)(x, &a->links, u, mu, 18);
    }
}

/* ---- projection to U(3) ---- */

/* Below this ratio of the smallest to the largest eigenvalue of V^dagger V its square root loses four digits. */
#define PROJECT_GUARD 1e-4

/* w = X Y^dagger of the singular value decomposition v = X S Y^dagger. Of a singular value of zero the vector in X is
 * what completes the others. Returns 0 where two are zero, else 1. */
FN int T(project_by_svd)(double w[18], const double v[18])
{
    double x[18], y[18], norm[3];
    int zeros = 0, zero = 0;
    T(decompose)(x, y, norm, v);
    for (int c = 0; c < 3; c++) {
        if (norm[c] == 0) {
            zeros++;
            zero = c;
        }
        for (int i = 0; i < 6; i++) x[6 * (i / 2) + 2 * c + i % 2] *= norm[c] > 0 ? 1 / sqrt(norm[c]) : 0;
    }
    if (zeros > 1) return 0;
    for (int i = 0; zeros && i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3, p = 2 * ((zero + 1) % 3), q = 2 * ((zero + 2) % 3);
        const double *a = x + 6 * j, *b = x + 6 * k;
        x[6 * i + 2 * zero] = a[p] * b[q] - a[p + 1] * b[q + 1] - (b[p] * a[q] - b[p + 1] * a[q + 1]);
        x[6 * i + 2 * zero + 1] = -(a[p] * b[q + 1] + a[p + 1] * b[q] - (b[p] * a[q + 1] + b[p + 1] * a[q]));
    }
    T(times_dagger)(w, x, y);
    return 1;
}

/* Eigenvalues of a Hermitian matrix by the trigonometric solution of its characteristic equation; the largest first,
 * the smallest last. */
FN void T(hermitian_eigenvalues)(vreal e[3], const vreal q[18])
{
    const vreal mean = (real)(1.0 / 3.0) * T(su3_trace)(q);
    const vreal d0 = q[0] - mean, d1 = q[8] - mean, d2 = q[16] - mean;
    const vreal x = q[2] * q[2] + q[3] * q[3], y = q[4] * q[4] + q[5] * q[5], z = q[10] * q[10] + q[11] * q[11];
    const vreal s = (real)(1.0 / 6.0) * (d0 * d0 + d1 * d1 + d2 * d2 + (real)2 * (x + y + z));
    /* Re of the product of the elements 01, 12 and 20 */
    const vreal loop = (q[2] * q[10] - q[3] * q[11]) * q[4] + (q[2] * q[11] + q[3] * q[10]) * q[5];
    const vreal half = (real)0.5 * (d0 * d1 * d2 + (real)2 * loop - d0 * z - d1 * y - d2 * x);
    const vreal root = vsqrt(s);
    vreal c = vset(1), r3 = vset(0);
    for (int lane = 0; lane < W; lane++) {
        const double third = LANE(root, lane) * LANE(s, lane);
        double ratio = third > 0 ? LANE(half, lane) / third : 1;
        ratio = ratio > 1 ? 1 : ratio < -1 ? -1 : ratio;
        const double angle = acos(ratio) / 3;
        LANE(c, lane) = (real)cos(angle);
        LANE(r3, lane) = (real)(1.73205080756887729353 * sin(angle));
    }
    e[0] = mean + (real)2 * root * c;
    e[1] = mean - root * (c - r3);
    e[2] = mean - root * (c + r3);
}

/* w = v (v^dagger v)^(-1/2) = v (f0 + f1 Q + f2 Q^2) by the Cayley-Hamilton relation (A. Hasenfratz, R. Hoffmann and
 * S. Schaefer, hep-lat/0702028, section 2); e: eigenvalues of Q. */
FN void T(project_by_roots)(vreal w[18], const vreal v[18], const vreal q[18], const vreal e[3])
{
    const vreal a = vsqrt(vmax(e[0], vset(0))), b = vsqrt(vmax(e[1], vset(0))), c = vsqrt(vmax(e[2], vset(0)));
    const vreal s1 = a + b + c, s2 = a * b + a * c + b * c, s3 = a * b * c;
    const vreal inverse = vinverse_or_zero(s3 * (s1 * s2 - s3));
    const vreal f0 = (s1 * s2 * s2 - s3 * (s1 * s1 + s2)) * inverse;
    const vreal f1 = ((real)2 * s1 * s2 - s3 - s1 * s1 * s1) * inverse, f2 = s1 * inverse;
    vreal m[18];
    T(su3_mul)(m, q, q);
    UNROLL for (int i = 0; i < 18; i++) m[i] = vfma(f2, m[i], f1 * q[i]);
    m[0] += f0;
    m[8] += f0;
    m[16] += f0;
    T(su3_mul)(w, v, m);
}

/* Links projected to U(3). Sums: links that needed the decomposition, and links of which there is no projection. */
FN void T(project_links_site)(const project_links_args *a, long u, vexact *sum)
{
    vreal guarded = vset(0), undefined = vset(0);
    for (int mu = 0; mu < 4; mu++) {
        vreal v[18], q[18], w[18], e[3];
        T(load)(v, &a->in, u, mu, 18);
        T(su3_mul_left_dagger)(q, v, v);
        T(hermitian_eigenvalues)(e, q);
        T(project_by_roots)(w, v, q, e);
        for (int lane = 0; lane < W; lane++) {
            if (LANE(e[2], lane) > (real)PROJECT_GUARD * LANE(e[0], lane)) continue;
            double one[18], unitary[18];
            for (int i = 0; i < 18; i++) one[i] = unitary[i] = LANE(v[i], lane);
            LANE(guarded, lane) += 1;
            if (!T(project_by_svd)(unitary, one)) LANE(undefined, lane) += 1;
            for (int i = 0; i < 18; i++) LANE(w[i], lane) = (real)unitary[i];
        }
        T(save)(w, &a->out, u, mu, 18);
    }
    T(exact_deposit)(&sum[0], vdouble_fma(guarded, vset(1), vdouble_zero()));
    T(exact_deposit)(&sum[1], vdouble_fma(undefined, vset(1), vdouble_zero()));
}
