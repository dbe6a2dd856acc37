/* Singular value decomposition of a matrix of one lane, in double. */

#define JACOBI_SWEEPS 40

/* Columns p and q of a, orthogonal after q has got the phase and both have been rotated as by the 2x2 matrix of a
 * Jacobi rotation; the same is done to r. Returns whether there was anything to do. */
FN int T(jacobi_rotate)(double a[18], double r[18], int p, int q)
{
    double pp = 0, qq = 0, re = 0, im = 0;
    for (int i = 0; i < 3; i++) {
        const double *x = a + 6 * i + 2 * p, *y = a + 6 * i + 2 * q;
        pp += x[0] * x[0] + x[1] * x[1];
        qq += y[0] * y[0] + y[1] * y[1];
        re += x[0] * y[0] + x[1] * y[1];
        im += x[0] * y[1] - x[1] * y[0];
    }
    const double size = sqrt(re * re + im * im);
    if (!(size > 1e-16 * sqrt(pp) * sqrt(qq))) return 0;
    const double zeta = (qq - pp) / (2 * size);
    const double tangent = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + tangent * tangent), s = c * tangent;
    for (int k = 0; k < 6; k++) {
        double *m = (k < 3 ? a : r) + 6 * (k % 3);
        double *x = m + 2 * p, *y = m + 2 * q;
        const double y0 = (re * y[0] + im * y[1]) / size, y1 = (re * y[1] - im * y[0]) / size;
        y[0] = s * x[0] + c * y0;
        y[1] = s * x[1] + c * y1;
        x[0] = c * x[0] - s * y0;
        x[1] = c * x[1] - s * y1;
    }
    return 1;
}

/* v = x y^dagger with orthogonal columns of x, of square norms norm[], and unitary y: the singular value decomposition
 * by rotations of columns (M. Hestenes, J. SIAM 6 (1958) 51), which is accurate for small singular values, too. */
FN void T(decompose)(double x[18], double y[18], double norm[3], const double v[18])
{
    int busy = 1;
    for (int i = 0; i < 18; i++) {
        x[i] = v[i];
        y[i] = i % 8 == 0 ? 1 : 0;
    }
    for (int sweep = 0; busy && sweep < JACOBI_SWEEPS; sweep++) {
        busy = T(jacobi_rotate)(x, y, 0, 1);
        busy += T(jacobi_rotate)(x, y, 0, 2);
        busy += T(jacobi_rotate)(x, y, 1, 2);
    }
    for (int c = 0; c < 3; c++) {
        norm[c] = 0;
        for (int i = 0; i < 3; i++)
            norm[c] += x[6 * i + 2 * c] * x[6 * i + 2 * c] + x[6 * i + 2 * c + 1] * x[6 * i + 2 * c + 1];
    }
}

/* w = x y^dagger */
FN void T(times_dagger)(double w[18], const double x[18], const double y[18])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double re = 0, im = 0;
            for (int c = 0; c < 3; c++) {
                const double *a = x + 6 * i + 2 * c, *b = y + 6 * j + 2 * c;
                re = fma(a[0], b[0], fma(a[1], b[1], re));
                im = fma(a[1], b[0], fma(-a[0], b[1], im));
            }
            w[6 * i + 2 * j] = re;
            w[6 * i + 2 * j + 1] = im;
        }
}
