#include "operators/fifth.h"

#include <gsl/gsl_linalg.h>

#include "kernels/base/error.h"

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
