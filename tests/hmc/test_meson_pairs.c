/* Mesons of two Wilson-clover quarks against a slow oracle: propagators of both from a smeared source off the origin, traces
 * with dense gamma matrices, and plane waves, written out. All pairs of gamma matrices at all momenta up to n^2 = 2, point and
 * smeared sinks. With twisted masses -mu and mu the quark and the antiquark are of one flavour, whose propagators both
 * ways are solved for. Sequential propagators of another mass, with a gamma matrix and a momentum at the sink. A quark against itself has the pion of the observable `pion`; domain wall quarks agree with theirs. */
#include <complex.h>

#include "kernels/ops/gauge.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{2, 4, 4, 4}};
static const int source[4] = {1, 2, 3, 1}; /* off the origin */
static const double masses[2] = {0.3, 0.5}, c_sw = 1.2, width = 1.5;
enum { STEPS = 3, COLUMNS = 12 };

/* chi - (w^2 / 4n) (6 chi - sum of neighbours in space), STEPS times. */
static void smear(double complex *chi, const double complex *u)
{
    const size_t n = ref_volume(shape);
    const double k = width * width / (4 * STEPS);
    double complex *old = kit_alloc(12 * n, sizeof *old);
    for (int step = 0; step < STEPS; step++) {
        memcpy(old, chi, 12 * n * sizeof *old);
        for (size_t i = 0; i < n; i++)
            for (int s = 0; s < 12; s++) {
                chi[12 * i + (size_t)s] *= 1 - 6 * k;
                for (int j = 0; j < 3; j++)
                    for (int back = 0; back < 2; back++) {
                        int x[4];
                        double complex m[9];
                        ref_coordinates(x, shape, i);
                        x[j] = (x[j] + (back ? shape.size[j] - 1 : 1)) % shape.size[j];
                        const size_t other = ref_site(shape, x);
                        ref_path(m, shape, u, i, (int[]){back ? REF_BACK(j) : j}, 1);
                        for (int c = 0; c < 3; c++)
                            chi[12 * i + (size_t)s] +=
                                k * m[3 * (s % 3) + c] * old[12 * other + (size_t)(s / 3 * 3 + c)];
                    }
            }
    }
    free(old);
}

/* All columns of a propagator: [column][site][spin, colour]. */
static double complex *propagator_of(const double complex *u, double mass, int smeared_sink)
{
    const size_t n = 12 * ref_volume(shape);
    double complex *all = kit_alloc(COLUMNS * n, sizeof *all), *b = kit_alloc(n, sizeof *b);
    struct ref_wilson w;
    ref_wilson_create(&w, shape, u, mass, c_sw, -1);
    for (size_t k = 0; k < COLUMNS; k++) {
        memset(b, 0, n * sizeof *b);
        b[12 * ref_site(shape, source) + k] = 1;
        smear(b, u);
        CHECK(ref_wilson_solve(all + k * n, b, &w, 1e-13, 2000) > 0);
        if (smeared_sink) smear(all + k * n, u);
    }
    ref_wilson_destroy(&w);
    free(b);
    return all;
}

static void gamma_dense(double complex g[4][4], int number)
{
    memset(g, 0, 16 * sizeof(double complex));
    for (int s = 0; s < 4; s++) g[s][s] = 1;
    for (int mu = 0; mu < 4; mu++) {
        double complex h[4][4] = {{0}};
        if (!(number >> mu & 1)) continue;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int c = 0; c < 4; c++) h[a][b] += g[a][c] * ref_gamma[mu][c][b];
        memcpy(g, h, sizeof h);
    }
}

/* sum_x exp(-i p.(x - x0)) tr [g5 A^dagger g5 sink B source] on a time slice. */
static double complex meson(const double complex *A, const double complex *B, int sink, int at_source, const int p[3],
                            int t)
{
    const size_t n = 12 * ref_volume(shape);
    double complex five[4][4], g[4][4], h[4][4], left[4][4] = {{0}}, right[4][4] = {{0}}, sum = 0;
    ref_gamma5(five);
    gamma_dense(g, sink);
    gamma_dense(h, at_source);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                left[a][b] += five[a][c] * g[c][b];
                right[a][b] += h[a][c] * five[c][b];
            }
    for (size_t i = 0; i < ref_volume(shape); i++) {
        int x[4];
        double complex trace = 0;
        ref_coordinates(x, shape, i);
        if (x[3] != (t + source[3]) % shape.size[3]) continue;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int s = 0; s < 4; s++)
                    for (int r = 0; r < 4; r++)
                        if (left[a][b] != 0 && right[r][s] != 0)
                            for (int c = 0; c < 3; c++)
                                for (int d = 0; d < 3; d++)
                                    trace += left[a][b] * right[r][s] *
                                             conj(A[(size_t)(3 * s + d) * n + 12 * i + (size_t)(3 * a + c)]) *
                                             B[(size_t)(3 * r + d) * n + 12 * i + (size_t)(3 * b + c)];
        double phase = 0;
        for (int k = 0; k < 3; k++) phase += 2 * M_PI * p[k] * (x[k] - source[k]) / shape.size[k];
        sum += cexp(-I * phase) * trace;
    }
    return sum;
}

/* Two quarks, of which only the masses differ. */
static parameters *two_quarks(int smeared_sink)
{
    parameters *p = observe_parameters("wilson_clover", masses[0]);
    wilson_keys_of(&p->quarks[0].p)->c_sw = c_sw;
    observe_second_quark("other")->mass = masses[1];
    p->nsmearings = 1;
    p->smearings[0] = (named_smearing){.name = "gauss", .p = {.width = width, .steps = STEPS}};
    snprintf(p->sources[0].p.smearing, PARAM_STRING_SIZE, "gauss");
    observe_place(source);
    observe_propagator("other", "other");
    for (int i = 0; i < 2 && smeared_sink; i++) snprintf(p->propagators[i].p.sink_smearing, PARAM_STRING_SIZE, "gauss");
    return p;
}

static void check_pairs(const field *links, const double complex *u, int smeared_sink)
{
    double complex *A = propagator_of(u, masses[0], smeared_sink), *B = propagator_of(u, masses[1], smeared_sink);
    const measure_context c = {two_quarks(smeared_sink), links, NULL, NULL, -1, NULL};
    named_measure m = observe_section("mesons");
    observe_set(&m, "propagator_2", "other");
    observe_set(&m, "operators", "scalar pseudoscalar vector axial tensor");
    observe_set(&m, "pairs", "all");
    observe_set(&m, "momentum2", "2");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    CHECK_INT(r.nrows, 16 * 16 * 19 * shape.size[3]);
    double worst = 0, largest = 0;
    /* A number that is prime to all periods of the rows picks some of each kind. */
    for (long row = 0; row < r.nrows; row += 37) {
        const int n[3] = {(int)measure_value(&r, row, "nx"), (int)measure_value(&r, row, "ny"),
                          (int)measure_value(&r, row, "nz")};
        const double complex want = meson(A, B, (int)measure_value(&r, row, "sink"),
                                          (int)measure_value(&r, row, "source"), n, (int)measure_value(&r, row, "t"));
        const double complex have = measure_value(&r, row, "real") + I * measure_value(&r, row, "imaginary");
        worst = fmax(worst, cabs(have - want));
        largest = fmax(largest, cabs(want));
    }
    CHECK_NEAR(worst, 0, 1e-10 * largest);
    CHECK(largest > 1e-3);
    measure_result_free(&r);
    free(B);
    free(A);
}

/* Columns of the propagator, of the second mass, from Gamma exp(i p.(x - x0)) S on a time slice, S having the first. */
static double complex *sequential_of(const double complex *S, const double complex *u, int gamma, const int p[3],
                                     int time)
{
    const size_t n = 12 * ref_volume(shape);
    double complex *all = kit_alloc(COLUMNS * n, sizeof *all), *b = kit_alloc(n, sizeof *b), g[4][4];
    struct ref_wilson w;
    gamma_dense(g, gamma);
    ref_wilson_create(&w, shape, u, masses[1], c_sw, -1);
    for (size_t k = 0; k < COLUMNS; k++) {
        memset(b, 0, n * sizeof *b);
        for (size_t i = 0; i < ref_volume(shape); i++) {
            int x[4];
            double phase = 0;
            ref_coordinates(x, shape, i);
            for (int d = 0; d < 3; d++) phase += 2 * M_PI * p[d] * (x[d] - source[d]) / shape.size[d];
            for (size_t s = 0; s < 12 && x[3] == time; s++)
                for (size_t r = 0; r < 4; r++)
                    b[12 * i + s] += cexp(I * phase) * g[s / 3][r] * S[k * n + 12 * i + 3 * r + s % 3];
        }
        CHECK(ref_wilson_solve(all + k * n, b, &w, 1e-13, 2000) > 0);
    }
    ref_wilson_destroy(&w);
    free(b);
    return all;
}

/* Three-point functions, of the sequential propagator and the first one. */
static void check_sequential(const field *links, const double complex *u)
{
    static const int p[3] = {0, 1, -1};
    const int gamma = 7, time = 3;
    double complex *S = propagator_of(u, masses[0], 0), *sigma = sequential_of(S, u, gamma, p, time);
    parameters *q = two_quarks(0);
    const measure_context c = {q, links, NULL, NULL, -1, NULL};
    char text[32];
    q->npropagators = 1; /* the second is made anew, from the sink */
    source_params *end = observe_sink("sequential", time, "other", "other");
    snprintf(text, sizeof text, "%d", gamma);
    observe_key(end, "gamma", text);
    snprintf(text, sizeof text, "%d.%d.%d.0", p[0], p[1], p[2]);
    observe_key(end, "momentum", text);
    named_measure m = observe_section("mesons");
    observe_set(&m, "propagator", "other");
    observe_set(&m, "propagator_2", "propagator");
    observe_set(&m, "operators", "vector axial");
    observe_set(&m, "pairs", "all");
    observe_set(&m, "momentum2", "1");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    CHECK_INT(r.nrows, 8 * 8 * 7 * shape.size[3]);
    /* Solves of the first propagator count, too, whether it is named or not. */
    const named_measure alone = observe_section("mesons");
    measure_result first = measure(&c, &alone);
    snprintf(m.p.propagators[1], PARAM_STRING_SIZE, "other");
    measure_result chain = measure(&c, &m);
    CHECK(measure_value(&r, -1, "iterations") > measure_value(&first, -1, "iterations"));
    CHECK(measure_value(&chain, -1, "iterations") == measure_value(&r, -1, "iterations"));
    measure_result_free(&chain);
    measure_result_free(&first);
    double worst = 0, largest = 0;
    for (long row = 0; row < r.nrows; row += 13) {
        const int n[3] = {(int)measure_value(&r, row, "nx"), (int)measure_value(&r, row, "ny"),
                          (int)measure_value(&r, row, "nz")};
        const double complex want = meson(sigma, S, (int)measure_value(&r, row, "sink"),
                                          (int)measure_value(&r, row, "source"), n, (int)measure_value(&r, row, "t"));
        worst = fmax(worst, cabs(measure_value(&r, row, "real") + I * measure_value(&r, row, "imaginary") - want));
        largest = fmax(largest, cabs(want));
    }
    CHECK_NEAR(worst, 0, 1e-9 * largest);
    CHECK(largest > 1e-6);
    measure_result_free(&r);
    free(sigma);
    free(S);
}

/* The sum over a time slice of tr S(s, x) sink S(x, s) at_source of one flavour: connected neutral mesons. forth: S(x, s); back: the
 * adjoint of S(s, x), columns as in propagator_of(). */
static double complex neutral(const double complex *forth, const double complex *back, int sink, int at_source, int t)
{
    const size_t n = 12 * ref_volume(shape);
    double complex g[4][4], h[4][4], sum = 0;
    gamma_dense(g, sink);
    gamma_dense(h, at_source);
    for (size_t i = 0; i < ref_volume(shape); i++) {
        int x[4];
        ref_coordinates(x, shape, i);
        if (x[3] != (t + source[3]) % shape.size[3]) continue;
        for (size_t k = 0; k < COLUMNS; k++)
            for (size_t m = 0; m < COLUMNS; m++)
                for (size_t s = 0; s < 12 && h[m / 3][k / 3] != 0 && m % 3 == k % 3; s++)
                    for (size_t r = 0; r < 4; r++)
                        sum += conj(back[k * n + 12 * i + s]) * g[s / 3][r] * forth[m * n + 12 * i + 3 * r + s % 3] *
                               h[m / 3][k / 3];
    }
    return sum;
}

static void check_neutral(const field *links, const double complex *u)
{
    static const double mu = 0.2;
    const size_t n = 12 * ref_volume(shape);
    double complex *forth = kit_alloc(COLUMNS * n, sizeof *forth), *back = kit_alloc(COLUMNS * n, sizeof *back),
                   *b = kit_alloc(n, sizeof *b), *y = kit_alloc(n, sizeof *y);
    struct ref_wilson w;
    ref_wilson_create(&w, shape, u, masses[0], c_sw, -1);
    ref_wilson_twist(&w, mu);
    for (size_t k = 0; k < COLUMNS; k++) {
        memset(b, 0, n * sizeof *b);
        b[12 * ref_site(shape, source) + k] = 1;
        CHECK(ref_wilson_solve(forth + k * n, b, &w, 1e-13, 2000) > 0);
        CHECK(ref_normal_solve(y, b, &w, REF_FULL, 0, 1e-13, 2000) > 0);
        ref_wilson_apply(back + k * n, y, &w, 0); /* M (M^dagger M)^-1 */
    }
    ref_wilson_destroy(&w);
    parameters *p = observe_parameters("twisted_mass", masses[0]);
    wilson_keys_of(&p->quarks[0].p)->c_sw = c_sw;
    observe_twist(observe_second_quark("other"), mu);
    observe_twist(&p->quarks[0].p, -mu);
    observe_place(source);
    observe_propagator("other", "other");
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    named_measure m = observe_section("mesons");
    observe_set(&m, "propagator_2", "other");
    observe_set(&m, "operators", "scalar pseudoscalar vector");
    observe_set(&m, "pairs", "all");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    CHECK_INT(r.nrows, 6 * 6 * shape.size[3]);
    double worst = 0, largest = 0;
    for (long row = 0; row < r.nrows; row += 5) {
        const double complex want = neutral(forth, back, (int)measure_value(&r, row, "sink"),
                                            (int)measure_value(&r, row, "source"), (int)measure_value(&r, row, "t"));
        worst = fmax(worst, cabs(measure_value(&r, row, "real") + I * measure_value(&r, row, "imaginary") - want));
        largest = fmax(largest, cabs(want));
    }
    CHECK_NEAR(worst, 0, 1e-10 * largest);
    CHECK(largest > 1e-3);
    measure_result_free(&r);
    free(y);
    free(b);
    free(back);
    free(forth);
}

/* Of one quark, and without smearing, the pion; of any kind. */
static void check_pion(const field *links, const char *kind)
{
    const measure_context c = {observe_parameters(kind, 0.3), links, NULL, NULL, -1, NULL};
    named_measure m = observe_section("pion"), n = observe_section("mesons");
    observe_place(source);
    observe_set(&n, "operators", "pseudoscalar");
    measure_result pion = measure(&c, &m), mesons = measure(&c, &n);
    CHECK_INT(pion.failed + mesons.failed, 0);
    CHECK_INT(mesons.nrows, pion.nrows);
    for (long t = 0; t < pion.nrows && t < mesons.nrows; t++) {
        CHECK_REL(measure_value(&mesons, t, "real"), measure_value(&pion, t, "pion"), 1e-12);
        CHECK_NEAR(measure_value(&mesons, t, "imaginary"), 0, 0);
    }
    CHECK_REL(measure_value(&mesons, -1, "residual"), measure_value(&pion, -1, "residual"), 1e-12);
    measure_result_free(&mesons);
    measure_result_free(&pion);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 19);
    lattice *lat = kit_lattice(shape, 2, -1);
    double complex *u = kit_random_gauge(shape, 0.5, &rng);
    field *links = kit_links(lat, u);
    for (int smeared_sink = 0; smeared_sink < 2; smeared_sink++) check_pairs(links, u, smeared_sink);
    check_sequential(links, u);
    check_neutral(links, u);
    check_pion(links, "wilson_clover");
    check_pion(links, "mobius");
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
