/* The Lanczos process (C. Lanczos, J. Res. Natl. Bur. Stand. 45 (1950) 255; G. Golub and C. Van Loan, Matrix
 * Computations, chapter 10):
 *
 *   beta_j v_{j+1} = A v_j - alpha_j v_j - beta_{j-1} v_{j-1}
 *
 * The eigenvalues of the tridiagonal matrix of alpha and beta are the Ritz values; the residual of one is beta_m times
 * the last component of its eigenvector (C. Paige, 1971). */
#include "solvers/lanczos.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"

#define FIRST_LOOK 8 /* steps after which the Ritz values are looked at; then after each quarter more */

/* The outermost eigenvalues of the tridiagonal matrix and the residuals of their vectors. */
static void look(spectrum *s, const double *alpha, const double *beta, int m)
{
    gsl_matrix *t = gsl_matrix_calloc((size_t)m, (size_t)m), *vectors = gsl_matrix_alloc((size_t)m, (size_t)m);
    gsl_vector *values = gsl_vector_alloc((size_t)m);
    gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc((size_t)m);
    REQUIRE_MEMORY(t && vectors && values && work, "out of memory");
    for (int j = 0; j < m; j++) {
        gsl_matrix_set(t, (size_t)j, (size_t)j, alpha[j]);
        if (j + 1 == m) break;
        gsl_matrix_set(t, (size_t)j, (size_t)j + 1, beta[j]);
        gsl_matrix_set(t, (size_t)j + 1, (size_t)j, beta[j]);
    }
    gsl_eigen_symmv(t, values, vectors, work);
    const size_t low = gsl_vector_min_index(values), high = gsl_vector_max_index(values), last = (size_t)m - 1;
    s->low = gsl_vector_get(values, low);
    s->high = gsl_vector_get(values, high);
    s->low_error = beta[last] * fabs(gsl_matrix_get(vectors, last, low));
    s->high_error = beta[last] * fabs(gsl_matrix_get(vectors, last, high));
    gsl_eigen_symmv_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(t);
}

/* A random vector of unit norm. */
static field *start_vector(linop *a, uint64_t seed)
{
    field *random = field_create_shape(a->lat, &a->shape, PREC_DOUBLE, a->par, a->where), *v = linop_vector(a, 1);
    vector_random(random, seed, RANDOM_LANCZOS, 0);
    vector_copy(v, random);
    field_destroy(random);
    vector_axpby(v, 1 / sqrt(vector_norm2(v, 0)), v, 0);
    return v;
}

spectrum lanczos_bounds(linop *a, uint64_t seed, int max_steps, double tolerance)
{
    spectrum s = {.status = LANCZOS_TOO_MANY_STEPS};
    double *alpha = malloc((size_t)max_steps * sizeof *alpha), *beta = malloc((size_t)max_steps * sizeof *beta);
    REQUIRE(max_steps > 0 && alpha && beta, "%d steps", max_steps);
    linop_refresh(a);
    field *v = start_vector(a, seed), *before = field_like(v), *w = field_like(v);
    double size = 0; /* of A, as far as it is known */
    for (int m = 0, next = FIRST_LOOK; m < max_steps && s.status == LANCZOS_TOO_MANY_STEPS; m++) {
        double d[2];
        linop_apply(a, w, v, 0);
        if (m > 0) vector_axpby(w, -beta[m - 1], before, 1);
        vector_dot(d, v, w, 0);
        alpha[m] = d[0];
        beta[m] = sqrt(vector_axpy_norm2(w, -alpha[m], v, 0));
        s.steps = m + 1;
        size = fmax(size, fabs(alpha[m]) + beta[m]);
        if (!isfinite(size) || !isfinite(alpha[m]) || fabs(d[1]) > 1e-3 * size) {
            s.status = LANCZOS_BROKEN;
            break;
        }
        /* The vectors so far span an invariant subspace: rounding is all that is left of w. */
        const int closed = beta[m] <= 1e-14 * size;
        if (s.steps == next || s.steps == max_steps || closed) {
            next += next / 4;
            look(&s, alpha, beta, s.steps);
            if (s.low <= -s.low_error) s.status = LANCZOS_BROKEN;
            else if (s.low_error <= tolerance * s.low && s.high_error <= tolerance * s.high)
                s.status = LANCZOS_CONVERGED;
            if (closed || v->lat->planned) break;
        }
        field *free_one = before;
        before = v;
        v = w;
        w = free_one;
        vector_axpby(v, 1 / beta[m], v, 0);
    }
    field_destroy(w);
    field_destroy(before);
    field_destroy(v);
    free(beta);
    free(alpha);
    return s;
}
