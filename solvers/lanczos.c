/* The Lanczos process (C. Lanczos, J. Res. Natl. Bur. Stand. 45 (1950) 255; G. Golub and C. Van Loan, Matrix
 * Computations, chapter 10):
 *
 *   beta_j v_{j+1} = A v_j - alpha_j v_j - beta_{j-1} v_{j-1}
 *
 * The eigenvalues of the tridiagonal matrix of alpha and beta are the Ritz values; the residual of one is beta_m times
 * the last component of its eigenvector (C. Paige, 1971). */
#include "solvers/lanczos.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"
#include "solvers/solver.h"

#define FIRST_LOOK 8 /* steps after which the Ritz values are looked at; then after each quarter more */

/* A pivot of T - x that is never zero, so that the next one can be computed. */
static double pivot(double value, double size)
{
    const double least = 1e-300 + 1e-30 * size;
    return fabs(value) < least ? -least : value;
}

/* How many eigenvalues of the tridiagonal matrix T of alpha and beta lie below x (Sturm's theorem; Golub and Van Loan,
 * section 8.4): the negative pivots of T - x, which are left in d. */
static int pivots_down(double *d, const double *alpha, const double *beta, int m, double x, double size)
{
    int below = 0;
    for (int j = 0; j < m; j++) {
        d[j] = pivot(alpha[j] - x - (j > 0 ? beta[j - 1] * beta[j - 1] / d[j - 1] : 0), size);
        below += d[j] < 0;
    }
    return below;
}

/* The pivots of T - x from the last row up. */
static void pivots_up(double *e, const double *alpha, const double *beta, int m, double x, double size)
{
    for (int j = m - 1; j >= 0; j--) e[j] = pivot(alpha[j] - x - (j + 1 < m ? beta[j] * beta[j] / e[j + 1] : 0), size);
}

/* Eigenvalue number n of T, counted from the lowest, to the last bit by bisection; all of T is within size of zero. */
static double eigenvalue(double *d, const double *alpha, const double *beta, int m, int n, double size)
{
    double low = -size, high = size;
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) return middle;
        if (pivots_down(d, alpha, beta, m, middle, size) > n) high = middle;
        else low = middle;
    }
}

/* The size of the last component of the unit eigenvector of T that belongs to the eigenvalue x. The vector starts at the
 * row where the pivots from above and from below meet with the least rest, so that no component is a difference of
 * large numbers (K. Fernando, SIAM J. Matrix Anal. Appl. 18 (1997) 1013). */
static double last_component(double *d, double *e, const double *alpha, const double *beta, int m, double x,
                             double size)
{
    pivots_down(d, alpha, beta, m, x, size);
    pivots_up(e, alpha, beta, m, x, size);
    int k = 0;
    double least = INFINITY;
    for (int j = 0; j < m; j++) {
        const double rest = fabs(d[j] + e[j] - (alpha[j] - x));
        if (rest < least) least = rest, k = j;
    }
    double norm2 = 1, z = 1;
    for (int j = k; j > 0; j--) z *= -beta[j - 1] / d[j - 1], norm2 += z * z;
    z = 1;
    for (int j = k; j + 1 < m; j++) z *= -beta[j] / e[j + 1], norm2 += z * z;
    return fabs(z) / sqrt(norm2);
}

/* The outermost eigenvalues of the tridiagonal matrix and the residuals of their vectors: of order m steps, where all
 * eigenvectors would take m^3, which is longer than the applications of A where a spectrum is wide. */
static void look(spectrum *s, const double *alpha, const double *beta, int m)
{
    double *d = malloc(2 * (size_t)m * sizeof *d), *e = d + m, size = 0;
    REQUIRE_MEMORY(d, "out of memory");
    for (int j = 0; j < m; j++)
        size = fmax(size, fabs(alpha[j]) + (j > 0 ? fabs(beta[j - 1]) : 0) + (j + 1 < m ? fabs(beta[j]) : 0));
    size *= 1 + 1e-12; /* Gershgorin's bound, outside by more than rounding */
    s->low = eigenvalue(d, alpha, beta, m, 0, size);
    s->high = eigenvalue(d, alpha, beta, m, m - 1, size);
    s->low_error = beta[m - 1] * last_component(d, e, alpha, beta, m, s->low, size);
    s->high_error = beta[m - 1] * last_component(d, e, alpha, beta, m, s->high, size);
    free(d);
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
    double size = 0; /* size of A, as far as it is known */
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
        const int given_up = solver_interrupted(v->lat);
        if (s.steps == next || s.steps == max_steps || closed || given_up) {
            next += next / 4;
            look(&s, alpha, beta, s.steps);
            if (s.low <= -s.low_error) s.status = LANCZOS_BROKEN;
            else if (s.low_error <= tolerance * s.low && s.high_error <= tolerance * s.high)
                s.status = LANCZOS_CONVERGED;
            if (closed || given_up || v->lat->planned) break;
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
