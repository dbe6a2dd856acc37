#include "hmc/actions/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

/* A vector of which less than this is new is not used: that is rounding, and what its solve left; nor is one with NaN.
 */
#define DEPENDENT 1e-10

struct predictor {
    int most, count;
    field *kept[PREDICTOR_MAX_VECTORS]; /* the newest first */
};

predictor *predictor_create(int vectors)
{
    REQUIRE(vectors >= 0 && vectors <= PREDICTOR_MAX_VECTORS, "%d vectors of at most %d", vectors,
            PREDICTOR_MAX_VECTORS);
    predictor *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    p->most = vectors;
    return p;
}

void predictor_forget(predictor *p)
{
    for (int i = 0; i < p->count; i++) {
        field_destroy(p->kept[i]);
        p->kept[i] = NULL;
    }
    p->count = 0;
}

void predictor_destroy(predictor *p)
{
    if (!p) return;
    predictor_forget(p);
    free(p);
}

void predictor_keep(predictor *p, const field *x)
{
    if (!p->most) return;
    field *newest = p->count == p->most ? p->kept[--p->count] : field_like(x);
    memmove(p->kept + 1, p->kept, (size_t)p->count * sizeof *p->kept);
    vector_copy(newest, x);
    p->kept[0] = newest;
    p->count++;
}

static double real_dot(const field *x, const field *y)
{
    double d[2];
    vector_dot(d, x, y, 0);
    return d[0];
}

/* Orthonormal vectors of the same span, by modified Gram-Schmidt, twice against rounding; returns how many. */
static int orthonormal(field *q[PREDICTOR_MAX_VECTORS], const predictor *p)
{
    int n = 0;
    for (int i = 0; i < p->count; i++) {
        const double before = sqrt(vector_norm2(p->kept[i], 0));
        q[n] = field_like(p->kept[i]);
        vector_copy(q[n], p->kept[i]);
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < n; j++) vector_axpby(q[n], -real_dot(q[j], q[n]), q[j], 1);
        const double left = sqrt(vector_norm2(q[n], 0));
        if (left > DEPENDENT * before) {
            vector_axpby(q[n], 1 / left, q[n], 0);
            n++;
        } else field_destroy(q[n]);
    }
    return n;
}

/* c = G^-1 c by Cholesky's decomposition in the lower triangle of G; nonzero when G is not positive. */
static int solve(int n, double g[][PREDICTOR_MAX_VECTORS], double *c)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) g[i][j] -= g[i][k] * g[j][k];
            g[i][j] /= g[j][j];
            g[i][i] -= g[i][j] * g[i][j];
            c[i] -= g[i][j] * c[j];
        }
        if (!(g[i][i] > 0) || isinf(g[i][i])) return 1;
        g[i][i] = sqrt(g[i][i]);
        c[i] /= g[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) c[i] -= g[k][i] * c[k];
        c[i] /= g[i][i];
    }
    return 0;
}

int predictor_guess(predictor *p, linop *a, field *x, const field *b)
{
    field *q[PREDICTOR_MAX_VECTORS];
    double g[PREDICTOR_MAX_VECTORS][PREDICTOR_MAX_VECTORS], c[PREDICTOR_MAX_VECTORS];
    field_clear(x);
    if (!p->count) return 0;
    linop_refresh(a);
    const int n = orthonormal(q, p);
    /* x serves as A q until it becomes the guess. */
    for (int i = 0; i < n; i++) {
        linop_apply(a, x, q[i], 0);
        for (int j = 0; j <= i; j++) g[i][j] = real_dot(q[j], x);
        c[i] = real_dot(q[i], b);
    }
    field_clear(x);
    if (!solve(n, g, c))
        for (int i = 0; i < n; i++) vector_axpby(x, c[i], q[i], 1);
    for (int i = 0; i < n; i++) field_destroy(q[i]);
    return n;
}
