/* SU(3) algebra on one work item. A matrix is vreal[18], [row][column][re, im]; a colour vector vreal[6]; a traceless
 * anti-Hermitian matrix vreal[8], X00/i, X11/i, X01, X02, X12; an anti-Hermitian one vreal[9], X22/i after X11/i.
 * Outputs may not alias inputs unless said. */

/* r = row . h */
FN void T(row_times)(vreal r[2], const vreal row[6], const vreal h[6])
{
    vreal re = row[0] * h[0], im = row[0] * h[1];
    re = vfnma(row[1], h[1], re);
    im = vfma(row[1], h[0], im);
    re = vfma(row[2], h[2], re);
    im = vfma(row[2], h[3], im);
    re = vfnma(row[3], h[3], re);
    im = vfma(row[3], h[2], im);
    re = vfma(row[4], h[4], re);
    im = vfma(row[4], h[5], im);
    re = vfnma(row[5], h[5], re);
    im = vfma(row[5], h[4], im);
    r[0] = re;
    r[1] = im;
}

/* r[0..1] = row . h and r[6..7] = row . h[6..]: the same for both spins of a half spinor, in step. */
FN void T(rows_times)(vreal r[8], const vreal row[6], const vreal h[12])
{
    vreal re0 = row[0] * h[0], im0 = row[0] * h[1], re1 = row[0] * h[6], im1 = row[0] * h[7];
    re0 = vfnma(row[1], h[1], re0);
    im0 = vfma(row[1], h[0], im0);
    re1 = vfnma(row[1], h[7], re1);
    im1 = vfma(row[1], h[6], im1);
    UNROLL for (int k = 2; k < 6; k += 2)
    {
        re0 = vfma(row[k], h[k], re0);
        im0 = vfma(row[k], h[k + 1], im0);
        re1 = vfma(row[k], h[k + 6], re1);
        im1 = vfma(row[k], h[k + 7], im1);
        re0 = vfnma(row[k + 1], h[k + 1], re0);
        im0 = vfma(row[k + 1], h[k], im0);
        re1 = vfnma(row[k + 1], h[k + 7], re1);
        im1 = vfma(row[k + 1], h[k + 6], im1);
    }
    r[0] = re0;
    r[1] = im0;
    r[6] = re1;
    r[7] = im1;
}

/* r = (column c of u)^dagger . h */
FN void T(column_dagger_times)(vreal r[2], const vreal u[18], int c, const vreal h[6])
{
    const vreal *a = u + 2 * c, *b = u + 6 + 2 * c, *d = u + 12 + 2 * c;
    vreal re = a[0] * h[0], im = a[0] * h[1];
    re = vfma(a[1], h[1], re);
    im = vfnma(a[1], h[0], im);
    re = vfma(b[0], h[2], re);
    im = vfma(b[0], h[3], im);
    re = vfma(b[1], h[3], re);
    im = vfnma(b[1], h[2], im);
    re = vfma(d[0], h[4], re);
    im = vfma(d[0], h[5], im);
    re = vfma(d[1], h[5], re);
    im = vfnma(d[1], h[4], im);
    r[0] = re;
    r[1] = im;
}

FN void T(su3_times)(vreal r[6], const vreal u[18], const vreal h[6])
{
    T(row_times)(r, u, h);
    T(row_times)(r + 2, u + 6, h);
    T(row_times)(r + 4, u + 12, h);
}

/* Third row of a special unitary matrix from the others: the conjugate of their cross product. */
FN void T(su3_third_row)(vreal u[18])
{
    UNROLL for (int c = 0; c < 3; c++)
    {
        const vreal *a = u + 2 * ((c + 1) % 3), *b = u + 2 * ((c + 2) % 3);
        const vreal *e = u + 6 + 2 * ((c + 2) % 3), *f = u + 6 + 2 * ((c + 1) % 3);
        vreal re = a[0] * e[0], im = a[0] * e[1];
        re = vfnma(a[1], e[1], re);
        im = vfma(a[1], e[0], im);
        re = vfnma(b[0], f[0], re);
        im = vfnma(b[0], f[1], im);
        re = vfma(b[1], f[1], re);
        im = vfnma(b[1], f[0], im);
        u[12 + 2 * c] = re;
        u[13 + 2 * c] = -im;
    }
}

#ifdef ROUGH_MATH
#define NEAR_SQRT(x) rough_sqrt(x)
#define NEAR_INVERSE(x) rough_inverse(x)
#define NEAR_COS_SIN_PI rough_cos_sin_pi
#else
#define NEAR_SQRT(x) vsqrt(x)
#define NEAR_INVERSE(x) vinverse_or_zero(x)
#define NEAR_COS_SIN_PI T(cos_sin_pi)
#endif

/* cos and sin of pi x for |x| <= 1, by the series of the half angle and its doubling. */
FN void T(cos_sin_pi)(vreal *cosine, vreal *sine, vreal x)
{
    const int last = PLAQ_PREC == 0 ? 20 : 12; /* highest power; what is left out is below rounding at pi / 2 */
    const vreal y = (real)1.57079632679489661923 * x, minus = -(y * y);
    vreal c = vset(1), s = vset(1);
    UNROLL for (int n = last; n > 0; n -= 2)
    {
        c = vfma(minus * (real)(1.0 / (n * (n - 1))), c, vset(1));
        s = vfma(minus * (real)(1.0 / (n * (n + 1))), s, vset(1));
    }
    s *= y;
    *cosine = vfnma((real)2 * s, s, vset(1));
    *sine = (real)2 * s * c;
}

/* r = -conj(a) b c - sign conj(d) conj(e), complex numbers, times n */
FN void T(second_row_element)(vreal r[2], const vreal a[2], const vreal b[2], const vreal c[2], vreal sign,
                              const vreal d[2], const vreal e[2], vreal n)
{
    const vreal abre = vfma(a[0], b[0], a[1] * b[1]), abim = vfnma(a[1], b[0], a[0] * b[1]);
    const vreal first_re = vfnma(abim, c[1], abre * c[0]), first_im = vfma(abim, c[0], abre * c[1]);
    const vreal de_re = vfnma(d[1], e[1], d[0] * e[0]), de_im = -vfma(d[0], e[1], d[1] * e[0]);
    r[0] = -n * vfma(sign, de_re, first_re);
    r[1] = -n * vfma(sign, de_im, first_im);
}

/* The matrix of eight reals (kernels/field/field.h): moduli of U00 and U20 from the norms of the first row and
 * column, the second row from its orthogonality to the first and from U20, the third from both. */
FN void T(su3_from_eight)(vreal u[18], const vreal x[8])
{
    vreal c, s, rest = vset(0), n;
    UNROLL for (int i = 0; i < 6; i++) u[2 + i] = x[2 + i];
    UNROLL for (int i = 2; i < 6; i++) rest = vfma(u[i], u[i], rest);
    n = NEAR_INVERSE(rest);
    const vreal a2 = vmax(1 - rest, vset(0));
    const vreal a = NEAR_SQRT(a2);
    NEAR_COS_SIN_PI(&c, &s, x[0]);
    u[0] = a * c;
    u[1] = a * s;
    const vreal column = vfma(u[6], u[6], vfma(u[7], u[7], a2));
    const vreal third = NEAR_SQRT(vmax(1 - column, vset(0)));
    NEAR_COS_SIN_PI(&c, &s, x[1]);
    const vreal corner[2] = {third * c, third * s};
    T(second_row_element)(u + 8, u, u + 6, u + 2, vset(1), u + 4, corner, n);
    T(second_row_element)(u + 10, u, u + 6, u + 4, vset(-1), u + 2, corner, n);
    T(su3_third_row)(u);
}

FN void T(su3_zero)(vreal a[18])
{
    UNROLL for (int i = 0; i < 18; i++) a[i] = vset(0);
}

FN void T(su3_add)(vreal a[18], const vreal b[18])
{
    UNROLL for (int i = 0; i < 18; i++) a[i] += b[i];
}

/* a += s b */
FN void T(su3_axpy)(vreal a[18], vreal s, const vreal b[18])
{
    UNROLL for (int i = 0; i < 18; i++) a[i] = vfma(s, b[i], a[i]);
}

FN void T(su3_dagger)(vreal a[18], const vreal b[18])
{
    UNROLL for (int i = 0; i < 3; i++)
    {
        UNROLL for (int j = 0; j < 3; j++)
        {
            a[6 * i + 2 * j] = b[6 * j + 2 * i];
            a[6 * i + 2 * j + 1] = -b[6 * j + 2 * i + 1];
        }
    }
}

/* a = b c, and the same with daggers on either factor. */
FN void T(su3_mul)(vreal a[18], const vreal b[18], const vreal c[18])
{
    UNROLL for (int j = 0; j < 3; j++)
    {
        const vreal column[6] = {c[2 * j], c[2 * j + 1], c[6 + 2 * j], c[7 + 2 * j], c[12 + 2 * j], c[13 + 2 * j]};
        UNROLL for (int i = 0; i < 3; i++) T(row_times)(a + 6 * i + 2 * j, b + 6 * i, column);
    }
}

FN void T(su3_mul_right_dagger)(vreal a[18], const vreal b[18], const vreal c[18])
{
    UNROLL for (int j = 0; j < 3; j++)
    {
        const vreal column[6] = {c[6 * j], -c[6 * j + 1], c[6 * j + 2], -c[6 * j + 3], c[6 * j + 4], -c[6 * j + 5]};
        UNROLL for (int i = 0; i < 3; i++) T(row_times)(a + 6 * i + 2 * j, b + 6 * i, column);
    }
}

FN void T(su3_mul_left_dagger)(vreal a[18], const vreal b[18], const vreal c[18])
{
    UNROLL for (int j = 0; j < 3; j++)
    {
        const vreal column[6] = {c[2 * j], c[2 * j + 1], c[6 + 2 * j], c[7 + 2 * j], c[12 + 2 * j], c[13 + 2 * j]};
        UNROLL for (int i = 0; i < 3; i++) T(column_dagger_times)(a + 6 * i + 2 * j, b, i, column);
    }
}

/* r = row . h, of which row[k] is imaginary */
FN void T(imaginary_row_times)(vreal r[2], const vreal row[6], const vreal h[6], int k)
{
    vreal re = -(row[2 * k + 1] * h[2 * k + 1]), im = row[2 * k + 1] * h[2 * k];
    UNROLL for (int n = 1; n < 3; n++)
    {
        const int i = 2 * ((k + n) % 3);
        re = vfma(row[i], h[i], re);
        im = vfma(row[i + 1], h[i], im);
        re = vfnma(row[i + 1], h[i + 1], re);
        im = vfma(row[i], h[i + 1], im);
    }
    r[0] = re;
    r[1] = im;
}

/* a = z b and a = b z of an anti-Hermitian z, whose diagonal is imaginary. */
FN void T(su3_antihermitian_mul)(vreal a[18], const vreal z[18], const vreal b[18])
{
    UNROLL for (int j = 0; j < 3; j++)
    {
        const vreal column[6] = {b[2 * j], b[2 * j + 1], b[6 + 2 * j], b[7 + 2 * j], b[12 + 2 * j], b[13 + 2 * j]};
        UNROLL for (int i = 0; i < 3; i++) T(imaginary_row_times)(a + 6 * i + 2 * j, z + 6 * i, column, i);
    }
}

FN void T(su3_mul_antihermitian)(vreal a[18], const vreal b[18], const vreal z[18])
{
    UNROLL for (int j = 0; j < 3; j++)
    {
        const vreal column[6] = {z[2 * j], z[2 * j + 1], z[6 + 2 * j], z[7 + 2 * j], z[12 + 2 * j], z[13 + 2 * j]};
        UNROLL for (int i = 0; i < 3; i++) T(imaginary_row_times)(a + 6 * i + 2 * j, column, b + 6 * i, j);
    }
}

/* Re tr a */
FN vreal T(su3_trace)(const vreal a[18])
{
    return a[0] + a[8] + a[16];
}

/* Re tr (a b^dagger) */
FN vreal T(su3_trace_product_dagger)(const vreal a[18], const vreal b[18])
{
    vreal s = vset(0);
    UNROLL for (int i = 0; i < 18; i++) s = vfma(a[i], b[i], s);
    return s;
}

/* x = (a - a^dagger) / 2, and its traceless part. */
FN void T(su3_antihermitian)(vreal x[9], const vreal a[18])
{
    x[0] = a[1];
    x[1] = a[9];
    x[2] = a[17];
    x[3] = (real)0.5 * (a[2] - a[6]);
    x[4] = (real)0.5 * (a[3] + a[7]);
    x[5] = (real)0.5 * (a[4] - a[12]);
    x[6] = (real)0.5 * (a[5] + a[13]);
    x[7] = (real)0.5 * (a[10] - a[14]);
    x[8] = (real)0.5 * (a[11] + a[15]);
}

FN void T(su3_project)(vreal x[8], const vreal a[18])
{
    vreal y[9];
    T(su3_antihermitian)(y, a);
    const vreal third = (real)(1.0 / 3.0) * (y[0] + y[1] + y[2]);
    x[0] = y[0] - third;
    x[1] = y[1] - third;
    UNROLL for (int i = 2; i < 8; i++) x[i] = y[i + 1];
}

/* The matrix of nine components. */
FN void T(su3_from_antihermitian)(vreal a[18], const vreal x[9])
{
    a[0] = a[8] = a[16] = vset(0);
    a[1] = x[0];
    a[9] = x[1];
    a[17] = x[2];
    a[2] = x[3];
    a[3] = x[4];
    a[6] = -x[3];
    a[7] = x[4];
    a[4] = x[5];
    a[5] = x[6];
    a[12] = -x[5];
    a[13] = x[6];
    a[10] = x[7];
    a[11] = x[8];
    a[14] = -x[7];
    a[15] = x[8];
}

FN void T(su3_from_algebra)(vreal a[18], const vreal x[8])
{
    const vreal nine[9] = {x[0], x[1], -x[0] - x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    T(su3_from_antihermitian)(a, nine);
}

/* Rows made orthonormal one after the other, the third from the first two: the nearby SU(3) matrix. A zero matrix, an inactive link,
 * stays zero. */
FN void T(su3_unitarise)(vreal u[18])
{
    for (int row = 0; row < 2; row++) {
        vreal *v = u + 6 * row;
        if (row == 1) {
            vreal re = vset(0), im = vset(0);
            UNROLL for (int c = 0; c < 3; c++)
            {
                re = vfma(u[2 * c], v[2 * c], re);
                re = vfma(u[2 * c + 1], v[2 * c + 1], re);
                im = vfma(u[2 * c], v[2 * c + 1], im);
                im = vfnma(u[2 * c + 1], v[2 * c], im);
            }
            UNROLL for (int c = 0; c < 3; c++)
            {
                v[2 * c] = vfma(im, u[2 * c + 1], vfnma(re, u[2 * c], v[2 * c]));
                v[2 * c + 1] = vfnma(im, u[2 * c], vfnma(re, u[2 * c + 1], v[2 * c + 1]));
            }
        }
        vreal norm = vset(0);
        UNROLL for (int i = 0; i < 6; i++) norm = vfma(v[i], v[i], norm);
        const vreal inverse = vinverse_or_zero(vsqrt(norm));
        UNROLL for (int i = 0; i < 6; i++) v[i] *= inverse;
    }
    T(su3_third_row)(u);
}

#define EXP_TERMS 22

/* u = exp(x) by Horner's rule in the algebra of matrices modulo the Cayley-Hamilton relation X^3 = t X + i d, where
 * t = tr X^2 / 2 is real and i d = det X. With norm |X| <= 3 the truncated series is exact to round-off (remainder
 * below 3^23 / 23!); a larger |X| loses accuracy gracefully and is mended by su3_unitarise(). */
FN void T(su3_exp)(vreal u[18], const vreal x[8])
{
    vreal a[18], a2[18], det[18];
    T(su3_from_algebra)(a, x);
    T(su3_mul)(a2, a, a);
    const vreal t = (real)0.5 * T(su3_trace)(a2);
    T(su3_mul)(det, a2, a);
    /* tr X^3 = 3 det X is imaginary */
    const vreal d = (real)(1.0 / 3.0) * (det[1] + det[9] + det[17]);
    /* p0 + p1 X + p2 X^2, complex coefficients; multiply by X / k and add 1 for k = EXP_TERMS ... 1. */
    vreal p[6] = {vset(1), vset(0), vset(0), vset(0), vset(0), vset(0)};
    for (int k = EXP_TERMS; k > 0; k--) {
        const vreal r = vset((real)(1.0 / k));
        const vreal q0 = -d * p[5], q1 = d * p[4];
        const vreal q2 = vfma(t, p[4], p[0]), q3 = vfma(t, p[5], p[1]);
        p[4] = r * p[2];
        p[5] = r * p[3];
        p[2] = r * q2;
        p[3] = r * q3;
        p[0] = vfma(r, q0, vset(1));
        p[1] = r * q1;
    }
    UNROLL for (int i = 0; i < 9; i++)
    {
        const vreal one = i % 4 == 0 ? vset(1) : vset(0);
        vreal re = p[0] * one, im = p[1] * one;
        re = vfma(p[2], a[2 * i], re);
        re = vfnma(p[3], a[2 * i + 1], re);
        im = vfma(p[2], a[2 * i + 1], im);
        im = vfma(p[3], a[2 * i], im);
        re = vfma(p[4], a2[2 * i], re);
        re = vfnma(p[5], a2[2 * i + 1], re);
        im = vfma(p[4], a2[2 * i + 1], im);
        im = vfma(p[5], a2[2 * i], im);
        u[2 * i] = re;
        u[2 * i + 1] = im;
    }
}
