/* The PCAC mass. Made-up correlators: the formula, with and without c_A, and errors of the jackknife made anew here. The free
 * quark from a wall, in closed form at every time away from the source: with E = ln(1 + m_0) it is sinh(2 E) / 2, the bare mass
 * m_0 (1 - m_0 / 2) up to m_0^3; with a twisted mass it is cosh E (1 + m_0 - cosh E), the pole being at cosh E = ((1 + m_0)^2 + mu^2
 * + 1) / (2 (1 + m_0)). On a random gauge field, two quarks: the correlators against a divergence of the current that is
 * made of propagators here. */
#include <complex.h>
#include <stdlib.h>

#include "hmc/report/pcac.h"
#include "kernels/ops/gauge.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

enum { CONFIGS = 6, T = 8 };
static const double not_fitted = NAN;

static correlator made(const char *labels, int n, int times)
{
    correlator c = {.T = times, .periodic = 1, .n = n, .values = calloc((size_t)(n * times), sizeof(double))};
    CHECK(c.values != NULL);
    snprintf(c.table, sizeof c.table, "pions");
    snprintf(c.column, sizeof c.column, "real");
    snprintf(c.labels, sizeof c.labels, "lattice = 8.8.8.8 nx = 0 ny = 0 nz = 0 %s", labels);
    return c;
}

/* ---- the formula ---- */

static double ap_of(int k, int t)
{
    return -sinh((T / 2.0 - t) * 0.4) * (1 + 0.05 * k) - 0.01 * k * (t == 3);
}

static double pp_of(int k, int t)
{
    return cosh((T / 2.0 - t) * 0.4) * (3 + 0.02 * k * k) + 0.02 * k * (t == 2);
}

/* The mass of the configurations that are not in block b of two; of all for b < 0. */
static double mass_without(int b, int t, double c_A)
{
    const int next = (t + 1) % T, last = (t + T - 1) % T;
    double above = 0, below = 0;
    for (int k = 0; k < CONFIGS; k++) {
        if (k / 2 == b) continue;
        above += (ap_of(k, next) - ap_of(k, last)) / 2 + c_A * (pp_of(k, next) - 2 * pp_of(k, t) + pp_of(k, last));
        below += 2 * pp_of(k, t);
    }
    return above / below;
}

static double spread_of(const double *x, int n)
{
    double mean = 0, square = 0;
    for (int b = 0; b < n; b++) mean += x[b] / n;
    for (int b = 0; b < n; b++) square += (x[b] - mean) * (x[b] - mean);
    return sqrt(square * (n - 1) / n);
}

static void test_formula(double c_A)
{
    enum { BLOCKS = CONFIGS / 2, FROM = 2, TO = 5 };
    correlator all[4] = {made("sink = 7 source = 7", CONFIGS, T), made("sink = 15 source = 15", CONFIGS, T),
                         made("sink = 15 source = 7", CONFIGS, T), made("sink = 7 source = 15", CONFIGS, T)};
    const correlators c = {.all = all, .n = 4};
    char message[512] = "";
    double weights = 0, mean = 0, of[BLOCKS] = {0};
    pcac m;
    for (int k = 0; k < CONFIGS; k++)
        for (int t = 0; t < T; t++) {
            all[1].values[k * T + t] = pp_of(k, t);
            all[3].values[k * T + t] = -ap_of(k, t); /* Gamma_7 = - gamma_t gamma_5 */
        }
    for (int i = 0; i < 4; i++) CHECK_INT(pcac_is_pp(&c, i), i == 1);
    CHECK_INT(pcac_of(&m, &c, 1, c_A, 2, FROM, TO, message, sizeof message), 0);
    CHECK_INT(m.blocks, BLOCKS);
    CHECK_INT(m.fitted, TO - FROM + 1);
    CHECK(!strcmp(m.labels, "lattice = 8.8.8.8 nx = 0 ny = 0 nz = 0"));
    for (int t = 0; t < T; t++) {
        double sample[BLOCKS];
        for (int b = 0; b < BLOCKS; b++) sample[b] = mass_without(b, t, c_A);
        const double error = spread_of(sample, BLOCKS), weight = 1 / (error * error);
        CHECK_NEAR(m.mass[t], mass_without(-1, t, c_A), 1e-14);
        CHECK_REL(m.error[t], error, 1e-9);
        if (t < FROM || t > TO) continue;
        weights += weight;
        mean += weight * m.mass[t];
        for (int b = 0; b < BLOCKS; b++) of[b] += weight * sample[b];
    }
    for (int b = 0; b < BLOCKS; b++) of[b] /= weights;
    CHECK_REL(m.plateau, mean / weights, 1e-9);
    CHECK_REL(m.plateau_error, spread_of(of, BLOCKS), 1e-7);
    CHECK(m.plateau_error > 1e-5);
    pcac_free(&m);
    CHECK(pcac_of(&m, &c, 1, 0, 2, 9, 12, message, sizeof message) != 0);
    CHECK_HAS(message, "no PCAC mass of measure/pions lies between --from 9 and --to 12; times go from 0 to 7");
    pcac_free(&m);
    snprintf(all[3].table, sizeof all[3].table, "others");
    CHECK(!pcac_is_pp(&c, 1));
    for (int i = 0; i < 4; i++) free(all[i].values);
}

/* ---- measured ones ---- */

/* C_PP and C_AP of a measurement as correlators of one configuration. */
static void measured(correlator out[2], const measure_result *r, int times)
{
    out[0] = made("sink = 15 source = 15", 1, times);
    out[1] = made("sink = 7 source = 15", 1, times);
    for (long row = 0; row < r->nrows; row++) {
        const int sink = (int)measure_value(r, row, "sink");
        if (measure_value(r, row, "source") == 15 && (sink == 15 || sink == 7))
            out[sink == 7].values[(int)measure_value(r, row, "t")] = measure_value(r, row, "real");
    }
}

static named_measure charged(void)
{
    named_measure n = observe_section("mesons");
    observe_set(&n, "operators", "pseudoscalar axial");
    observe_set(&n, "pairs", "all");
    return n;
}

static pcac mass_of(correlator all[2], const measure_context *c, const named_measure *n, double c_A)
{
    char message[512];
    pcac m;
    measure_result r = measure(c, n);
    CHECK_INT(r.failed, 0);
    measured(all, &r, c->links->lat->size[3]);
    CHECK_INT(pcac_of(&m, &(correlators){all, 2}, 0, c_A, 1, not_fitted, INFINITY, message, sizeof message), 0);
    measure_result_free(&r);
    return m;
}

static void test_free(double mass, double mu)
{
    const struct ref_lattice shape = {{2, 2, 2, 16}};
    lattice *lat = kit_lattice(shape, 2, -1);
    double complex *u = kit_alloc(36 * ref_volume(shape), sizeof *u);
    for (size_t i = 0; i < 36 * ref_volume(shape); i++) u[i] = i % 9 % 4 == 0;
    field *links = kit_links(lat, u);
    parameters *p = observe_parameters(mu != 0 ? "twisted_mass" : "wilson_clover", mass);
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    if (mu != 0) observe_twist(&p->quarks[0].p, mu);
    observe_source_kind("wall");
    observe_source_set("time", "3");
    const named_measure n = charged();
    correlator all[2];
    const double up = 1 + mass, cosh_E = (up * up + mu * mu + 1) / (2 * up), want = cosh_E * (up - cosh_E);
    pcac m = mass_of(all, &c, &n, 0);
    if (mu == 0) CHECK_NEAR(want, sinh(2 * log(up)) / 2, 1e-14);
    for (int t = 2; t <= 14; t++) CHECK_NEAR(m.mass[t], want, 1e-9);
    if (mu == 0) CHECK_NEAR(m.mass[8], mass - mass * mass / 2, 2 * mass * mass * mass);
    CHECK(isnan(m.error[8]) && isnan(m.plateau));
    pcac_free(&m);
    for (int i = 0; i < 2; i++) free(all[i].values);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

/* ---- two quarks in a gauge field ---- */

static const struct ref_lattice rough = {{2, 2, 4, 4}};
static const int source[4] = {1, 0, 2, 1};
static const double masses[2] = {0.3, 0.5};

static double complex *columns_of(const double complex *u, double mass)
{
    const size_t n = 12 * ref_volume(rough);
    double complex *all = kit_alloc(12 * n, sizeof *all), *b = kit_alloc(n, sizeof *b);
    struct ref_wilson w;
    ref_wilson_create(&w, rough, u, mass, 1.2, -1);
    for (size_t k = 0; k < 12; k++) {
        memset(b, 0, n * sizeof *b);
        b[12 * ref_site(rough, source) + k] = 1;
        CHECK(ref_wilson_solve(all + k * n, b, &w, 1e-13, 2000) > 0);
    }
    ref_wilson_destroy(&w);
    free(b);
    return all;
}

/* tr [A^dagger G B] of a slice at t after the source: with G = 1, C_PP, and with G = - gamma_t, C_AP. */
static double direct(const double complex *A, const double complex *B, int axial, int t)
{
    const size_t n = 12 * ref_volume(rough);
    double complex sum = 0;
    for (size_t i = 0; i < ref_volume(rough); i++) {
        int x[4];
        ref_coordinates(x, rough, i);
        if (x[3] != (t + source[3]) % rough.size[3]) continue;
        for (size_t k = 0; k < 12; k++)
            for (size_t s = 0; s < 12; s++)
                for (size_t r = 0; r < 4; r++) {
                    const double complex g = axial ? -ref_gamma[3][s / 3][r] : s / 3 == r;
                    sum += conj(A[k * n + 12 * i + s]) * g * B[k * n + 12 * i + 3 * r + s % 3];
                }
    }
    return creal(sum);
}

static void test_rough(void)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 23);
    lattice *lat = kit_lattice(rough, 2, -1);
    double complex *u = kit_random_gauge(rough, 0.4, &rng), *A = columns_of(u, masses[0]),
                   *B = columns_of(u, masses[1]);
    field *links = kit_links(lat, u);
    parameters *p = observe_parameters("wilson_clover", masses[0]);
    wilson_keys_of(&p->quarks[0].p)->c_sw = 1.2;
    observe_second_quark("other")->mass = masses[1];
    observe_place(source);
    observe_propagator("other", "other");
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    named_measure n = charged();
    observe_set(&n, "propagator_2", "other");
    correlator all[2];
    const double c_A = -0.05;
    pcac m = mass_of(all, &c, &n, c_A);
    for (int t = 0; t < 4; t++) {
        const int next = (t + 1) % 4, last = (t + 3) % 4;
        const double slope = (direct(A, B, 1, next) - direct(A, B, 1, last)) / 2,
                     curvature = direct(A, B, 0, next) - 2 * direct(A, B, 0, t) + direct(A, B, 0, last);
        CHECK_REL(m.mass[t], (slope + c_A * curvature) / (2 * direct(A, B, 0, t)), 1e-8);
    }
    pcac_free(&m);
    for (int i = 0; i < 2; i++) free(all[i].values);
    field_destroy(links);
    free(B);
    free(A);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_formula(0);
    test_formula(-0.083);
    test_free(0.2, 0);
    test_free(0.02, 0);
    test_free(0.1, 0.15);
    test_free(0.02, -0.05);
    test_rough();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
