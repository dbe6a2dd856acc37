/* Dense complex linear algebra and conjugate gradients for the oracles.
 *
 * Determinant and inverse: Gauss elimination with row pivoting. CG: M. Hestenes, E. Stiefel, J. Res. NBS 49 (1952) 409.
 */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double complex *numbers_new(size_t n)
{
    double complex *p = calloc(n, sizeof *p);
    if (!p) {
        fprintf(stderr, "reference: no memory for %zu numbers\n", n);
        abort();
    }
    return p;
}

/* Brings the row with the largest entry of column k to row k in both matrices; 1 when rows were exchanged. A zero
 * column aborts. */
static int pivot(double complex *a, double complex *b, int n, int k)
{
    int best = k;
    for (int i = k + 1; i < n; i++)
        if (cabs(a[(size_t)i * n + k]) > cabs(a[(size_t)best * n + k])) best = i;
    if (cabs(a[(size_t)best * n + k]) == 0) {
        fprintf(stderr, "reference: singular matrix of size %d at column %d\n", n, k);
        abort();
    }
    if (best == k) return 0;
    for (int j = 0; j < n; j++) {
        double complex t = a[(size_t)k * n + j];
        a[(size_t)k * n + j] = a[(size_t)best * n + j];
        a[(size_t)best * n + j] = t;
        if (!b) continue;
        t = b[(size_t)k * n + j];
        b[(size_t)k * n + j] = b[(size_t)best * n + j];
        b[(size_t)best * n + j] = t;
    }
    return 1;
}

double complex ref_log_det(int n, const double complex *a)
{
    double complex *m = numbers_new((size_t)n * n), sum = 0;
    memcpy(m, a, (size_t)n * n * sizeof *m);
    for (int k = 0; k < n; k++) {
        double sign = pivot(m, NULL, n, k) ? -1 : 1;
        double complex d = m[(size_t)k * n + k];
        sum += clog(sign * d);
        for (int i = k + 1; i < n; i++) {
            double complex factor = m[(size_t)i * n + k] / d;
            for (int j = k; j < n; j++) m[(size_t)i * n + j] -= factor * m[(size_t)k * n + j];
        }
    }
    free(m);
    return sum;
}

void ref_inverse(double complex *inverse, int n, const double complex *a)
{
    double complex *m = numbers_new((size_t)n * n);
    memcpy(m, a, (size_t)n * n * sizeof *m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) inverse[(size_t)i * n + j] = i == j ? 1 : 0;
    for (int k = 0; k < n; k++) {
        pivot(m, inverse, n, k);
        double complex d = m[(size_t)k * n + k];
        for (int j = 0; j < n; j++) {
            m[(size_t)k * n + j] /= d;
            inverse[(size_t)k * n + j] /= d;
        }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            double complex factor = m[(size_t)i * n + k];
            for (int j = 0; j < n; j++) {
                m[(size_t)i * n + j] -= factor * m[(size_t)k * n + j];
                inverse[(size_t)i * n + j] -= factor * inverse[(size_t)k * n + j];
            }
        }
    }
    free(m);
}

void ref_dense(double complex *a, int n, ref_operator op, void *ctx)
{
    double complex *in = numbers_new(n), *out = numbers_new(n);
    for (int j = 0; j < n; j++) {
        in[j] = 1;
        op(out, in, ctx);
        in[j] = 0;
        for (int i = 0; i < n; i++) a[(size_t)i * n + j] = out[i];
    }
    free(in);
    free(out);
}

double ref_norm2(const double complex *a, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += creal(a[i]) * creal(a[i]) + cimag(a[i]) * cimag(a[i]);
    return sum;
}

double complex ref_dot(const double complex *a, const double complex *b, size_t n)
{
    double complex sum = 0;
    for (size_t i = 0; i < n; i++) sum += conj(a[i]) * b[i];
    return sum;
}

int ref_cg(double complex *x, const double complex *b, size_t n, ref_operator op, void *ctx, double tol,
           int max_iterations)
{
    double complex *r = numbers_new(n), *p = numbers_new(n), *q = numbers_new(n);
    memcpy(r, b, n * sizeof *r);
    memcpy(p, b, n * sizeof *p);
    memset(x, 0, n * sizeof *x);
    double rr = ref_norm2(r, n), goal = tol * tol * rr;
    int k = 0;
    for (; rr > goal && k < max_iterations; k++) {
        op(q, p, ctx);
        double alpha = rr / creal(ref_dot(p, q, n));
        for (size_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double rr_new = ref_norm2(r, n);
        for (size_t i = 0; i < n; i++) p[i] = r[i] + rr_new / rr * p[i];
        rr = rr_new;
    }
    free(r);
    free(p);
    free(q);
    return rr <= goal ? k : -1;
}
