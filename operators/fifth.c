#include "operators/fifth.h"

#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_linalg.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

fifth_matrix fifth_step(int Ls, double mass, double unit, double step)
{
    fifth_matrix m = domainwall_matrix(Ls, Ls);
    for (int k = 0; k < Ls; k++) {
        const int below = k == 0 ? Ls - 1 : k - 1, above = k == Ls - 1 ? 0 : k + 1;
        m.of[0][k][k] += unit;
        m.of[1][k][k] += unit;
        m.of[0][k][below] += k == 0 ? -mass * step : step;
        m.of[1][k][above] += k == Ls - 1 ? -mass * step : step;
    }
    return m;
}

fifth_matrix fifth_unit(int Ls)
{
    fifth_matrix m = domainwall_matrix(Ls, Ls);
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < Ls; s++) m.of[c][s][s] = 1;
    return m;
}

fifth_matrix fifth_reflection(int Ls, double upper, double lower)
{
    fifth_matrix m = domainwall_matrix(Ls, Ls);
    for (int s = 0; s < Ls; s++) {
        m.of[0][s][Ls - 1 - s] = upper;
        m.of[1][s][Ls - 1 - s] = lower;
    }
    return m;
}

fifth_matrix fifth_inverse(const fifth_matrix *m, const char *name)
{
    fifth_matrix inverse = domainwall_matrix(m->Ls, m->Ls);
    const size_t n = (size_t)m->Ls;
    gsl_matrix *lu = gsl_matrix_alloc(n, n), *result = gsl_matrix_alloc(n, n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    REQUIRE_MEMORY(lu && result && order, "out of memory");
    for (int c = 0; c < 2; c++) {
        int sign;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) gsl_matrix_set(lu, i, j, m->of[c][i][j]);
        gsl_linalg_LU_decomp(lu, order, &sign);
        REQUIRE(gsl_linalg_LU_det(lu, sign) != 0, "%s of %d slices has no inverse", name, m->Ls);
        gsl_linalg_LU_invert(lu, order, result);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) inverse.of[c][i][j] = gsl_matrix_get(result, i, j);
    }
    gsl_permutation_free(order);
    gsl_matrix_free(result);
    gsl_matrix_free(lu);
    return inverse;
}

fifth_matrix fifth_product(const fifth_matrix *a, const fifth_matrix *b)
{
    fifth_matrix m = domainwall_matrix(a->Ls, b->from);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < a->Ls; i++)
            for (int j = 0; j < b->from; j++)
                for (int k = 0; k < a->from; k++) m.of[c][i][j] += a->of[c][i][k] * b->of[c][k][j];
    return m;
}

/* ---- complex matrices ---- */

fifth_complex fifth_real(const fifth_matrix *m)
{
    return (fifth_complex){.re = *m, .im = domainwall_matrix(m->Ls, m->from)};
}

static gsl_matrix_complex *gsl_of(const fifth_complex *m, int chirality)
{
    const size_t n = (size_t)m->re.Ls;
    gsl_matrix_complex *a = gsl_matrix_complex_alloc(n, n);
    REQUIRE_MEMORY(a, "out of memory");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            gsl_matrix_complex_set(a, i, j, gsl_complex_rect(m->re.of[chirality][i][j], m->im.of[chirality][i][j]));
    return a;
}

fifth_complex fifth_complex_inverse(const fifth_complex *m, const char *name)
{
    const size_t n = (size_t)m->re.Ls;
    if (!m->is_complex) {
        const fifth_matrix inverse = fifth_inverse(&m->re, name);
        return fifth_real(&inverse);
    }
    fifth_complex inverse = {domainwall_matrix(m->re.Ls, m->re.Ls), domainwall_matrix(m->re.Ls, m->re.Ls), 1};
    gsl_permutation *order = gsl_permutation_alloc(n);
    gsl_matrix_complex *result = gsl_matrix_complex_alloc(n, n);
    REQUIRE_MEMORY(order && result, "out of memory");
    for (int c = 0; c < 2; c++) {
        int sign;
        gsl_matrix_complex *lu = gsl_of(m, c);
        gsl_linalg_complex_LU_decomp(lu, order, &sign);
        REQUIRE(gsl_complex_abs(gsl_linalg_complex_LU_det(lu, sign)) > 0, "%s of %zu slices has no inverse", name, n);
        gsl_linalg_complex_LU_invert(lu, order, result);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                inverse.re.of[c][i][j] = GSL_REAL(gsl_matrix_complex_get(result, i, j));
                inverse.im.of[c][i][j] = GSL_IMAG(gsl_matrix_complex_get(result, i, j));
            }
        gsl_matrix_complex_free(lu);
    }
    gsl_matrix_complex_free(result);
    gsl_permutation_free(order);
    return inverse;
}

fifth_complex fifth_complex_product(const fifth_complex *a, const fifth_complex *b)
{
    const fifth_matrix rr = fifth_product(&a->re, &b->re);
    if (!a->is_complex && !b->is_complex) return fifth_real(&rr);
    const fifth_matrix ii = fifth_product(&a->im, &b->im), ri = fifth_product(&a->re, &b->im),
                       ir = fifth_product(&a->im, &b->re);
    fifth_complex m = {rr, ri, 1};
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < rr.Ls; i++)
            for (int j = 0; j < rr.from; j++) {
                m.re.of[c][i][j] -= ii.of[c][i][j];
                m.im.of[c][i][j] += ir.of[c][i][j];
            }
    return m;
}

void fifth_apply(field *out, parity p, double factor, const fifth_complex *m, int adjoint, const field *in, double b,
                 const field *add)
{
    static const double one[1][2] = {{1, 0}}, turn[2][1][2] = {{{0, 1}}, {{0, -1}}};
    domainwall_fifth(out, p, factor, &m->re, adjoint, in, b, add);
    if (!m->is_complex) return;
    field part, *y = out;
    if (out->par != p) {
        part = field_part(out, p);
        y = &part;
    }
    field *t = field_scratch(y);
    domainwall_fifth(t, p, factor, &m->im, adjoint, in, 0, NULL);
    vector_multi_axpby(1, &y, turn[adjoint], &t, one);
    if (y != out) field_written(out);
    field_destroy(t);
}
