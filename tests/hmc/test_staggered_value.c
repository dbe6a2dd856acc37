/* The action of powers of staggered determinants against dense linear algebra. With the Gaussian numbers eta of the
 * heat bath, and K and K' the operator on the links of the heat bath and on others, S' = sum_k |r(K')^(1/2) r(K)^(-1/2)
 * eta_k|^2,  r(K) = prod_i (K + m_i^2 - m_0^2)^(-N_i/4n) exactly, by eigenvalues: heat bath, factors of masses, roots
 * and the value all show in it. */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>
#include <stdlib.h>

#include "hmc/actions/action_kind.h"
#include "kernels/ops/vector.h"
#include "tests/hmc/bench.h"
#include "tests/hmc/staggered.h"

/* Complex numbers of a vector on one parity of 4^4. */
#define N 384

typedef struct {
    gsl_vector *values;
    gsl_matrix_complex *vectors; /* columns */
} spectrum;

/* Where number i of a vector of one parity is in the slices that a field is exported as. */
static void places(parity p, size_t place[N])
{
    size_t n = 0;
    for (size_t site = 0; site < 256; site++) {
        const size_t sum = site % 4 + site / 4 % 4 + site / 16 % 4 + site / 64;
        for (size_t c = 0; c < 3 && sum % 2 == p; c++) place[n++] = 3 * site + c;
    }
    CHECK_INT((long long)n, N);
}

static void numbers_of(const field *f, const size_t place[N], gsl_vector_complex *out)
{
    double all[2 * 768] = {0};
    for (int t = 0; t < 4; t++) field_export(f, t, all + t * 384);
    for (size_t i = 0; i < N; i++)
        gsl_vector_complex_set(out, i, gsl_complex_rect(all[2 * place[i]], all[2 * place[i] + 1]));
}

static spectrum spectrum_of(linop *op, const size_t place[N])
{
    spectrum s = {gsl_vector_alloc(N), gsl_matrix_complex_alloc(N, N)};
    gsl_matrix_complex *a = gsl_matrix_complex_alloc(N, N);
    field *x = linop_vector(op, 1), *y = linop_vector(op, 1);
    for (size_t column = 0; column < N; column++) {
        double unit[2 * 768] = {0};
        unit[2 * place[column]] = 1;
        for (int t = 0; t < 4; t++) field_import(x, t, unit + t * 384);
        linop_apply(op, y, x, 0);
        gsl_vector_complex_view image = gsl_matrix_complex_column(a, column);
        numbers_of(y, place, &image.vector);
    }
    gsl_eigen_hermv_workspace *w = gsl_eigen_hermv_alloc(N);
    gsl_eigen_hermv(a, s.values, s.vectors, w);
    gsl_eigen_hermv_free(w);
    gsl_matrix_complex_free(a);
    field_destroy(y);
    field_destroy(x);
    return s;
}

static void spectrum_free(spectrum s)
{
    gsl_vector_free(s.values);
    gsl_matrix_complex_free(s.vectors);
}

/* prod_i (lambda + m_i^2 - m_0^2)^(power N_i / 4n) */
static double product_at(const action_term *t, double lambda, double power)
{
    double log_sum = 0;
    mass_factor factors[MAX_FACTORS];
    const int n = action_kind_of(&t->action->p)->factors(t->action, t->quark, factors);
    const int fields = action_kind_of(&t->action->p)->rational(t).pseudofermions;
    for (int i = 0; i < n; i++) {
        const double mass = factors[i].mass, shift = mass * mass - t->mass * t->mass;
        log_sum += power * factors[i].flavours / (4.0 * fields) * log(lambda + shift);
    }
    return exp(log_sum);
}

/* x = V^dagger x and x = V x */
static void turn(gsl_vector_complex *x, const spectrum *s, CBLAS_TRANSPOSE_t way)
{
    gsl_vector_complex *y = gsl_vector_complex_alloc(N);
    gsl_blas_zgemv(way, gsl_complex_rect(1, 0), s->vectors, x, gsl_complex_rect(0, 0), y);
    gsl_vector_complex_memcpy(x, y);
    gsl_vector_complex_free(y);
}

static double value_by_eigenvalues(const action_term *f, const spectrum *bath, const spectrum *now,
                                   gsl_vector_complex *eta)
{
    double sum = 0;
    turn(eta, bath, CblasConjTrans);
    for (size_t i = 0; i < N; i++)
        gsl_vector_complex_set(
            eta, i,
            gsl_complex_mul_real(gsl_vector_complex_get(eta, i), product_at(f, gsl_vector_get(bath->values, i), 0.5)));
    turn(eta, bath, CblasNoTrans);
    turn(eta, now, CblasConjTrans);
    for (size_t i = 0; i < N; i++)
        sum += gsl_complex_abs2(gsl_vector_complex_get(eta, i)) * product_at(f, gsl_vector_get(now->values, i), -1);
    return sum;
}

static void check_value(const char *text, int number)
{
    const random_key key = {3, 1};
    size_t place[N];
    bench b = open_bench(text, 0, NULL);
    const action_term *f = &b.p->terms[number];
    action *a = action_of(&b, f->name);
    linop *op = quark_set_get(b.s->quarks, f->quark, f->mass)->normal;
    places(op->par, place);
    linop_refresh(op);
    const spectrum bath = spectrum_of(op, place);
    CHECK_INT(action_refresh(a, key), 0);
    momenta_random(b.s->e.momenta, 18, RANDOM_START, 0);
    gauge_update(b.s->links, 0.2, b.s->e.momenta);
    linop_refresh(op);
    const spectrum now = spectrum_of(op, place);
    const double value = value_of(a);

    double want = 0;
    field *eta = linop_vector(op, 1);
    gsl_vector_complex *numbers = gsl_vector_complex_alloc(N);
    for (int k = 0; k < action_kind_of(&f->action->p)->rational(f).pseudofermions; k++) {
        vector_random(eta, key.seed, (uint32_t)(a->purpose + k * MAX_ACTIONS), key.trajectory);
        numbers_of(eta, place, numbers);
        want += value_by_eigenvalues(f, &bath, &now, numbers);
    }
    printf("[quark.%s]: S %.12g, by eigenvalues %.12g, at the heat bath %.12g\n", a->name, value, want, a->start_value);
    CHECK_REL(value, want, 1e-9);
    CHECK(fabs(want / a->start_value - 1) > 1e-4);
    gsl_vector_complex_free(numbers);
    field_destroy(eta);
    spectrum_free(now);
    spectrum_free(bath);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    check_value(asqtad, 0);     /* 2+1 flavours over the heavy mass, in one section */
    check_value(asqtad, 1);     /* three roots, on the other parity */
    check_value(hisq_apart, 0); /* two roots */
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
