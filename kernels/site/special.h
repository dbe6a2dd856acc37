/* Projection of smeared links to SU(3), and links made of it: APE links (M. Albanese et al., Phys. Lett. B 192 (1987)
 * 163) and the levels of HYP links (A. Hasenfratz and F. Knechtli, hep-lat/0103029).
 *
 * The projection of V is the matrix W of SU(3) with the largest Re tr(W^dagger V). With the singular value decomposition
 * V = X diag(p) Y^dagger, det(X Y^dagger) = exp(i phi), it is W = X diag(exp(-i theta)) Y^dagger where
 * theta_1 + theta_2 + theta_3 = phi. Re tr(W^dagger V) = sum_i p_i cos theta_i is largest where all p_i sin theta_i are one
 * number lambda, and none but the theta_i of the smallest p_i is above pi / 2. */

/* The root lambda in [0, |q|] of Im(q exp(-i theta_1 - i theta_2)) = lambda, sin theta_i = lambda / p_i. q is
 * p_3 exp(i phi) with Im q >= 0, and |q| is the smallest of the p_i. Newton's method takes bisections where a step leaves
 * the bracket. */
FN double T(special_lambda)(const double q[2], double p1, double p2)
{
    double low = 0, high = sqrt(q[0] * q[0] + q[1] * q[1]), lambda = q[1] / 3;
    for (int i = 0; i < 64; i++) {
        const double s1 = lambda / p1, s2 = lambda / p2;
        const double c1 = sqrt(fmax(1 - s1 * s1, 0.0)), c2 = sqrt(fmax(1 - s2 * s2, 0.0));
        const double c = c1 * c2 - s1 * s2, s = s1 * c2 + c1 * s2;
        const double value = q[1] * c - q[0] * s - lambda;
        const double slope = -(q[0] * c + q[1] * s) * (1 / (p1 * c1) + 1 / (p2 * c2)) - 1;
        if (value > 0) low = lambda;
        else high = lambda;
        double next = lambda - value / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - lambda) <= 1e-17 * p1) break;
        lambda = next;
    }
    return lambda;
}

/* c = x_a x x_b of columns of m. */
FN void T(columns_cross)(double c[6], const double m[18], int a, int b)
{
    for (int i = 0; i < 3; i++) {
        const double *p = m + 6 * ((i + 1) % 3), *q = m + 6 * ((i + 2) % 3);
        const double *pa = p + 2 * a, *pb = p + 2 * b, *qa = q + 2 * a, *qb = q + 2 * b;
        c[2 * i] = pa[0] * qb[0] - pa[1] * qb[1] - (qa[0] * pb[0] - qa[1] * pb[1]);
        c[2 * i + 1] = pa[0] * qb[1] + pa[1] * qb[0] - (qa[0] * pb[1] + qa[1] * pb[0]);
    }
}

/* Determinant of m. */
FN void T(columns_determinant)(double d[2], const double m[18])
{
    double c[6];
    T(columns_cross)(c, m, 1, 2);
    d[0] = d[1] = 0;
    for (int i = 0; i < 3; i++) {
        const double *x = m + 6 * i;
        d[0] += x[0] * c[2 * i] - x[1] * c[2 * i + 1];
        d[1] += x[0] * c[2 * i + 1] + x[1] * c[2 * i];
    }
}

/* Column c of m times z. */
FN void T(column_multiply)(double m[18], int c, double re, double im)
{
    for (int i = 0; i < 3; i++) {
        double *x = m + 6 * i + 2 * c;
        const double x0 = x[0];
        x[0] = x0 * re - x[1] * im;
        x[1] = x0 * im + x[1] * re;
    }
}

/* w = the projection of v. Returns 0 where v has a rank below two, of which there are many projections, else 1. The column
 * of the smallest singular value follows from the others and the determinant, so that it may be zero. */
FN int T(project_special)(double w[18], const double v[18])
{
    double x[18], y[18], norm[3], dx[2], dy[2], n[6];
    T(decompose)(x, y, norm, v);
    const int k = norm[0] < norm[1] ? (norm[0] < norm[2] ? 0 : 2) : norm[1] < norm[2] ? 1 : 2;
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    if (!(norm[a] > 0 && norm[b] > 0)) return 0;
    const double pa = sqrt(norm[a]), pb = sqrt(norm[b]), scale = 1 / (pa * pb);
    T(columns_determinant)(dx, x);
    T(columns_determinant)(dy, y);
    const double im = scale * (dx[1] * dy[0] - dx[0] * dy[1]), sign = im < 0 ? -1 : 1;
    const double q[2] = {scale * (dx[0] * dy[0] + dx[1] * dy[1]), sign * im};
    const double lambda = T(special_lambda)(q, pa, pb), sa = lambda / pa, sb = lambda / pb;
    T(column_multiply)(x, a, sqrt(fmax(1 - sa * sa, 0.0)) / pa, -sign * sa / pa);
    T(column_multiply)(x, b, sqrt(fmax(1 - sb * sb, 0.0)) / pb, -sign * sb / pb);
    T(columns_cross)(n, x, a, b);
    for (int i = 0; i < 3; i++) {
        x[6 * i + 2 * k] = n[2 * i];
        x[6 * i + 2 * k + 1] = -n[2 * i + 1];
    }
    T(column_multiply)(x, k, dy[0], dy[1]);
    T(times_dagger)(w, x, y);
    return 1;
}

/* w = the projection of own U + C with the staples C of stout.h, and the thin link U where it has many. */
#define PARTS_staples_project 4
#define REACH_staples_project 1
FN void T(staples_project_part)(const staples_project_args *a, const geom *g, T(walker) home, int mu)
{
    vreal link[18], sum[18];
    T(walk_link)(link, g, &a->l.thin, home, mu, 2);
    if (T(staples_sum_all)(sum, g, &a->l, home, mu)) {
        T(su3_axpy)(sum, vset((real)a->own), link);
        for (int lane = 0; lane < W; lane++) {
            double v[18], w[18];
            for (int i = 0; i < 18; i++) v[i] = LANE(sum[i], lane);
            if (!T(project_special)(w, v)) continue;
            for (int i = 0; i < 18; i++) LANE(link[i], lane) = (real)w[i];
        }
    }
    T(save)(link, &a->out, home.unit, mu, 18);
}
PARTS_SITE(staples_project)
