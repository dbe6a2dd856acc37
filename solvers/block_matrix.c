#include "solvers/block_matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "kernels/base/error.h"
#include "kernels/ops/multiblas.h"
#include "kernels/ops/vector.h"

/* ---- small matrices ---- */

block_matrix *block_zero(int n, int m)
{
    return gsl_matrix_complex_calloc((size_t)n, (size_t)m);
}

void block_free(block_matrix *a)
{
    if (a) gsl_matrix_complex_free(a);
}

block_matrix *block_product(const block_matrix *a, int dagger_a, const block_matrix *b, int dagger_b)
{
    block_matrix *c = gsl_matrix_complex_calloc(dagger_a ? a->size2 : a->size1, dagger_b ? b->size1 : b->size2);
    gsl_blas_zgemm(dagger_a ? CblasConjTrans : CblasNoTrans, dagger_b ? CblasConjTrans : CblasNoTrans, GSL_COMPLEX_ONE,
                   a, b, GSL_COMPLEX_ZERO, c);
    return c;
}

block_matrix *block_dagger(const block_matrix *a)
{
    block_matrix *b = gsl_matrix_complex_alloc(a->size2, a->size1);
    for (size_t i = 0; i < a->size1; i++)
        for (size_t j = 0; j < a->size2; j++)
            gsl_matrix_complex_set(b, j, i, gsl_complex_conjugate(gsl_matrix_complex_get(a, i, j)));
    return b;
}

void block_scale(block_matrix *a, double factor)
{
    gsl_matrix_complex_scale(a, gsl_complex_rect(factor, 0));
}

void block_scale_columns(block_matrix *a, const double *factors)
{
    for (size_t i = 0; i < a->size1; i++)
        for (size_t j = 0; j < a->size2; j++) {
            const gsl_complex x = gsl_matrix_complex_get(a, i, j);
            gsl_matrix_complex_set(a, i, j, gsl_complex_mul_real(x, factors[j]));
        }
}

double block_column_norm2(const block_matrix *a, int j)
{
    double sum = 0;
    for (size_t i = 0; i < a->size1; i++) sum += gsl_complex_abs2(gsl_matrix_complex_get(a, i, (size_t)j));
    return sum;
}

static int all_numbers(const block_matrix *a)
{
    for (size_t k = 0; k < 2 * a->size1 * a->size2; k++)
        if (!isfinite(a->data[k])) return 0;
    return 1;
}

/* The Cholesky factor L of A = L L^dagger, in the lower triangle of a copy, or null. */
static block_matrix *cholesky(const block_matrix *a)
{
    block_matrix *l = gsl_matrix_complex_alloc(a->size1, a->size2);
    gsl_matrix_complex_memcpy(l, a);
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    const int failed = gsl_linalg_complex_cholesky_decomp(l) || !all_numbers(l);
    gsl_set_error_handler(before);
    if (!failed) return l;
    block_free(l);
    return NULL;
}

block_matrix *block_inverse(const block_matrix *a)
{
    block_matrix *l = all_numbers(a) ? cholesky(a) : NULL;
    if (l) gsl_linalg_complex_cholesky_invert(l);
    return l;
}

block_matrix *block_dot(const field *x, const field *y, int hermitian)
{
    block_matrix *a = block_zero(x->nrhs, y->nrhs);
    multiblas_dot((double(*)[2])(void *)a->data, x, y, hermitian);
    return a;
}

void block_axpy(field *out, double factor, const block_matrix *a, const field *x, double b, const field *w)
{
    block_matrix *c = gsl_matrix_complex_alloc(a->size1, a->size2);
    REQUIRE((int)a->size1 == x->nrhs && (int)a->size2 == out->nrhs, "%zu x %zu coefficients for %d and %d vectors",
            a->size1, a->size2, x->nrhs, out->nrhs);
    gsl_matrix_complex_memcpy(c, a);
    block_scale(c, factor);
    multiblas_axpy(out, (const double(*)[2])(void *)c->data, x, b, w);
    block_free(c);
}

/* ---- thin QR ---- */

/* Eigenvalues of M^dagger M, of columns of norm one, that count as rounding; and those below which Q has to be made
 * orthonormal once more. */
#define RANK_TOLERANCE 1e-13
#define AGAIN_BELOW 1e-6
#define PASSES 4

/* Q = M T and C M's coefficients: Q C = M. */
typedef struct {
    block_matrix *T, *C;
    double least; /* eigenvalue, or a bound of its size */
} factors;

/* Factors of H = L L^dagger: C = L^dagger, T = C^-1. */
static factors factor_cholesky(const block_matrix *l)
{
    const size_t n = l->size1;
    factors f = {block_zero((int)n, (int)n), block_zero((int)n, (int)n), 1};
    gsl_matrix_complex_set_identity(f.T);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            gsl_matrix_complex_set(f.C, j, i, gsl_complex_conjugate(gsl_matrix_complex_get(l, i, j)));
        f.least = fmin(f.least, gsl_complex_abs2(gsl_matrix_complex_get(l, i, i)));
    }
    gsl_blas_ztrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, GSL_COMPLEX_ONE, f.C, f.T);
    return f;
}

/* Factors of H = V e V^dagger, without eigenvalues below the tolerance: C = e^1/2 V^dagger, T = V e^-1/2. */
static factors factor_spectrum(const block_matrix *h, double tolerance)
{
    const size_t n = h->size1;
    block_matrix *a = gsl_matrix_complex_alloc(n, n), *v = gsl_matrix_complex_alloc(n, n);
    gsl_vector *e = gsl_vector_alloc(n);
    gsl_eigen_hermv_workspace *w = gsl_eigen_hermv_alloc(n);
    gsl_matrix_complex_memcpy(a, h);
    gsl_eigen_hermv(a, e, v, w);
    gsl_eigen_hermv_sort(e, v, GSL_EIGEN_SORT_VAL_DESC);
    int rank = 0;
    while (rank < (int)n && gsl_vector_get(e, (size_t)rank) > tolerance * gsl_vector_get(e, 0)) rank++;
    if (rank < 1) rank = 1;
    factors f = {block_zero((int)n, rank), block_zero(rank, (int)n), gsl_vector_get(e, (size_t)rank - 1)};
    for (size_t k = 0; k < (size_t)rank; k++) {
        const double root = sqrt(gsl_vector_get(e, k));
        for (size_t i = 0; i < n; i++) {
            const gsl_complex x = gsl_matrix_complex_get(v, i, k);
            gsl_matrix_complex_set(f.T, i, k, gsl_complex_div_real(x, root));
            gsl_matrix_complex_set(f.C, k, i, gsl_complex_mul_real(gsl_complex_conjugate(x), root));
        }
    }
    gsl_eigen_hermv_free(w);
    gsl_vector_free(e);
    block_free(v);
    block_free(a);
    return f;
}

/* Rounding of a column by its storage. */
static double storage_step(precision prec)
{
    static const double step[PREC_COUNT] = {DBL_EPSILON, FLT_EPSILON, 1.0 / 32767, 1.0 / 127};
    return step[prec];
}

/* Factors of H = M^dagger M. The columns of M are scaled to norm one first: undone in C, done in T. Null C: H is zero. */
static factors factor(block_matrix *h, precision prec)
{
    const size_t n = h->size1;
    const double step = 4 * storage_step(prec), tolerance = fmax(RANK_TOLERANCE, step * step);
    double size[BLOCK_MOST];
    int zeros = 0;
    for (size_t j = 0; j < n; j++) {
        size[j] = sqrt(GSL_REAL(gsl_matrix_complex_get(h, j, j)));
        zeros += !(size[j] > 0);
    }
    if (zeros == (int)n) return (factors){0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double by = size[i] * size[j];
            const gsl_complex x = gsl_matrix_complex_get(h, i, j);
            gsl_matrix_complex_set(h, i, j, by > 0 ? gsl_complex_div_real(x, by) : GSL_COMPLEX_ZERO);
        }
    block_matrix *l = zeros ? NULL : cholesky(h);
    factors f = {0};
    if (l) f = factor_cholesky(l);
    if (!l || f.least < 1e-10 || f.least < tolerance) {
        block_free(f.T);
        block_free(f.C);
        f = factor_spectrum(h, tolerance);
    }
    block_free(l);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < f.C->size1; k++) {
            const gsl_complex c = gsl_matrix_complex_get(f.C, k, j), t = gsl_matrix_complex_get(f.T, j, k);
            gsl_matrix_complex_set(f.C, k, j, gsl_complex_mul_real(c, size[j]));
            gsl_matrix_complex_set(f.T, j, k, size[j] > 0 ? gsl_complex_div_real(t, size[j]) : GSL_COMPLEX_ZERO);
        }
    }
    return f;
}

static field *columns_like(const field *f, int n)
{
    field_shape shape = field_shape_of(f);
    shape.nrhs = n;
    return field_create_shape(f->lat, &shape, f->prec, f->par, f->where);
}

/* *work = *q T, and the two change names; both get the columns of T. */
static void apply_factor(field **q, field **work, const block_matrix *T)
{
    const int n = (int)T->size2, fewer = n < (*q)->nrhs;
    if (fewer) {
        field_destroy(*work);
        *work = columns_like(*q, n);
    }
    block_axpy(*work, 1, T, *q, 0, NULL);
    field *const old = *q;
    *q = *work;
    *work = old;
    if (!fewer) return;
    field_destroy(*work);
    *work = columns_like(*q, n);
}

block_matrix *block_qr(field **q, field **work, block_matrix *gram)
{
    block_matrix *C = NULL;
    for (int pass = 0; pass < PASSES; pass++) {
        block_matrix *h = pass == 0 && gram ? gram : block_dot(*q, *q, 1);
        factors f = {0};
        if (all_numbers(h)) f = factor(h, (*q)->prec);
        block_free(h);
        if (!f.C) {
            block_free(C);
            return NULL;
        }
        apply_factor(q, work, f.T);
        block_matrix *product = C ? block_product(f.C, 0, C, 0) : f.C;
        if (C) {
            block_free(C);
            block_free(f.C);
        }
        C = product;
        block_free(f.T);
        if (!(f.least < AGAIN_BELOW)) break;
    }
    return C;
}
