/* The rational action of a non-degenerate doublet: S is phi^dagger K^(-1/2) phi by dense algebra, with phi = K^(1/4) eta of the heat
 * bath, so that it stands for |det M| (tests/operators/test_doublet.c has det K), on the links of the heat bath and on others, with open time, too; and
 * <exp(-dH)> = 1. */
#include <complex.h>
#include <stdlib.h>

#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>

#include "hmc/quarks/quark.h"
#include "kernels/ops/vector.h"
#include "tests/hmc/dynamics.h"
#include "tests/kernels/kit.h"

static const char text[] =
    "[run]\noutput = none\nseed = 3\n"
    "[lattice]\nsize = 2.2.2.2\n"
    "[gauge]\nbeta = 5.6\n"
    "[integrator.0]\nscheme = omelyan2\nsteps = 3\nactions = heavy gauge\n"
    "[quark.heavy]\nkind = twisted_doublet\nmass = -0.3\nmu_sigma = 0.3\nmu_delta = 0.35\nc_sw = 1.2\n"
    "[action.heavy]\nkind = rational\nquark = heavy\nflavours = 2\nsolver = s\n"
    "[solver.s]\ntype = cg\ninner_precision = double\ntolerance = 1e-12\n";

/* Rows and columns: the numbers of a vector on its parity. */
typedef struct {
    size_t n;
    gsl_matrix_complex *v; /* eigenvectors, one a column */
    gsl_vector *value;
} spectrum;

/* The complex numbers of a vector on the sites of its parity. */
static double complex *numbers_of(const field *x, size_t *n)
{
    double complex *all = (double complex *)kit_gather(x);
    const int *s = x->lat->size;
    const size_t volume = (size_t)x->lat->volume, of_site = kit_reals(x) / volume / 2;
    *n = 0;
    for (size_t i = 0; i < volume; i++) {
        const int c[4] = {(int)i % s[0], (int)i / s[0] % s[1], (int)i / (s[0] * s[1]) % s[2],
                          (int)i / (s[0] * s[1] * s[2])};
        if ((c[0] + c[1] + c[2] + c[3]) % 2 != (int)x->par) continue;
        memmove(all + *n, all + i * of_site, of_site * sizeof *all);
        *n += of_site;
    }
    return all;
}

/* Eigenvalues and eigenvectors of a Hermitian operator, from its columns. */
static spectrum spectrum_of(linop *op)
{
    field *x = linop_vector(op, 1), *y = field_like(x);
    const size_t reals = kit_reals(x);
    double *unit = kit_alloc(reals, sizeof *unit);
    spectrum s = {0};
    size_t column = 0;
    linop_refresh(op);
    for (size_t k = 0; k < reals; k += 2) {
        size_t n;
        unit[k] = 1;
        kit_scatter(x, unit);
        unit[k] = 0;
        if (vector_norm2(x, 0) == 0) continue; /* of the other parity */
        linop_apply(op, y, x, 0);
        double complex *a = numbers_of(y, &n);
        if (!s.v) s = (spectrum){n, gsl_matrix_complex_alloc(n, n), gsl_vector_alloc(n)};
        for (size_t i = 0; i < n; i++)
            gsl_matrix_complex_set(s.v, i, column, gsl_complex_rect(creal(a[i]), cimag(a[i])));
        column++;
        free(a);
    }
    CHECK_INT(column, s.n);
    gsl_matrix_complex *h = gsl_matrix_complex_alloc(s.n, s.n);
    gsl_matrix_complex_memcpy(h, s.v);
    gsl_eigen_hermv_workspace *work = gsl_eigen_hermv_alloc(s.n);
    gsl_eigen_hermv(h, s.value, s.v, work);
    gsl_eigen_hermv_free(work);
    gsl_matrix_complex_free(h);
    free(unit);
    field_destroy(y);
    field_destroy(x);
    return s;
}

static void spectrum_free(spectrum *s)
{
    gsl_matrix_complex_free(s->v);
    gsl_vector_free(s->value);
}

/* out = K^power in */
static void power_of(double complex *out, const spectrum *s, double power, const double complex *in)
{
    memset(out, 0, s->n * sizeof *out);
    for (size_t k = 0; k < s->n; k++) {
        double complex along = 0;
        for (size_t i = 0; i < s->n; i++) {
            const gsl_complex z = gsl_matrix_complex_get(s->v, i, k);
            along += (GSL_REAL(z) - I * GSL_IMAG(z)) * in[i];
        }
        along *= pow(gsl_vector_get(s->value, k), power);
        for (size_t i = 0; i < s->n; i++) {
            const gsl_complex z = gsl_matrix_complex_get(s->v, i, k);
            out[i] += along * (GSL_REAL(z) + I * GSL_IMAG(z));
        }
    }
}

static action *heavy_of(const bench *b)
{
    for (int i = 0; i < b->s->e.nactions; i++)
        if (!strcmp(b->s->e.actions[i]->name, "heavy")) return b->s->e.actions[i];
    return NULL;
}

static double action_now(action *a)
{
    double s = NAN;
    CHECK_INT(action_begin(a), 0);
    CHECK_INT(action_value(a, &s), 0);
    return s;
}

static void test_power(const char *form, int open)
{
    const char *const overrides[] = {form, "lattice.size=2.2.2.4", "lattice.time_boundary=open", "quark.heavy.c_F=1.2"};
    bench b = open_bench(text, open ? 4 : 1, overrides);
    action *a = heavy_of(&b);
    fermion *q = quark_kind_of(&b.p->quarks[0].p)->make(b.s->links, &b.p->quarks[0].p, NULL, 0);
    field *eta = linop_vector(q->normal, 1);
    size_t n;
    CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
    vector_random(eta, 3, (uint32_t)a->purpose, 1);
    CHECK_REL(action_now(a), vector_norm2(eta, 0), 1e-10);
    double complex *numbers = numbers_of(eta, &n), *phi = kit_alloc(n, sizeof *phi), *w = kit_alloc(n, sizeof *w);
    spectrum s = spectrum_of(q->normal);
    CHECK_INT(s.n, n);
    power_of(phi, &s, 0.25, numbers);
    spectrum_free(&s);
    gauge_update(b.s->links, 0.3, b.s->e.momenta);
    s = spectrum_of(q->normal);
    power_of(w, &s, -0.5, phi);
    spectrum_free(&s);
    double complex want = 0;
    for (size_t i = 0; i < n; i++) want += conj(phi[i]) * w[i];
    const double have = action_now(a);
    printf("S of the doublet, %s%s: %.12g, dense %.12g, at the heat bath %.6g\n", form, open ? ", open time" : "", have, creal(want),
           vector_norm2(eta, 0));
    CHECK_REL(have, creal(want), 1e-10);
    CHECK(fabs(have - vector_norm2(eta, 0)) > 1e-3 * have);
    free(w);
    free(phi);
    free(numbers);
    field_destroy(eta);
    fermion_destroy(q);
    close_bench(&b);
}

static void test_exp(void)
{
    enum { WARMUP = 20, COUNT = 200 };
    static double weight[COUNT];
    double error;
    bench b = open_bench(text, 0, NULL);
    for (int i = 0; i < WARMUP + COUNT; i++) {
        const trajectory_result r = trajectory_run(&b.s->e, (random_key){3, (uint32_t)i + 1}, 1, i < WARMUP / 2);
        CHECK_INT(r.status, EVOLVE_DONE);
        if (i >= WARMUP) weight[i - WARMUP] = exp(-r.dh);
    }
    const double one = mean(weight, COUNT, &error);
    printf("<exp(-dH)> %.4f +- %.4f\n", one, error);
    CHECK_NEAR(one, 1, 3 * error);
    CHECK(error > 1e-4 && error < 0.1);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int open = 0; open < 2; open++) {
        test_power("quark.heavy.schur=asymmetric", open);
        test_power("quark.heavy.schur=symmetric", open);
    }
    test_exp();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
