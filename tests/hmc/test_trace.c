/* Stochastic traces against the dense inverse of M, of staggered and Wilson quarks on 2^3 x 4: the mean agrees within its error,
 * and the variance is that which the elements of M^-1 predict for each kind of noise, dilution and probing; the truncated solver has
 * no bias where its rough solver has much; low modes have their exact part, and leave the noise that the rest predicts. */
#include "tests/hmc/inverse.h"

#include <gsl/gsl_blas.h>

#include "hmc/measure/low_modes.h"
#include "hmc/measure/solves.h"
#include "tests/hmc/eigenvectors.h"

#define VECTORS "600"

static double trace_of(const gsl_matrix_complex *a)
{
    double sum = 0;
    for (int i = 0; i < (int)a->size1; i++) sum += a->data[2 * ((size_t)i * a->tda + (size_t)i)];
    return sum;
}

/* ---- what is predicted ---- */

static int is(const scene *s, const char *key)
{
    char text[PARAM_TEXT_SIZE];
    const param *p = param_find(observable_number(param_kind(observable_section(0), "trace"))->own, key);
    param_format(p, &s->m.p, text, sizeof text);
    return !strcmp(text, "yes");
}

static int noise_is(const scene *s, const char *noise)
{
    char text[PARAM_TEXT_SIZE];
    param_format(param_find(observable_number(param_kind(observable_section(0), "trace"))->own, "noise"), &s->m.p, text,
                 sizeof text);
    return !strcmp(text, noise);
}

static double number(const scene *s, const char *key)
{
    char text[PARAM_TEXT_SIZE];
    param_format(param_find(observable_number(param_kind(observable_section(0), "trace"))->own, key), &s->m.p, text,
                 sizeof text);
    return atof(text);
}

/* Bits of nested colourings of a site: the parity, x, y and z, the second bit of t, by which all sites differ. */
static int colour(int site)
{
    int x[4];
    ref_coordinates(x, shape, (size_t)site);
    return ((x[0] + x[1] + x[2] + x[3]) & 1) + 2 * x[0] + 4 * x[1] + 8 * x[2] + 16 * (x[3] / 2);
}

/* Whether components i and j are in one part of a vector, or their product is the same in all Hadamard vectors. */
static int together(const scene *s, int i, int j)
{
    const int per = s->n / SITES, a = i / per, b = j / per, t = a / 8, u = b / 8;
    const int odd_a = (a % 2 + a / 2 % 2 + a / 4 % 2 + t) & 1, odd_b = (b % 2 + b / 2 % 2 + b / 4 % 2 + u) & 1;
    const int probes = (int)number(s, "probing");
    return (colour(a) - colour(b)) % probes == 0 && (!is(s, "by_time") || t == u) &&
           (!is(s, "by_parity") || odd_a == odd_b) && (!is(s, "by_colour") || i % 3 == j % 3) &&
           (!is(s, "by_spin") || i % per / 3 == j % per / 3);
}

/* Of Re sum_d e_d^dagger A e_d: with H = (A + A^dagger) / 2 the sum over pairs of |H_ij|^2, for real noise of 2 (Re H_ij)^2; and
 * of Gaussian noise the diagonal. */
static double variance_of(const scene *s, const gsl_matrix_complex *A)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            const gsl_complex h =
                gsl_complex_mul_real(gsl_complex_add(at(A, i, j), gsl_complex_conjugate(at(A, j, i))), 0.5);
            if (i == j) sum += noise_is(s, "gaussian") ? gsl_complex_abs2(h) : 0;
            else if (together(s, i, j)) sum += noise_is(s, "z2") ? 2 * GSL_REAL(h) * GSL_REAL(h) : gsl_complex_abs2(h);
        }
    return sum;
}

/* ---- what is measured ---- */

static measure_result measured(const scene *s)
{
    const measure_context c = {s->p, s->links, NULL, NULL, -1, NULL};
    measure_result r = measure(&c, &s->m);
    KIT_INT(r.failed, 0);
    if (r.failed) printf("%s\n", r.trouble);
    return r;
}

/* `A` is what noise is left with, `exact` the trace of all. */
static void check_noise(const scene *s, const gsl_matrix_complex *A, double exact)
{
    measure_result r = measured(s);
    const double variance = variance_of(s, A) / (SITES * SITES), mean = measure_value(&r, -1, "trace");
    const double error = measure_value(&r, -1, "trace_error"), found = error * error * r.nrows;
    KIT_INT(r.nrows, atoi(VECTORS));
    KIT_NEAR(mean, exact / SITES, 5 * sqrt(variance / r.nrows) + 1e-9);
    KIT_NEAR(found, variance, 6 * sqrt(2.0 / r.nrows) * variance + 1e-16);
    measure_result_free(&r);
}

static void test_dilution(const char *kind, double mass, int spins)
{
    static const char *const noises[] = {"z2", "z4", "gaussian"};
    static const char *const ways[][2] = {{"by_time", ""}, {"by_colour", ""},          {"by_parity", ""},
                                          {"by_spin", ""}, {"by_parity", "by_colour"}, {"by_time", "by_spin"}};
    scene s = {0};
    open_scene(&s, kind, mass, "trace", VECTORS);
    const double exact = trace_of(s.A), plain = variance_of(&s, s.A);
    for (int i = 0; i < 3; i++) {
        kit_where("%s, %s noise", kind, noises[i]);
        observe_set(&s.m, "noise", noises[i]);
        check_noise(&s, s.A, exact);
    }
    observe_set(&s.m, "noise", "z4");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (spins == 1 && (!strcmp(ways[i][0], "by_spin") || !strcmp(ways[i][1], "by_spin"))) continue;
        kit_where("%s, dilution %s %s", kind, ways[i][0], ways[i][1]);
        for (int k = 0; k < 2; k++)
            if (ways[i][k][0]) observe_set(&s.m, ways[i][k], "yes");
        KIT_CHECK(variance_of(&s, s.A) <= plain);
        check_noise(&s, s.A, exact);
        for (int k = 0; k < 2; k++)
            if (ways[i][k][0]) observe_set(&s.m, ways[i][k], "no");
    }
    for (int probes = 2; probes <= (spins == 1 ? 8 : 2); probes *= 2) {
        char text[16];
        snprintf(text, sizeof text, "%d", probes);
        kit_where("%s, probing with %d vectors", kind, probes);
        observe_set(&s.m, "probing", text);
        KIT_CHECK(variance_of(&s, s.A) <= plain);
        check_noise(&s, s.A, exact);
    }
    close_scene(&s);
}

/* The rough solver leaves 4 tenths of the residual: its mean is many errors away, that of both solvers is not. */
static void test_truncated(void)
{
    scene s = {0};
    open_scene(&s, "staggered", 0.1, "trace", VECTORS);
    s.p->nsolvers = 2;
    s.p->solvers[1] = s.p->solvers[0];
    snprintf(s.p->solvers[1].name, sizeof s.p->solvers[1].name, "rough");
    s.p->solvers[1].p.tolerance = 0.4;
    observe_set(&s.m, "rough_solver", "rough");
    observe_set(&s.m, "vectors", "200");
    observe_set(&s.m, "rough_vectors", "1000");
    kit_where("the truncated solver");
    measure_result r = measured(&s);
    const double exact = trace_of(s.A) / SITES, mean = measure_value(&r, -1, "trace");
    double rough = 0;
    for (int i = 200; i < 1200; i++) rough += measure_value(&r, i, "rough") / 1000;
    KIT_NEAR(mean, exact, 5 * measure_value(&r, -1, "trace_error"));
    KIT_CHECK(fabs(rough - exact) > 5 * measure_value(&r, -1, "trace_error"));
    KIT_CHECK(fabs(measure_value(&r, -1, "correction")) > 5 * measure_value(&r, -1, "correction_error"));
    measure_result_free(&r);
    close_scene(&s);
}

/* A (1 - P), with P of the vectors. */
static gsl_matrix_complex *without(const scene *s, const low_modes *l)
{
    const size_t n = (size_t)s->n;
    gsl_matrix_complex *P = gsl_matrix_complex_alloc(n, n), *rest = gsl_matrix_complex_alloc(n, n);
    gsl_matrix_complex_set_identity(P);
    for (int k = 0; k < low_modes_count(l); k++) {
        field *v = fermion_vector(s->q);
        const field mode = low_modes_vector(l, k);
        vector_axpby(v, 1, &mode, 0);
        double *c = kit_gather(v);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                const gsl_complex a = gsl_complex_rect(c[2 * i], c[2 * i + 1]),
                                  b = gsl_complex_rect(c[2 * j], -c[2 * j + 1]);
                gsl_matrix_complex_set(P, i, j,
                                       gsl_complex_sub(gsl_matrix_complex_get(P, i, j), gsl_complex_mul(a, b)));
            }
        free(c);
        field_destroy(v);
    }
    gsl_blas_zgemm(CblasNoTrans, CblasNoTrans, GSL_COMPLEX_ONE, s->A, P, GSL_COMPLEX_ZERO, rest);
    gsl_matrix_complex_free(P);
    return rest;
}

/* The variance that modes leave is less than without them by a factor of at least `gain`. */
static void test_low_modes(const char *kind, double mass, double gain)
{
    scene s = {0};
    char path[64];
    open_scene(&s, kind, mass, "trace", VECTORS);
    kit_where("low modes, %s", kind);
    snprintf(path, sizeof path, "test-trace-%ld.h5", (long)getpid());
    eigen_pairs *e = eigenvectors_for(s.p, s.q, &s.p->quarks[0].p, &s.p->solvers[0].p, 8, path);
    observe_set(&s.m, "low_modes", "yes");
    low_modes *l = low_modes_create(e, e->n, s.q);
    gsl_matrix_complex *rest = without(&s, l);
    const double exact = trace_of(s.A), plain = variance_of(&s, s.A);
    printf("%s, mass %g: variance %.4g, without %d modes %.4g\n", kind, mass, plain, low_modes_count(l),
           variance_of(&s, rest));
    KIT_CHECK(gain * variance_of(&s, rest) < plain);
    check_noise(&s, rest, exact);
    measure_result r = measured(&s);
    KIT_NEAR(measure_value(&r, -1, "low"), (exact - trace_of(rest)) / SITES, 1e-8);
    measure_result_free(&r);
    remove(path);
    gsl_matrix_complex_free(rest);
    low_modes_free(l);
    eigen_free(e);
    close_scene(&s);
}

/* Trace of the propagator of a domain wall quark, from a solve for every component. */
static double trace_by_solves(const measure_context *c)
{
    quark_solves s;
    measure_result trouble = {.what = observable_number(param_kind(observable_section(0), "trace"))};
    solves_open(&s, c, c->p->quarks[0].name, "", 0);
    field *source = fermion_physical(s.quark), *x = field_like(source);
    const size_t n = kit_reals(source) / 2;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double *unit = kit_alloc(2 * n, sizeof *unit);
        unit[2 * i] = 1;
        kit_scatter(source, unit);
        free(unit);
        KIT_INT(solves_one(&s, x, source, "a unit vector", &trouble), MEASURE_DONE);
        double *column = kit_gather(x);
        sum += column[2 * i];
        free(column);
    }
    field_destroy(x);
    field_destroy(source);
    solves_close(&s);
    return sum;
}

/* Low modes of a domain wall quark are those of its physical fields: no bias, and less noise. */
static void test_walls(void)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 84);
    parameters *p = observe_parameters("mobius", 0.06);
    char message[PARAM_MESSAGE_SIZE];
    p->run.seed = 17;
    p->solvers[0].p.tolerance = 1e-8;
    const param_section *const *part = quark_kind_number(param_kind(quark_section(0), "mobius"))->parts;
    while (!param_find(*part, "Ls")) part++;
    REQUIRE(!param_set(param_find(*part, "Ls"), quark_keys(&p->quarks[0].p, *part), "4", message, sizeof message), "%s",
            message);
    lattice *lat = kit_lattice(shape, 1, 1);
    double complex *u = kit_random_gauge(shape, 0.4, &rng);
    field *links = kit_links(lat, u);
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    named_measure m = observe_section("trace");
    char path[64];
    kit_where("low modes of domain walls");
    const double exact = trace_by_solves(&c) / SITES;
    observe_set(&m, "vectors", "30");
    measure_result plain = measure(&c, &m);
    fermion *q = quark_kind_number(param_kind(quark_section(0), "mobius"))->make(links, &p->quarks[0].p, NULL, 0);
    snprintf(path, sizeof path, "test-trace-%ld.h5", (long)getpid());
    eigen_free(eigenvectors_for(p, q, &p->quarks[0].p, &p->solvers[0].p, 8, path));
    observe_set(&m, "low_modes", "yes");
    measure_result low = measure(&c, &m);
    const double error = measure_value(&plain, -1, "trace_error"), less = measure_value(&low, -1, "trace_error");
    printf("domain walls: exact %.6f, plain %.6f +- %.4g, with low modes %.6f +- %.4g\n", exact,
           measure_value(&plain, -1, "trace"), error, measure_value(&low, -1, "trace"), less);
    KIT_NEAR(measure_value(&plain, -1, "trace"), exact, 4 * error);
    KIT_NEAR(measure_value(&low, -1, "trace"), exact, 4 * less);
    KIT_CHECK(2 * less < error);
    measure_result_free(&low);
    measure_result_free(&plain);
    remove(path);
    fermion_destroy(q);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_dilution("staggered", 0.2, 1);
    test_dilution("wilson_clover", 0.3, 4);
    test_truncated();
    test_low_modes("staggered", 0.1, 20);
    test_low_modes("staggered", 0.01, 100);
    test_low_modes("wilson_clover", 0.2, 1.2);
    test_low_modes("wilson_clover", -0.3, 1.2);
    test_walls();
    return kit_end();
}
