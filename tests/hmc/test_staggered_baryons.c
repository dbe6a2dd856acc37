/* Local baryons of staggered quarks.
 *
 * Theorems: correlators of two masses are, at every time and momentum, the sums of the definition over the columns of the
 * propagators in plain loops, with the sign of an antiperiodic edge taken out; without a gauge field they are 6 times the sums of
 * the cube of the free propagator, known in momentum space; they do not change under a gauge transformation; noise is
 * refused. */
#include "hmc/measure/propagator.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/fixing.h"
#include "kernels/ops/gauge.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{4, 4, 2, 8}};
static const int origin[4] = {1, 2, 1, 3};
enum { MOMENTA = 4, T = 8 };
static const int momenta_of[MOMENTA][3] = {{0, 0, 0}, {1, 0, 0}, {0, -1, 1}, {2, 0, 0}};

static double complex value(const measure_result *r, const int n[3], int t)
{
    for (long row = 0; row < r->nrows; row++)
        if (measure_value(r, row, "nx") == n[0] && measure_value(r, row, "ny") == n[1] &&
            measure_value(r, row, "nz") == n[2] && measure_value(r, row, "t") == t)
            return measure_value(r, row, "real") + I * measure_value(r, row, "imaginary");
    CHECK(0);
    return NAN;
}

static double complex determinant(const double complex m[3][3])
{
    double complex sum = 0;
    for (int i = 0; i < 3; i++)
        sum += m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
    return sum;
}

/* epsilon epsilon A A B = sum over the columns c of the determinants of A with column c of B, doubled. */
static double complex baryon(const double complex a[3][3], const double complex b[3][3])
{
    double complex sum = 0;
    for (int c = 0; c < 3; c++) {
        double complex m[3][3];
        memcpy(m, a, sizeof m);
        memcpy(m[c], b[c], sizeof m[c]);
        sum += 2 * determinant(m);
    }
    return sum;
}

static void sum_up(double complex sums[MOMENTA][T], const field *a, const field *b)
{
    const int *l = a->lat->local, *o = a->lat->origin;
    double *x = field_slice_buffer(a), *y = field_slice_buffer(b);
    memset(sums, 0, MOMENTA * T * sizeof(double complex));
    for (int t = 0; t < field_slices(a); t++) {
        const int when = (t + o[3] - origin[3] + T) % T;
        field_export(a, t, x);
        field_export(b, t, y);
        for (int i = 0; i < l[0] * l[1] * l[2]; i++) {
            const int at[3] = {i % l[0] + o[0], i / l[0] % l[1] + o[1], i / l[0] / l[1] + o[2]};
            if ((at[0] - origin[0]) % 2 || (at[1] - origin[1]) % 2 || (at[2] - origin[2]) % 2) continue;
            const double complex term = baryon((const double complex(*)[3])(void *)(x + 18 * i),
                                               (const double complex(*)[3])(void *)(y + 18 * i));
            for (int k = 0; k < MOMENTA; k++) {
                double phase = 0;
                for (int d = 0; d < 3; d++) phase += 2 * M_PI * momenta_of[k][d] * (at[d] - origin[d]) / shape.size[d];
                sums[k][when] += (when + origin[3] < T ? 1 : -1) * cexp(-I * phase) * term;
            }
        }
    }
    free(x);
    free(y);
    double *all = (double *)(void *)sums;
    for (int i = 0; i < MOMENTA * T * 2; i++) {
        exact_sum e = exact_zero();
        exact_add(&e, all[i]);
        comm_sum_exact(&e, 1);
        all[i] = exact_value(&e);
    }
}

static named_measure section(const char *second)
{
    named_measure m = observe_section("staggered_baryons");
    observe_set(&m, "propagator_2", second);
    observe_set(&m, "momentum2", "4");
    return m;
}

static void test_definition(measure_context c, const char *second)
{
    static double complex want[MOMENTA][T];
    named_measure m = section(second);
    c.propagators = propagator_store_open(&c, NULL, NULL);
    measure_result r = measure(&c, &m), again = {.what = r.what};
    const propagator *p[MEASURE_PROPAGATORS];
    CHECK_INT(r.failed, 0);
    CHECK_INT(propagators_of(&c, &m.p, p, &again), MEASURE_DONE);
    sum_up(want, p[0]->columns, p[1]->columns);
    double largest = 0;
    for (int t = 0; t < T; t++) largest = fmax(largest, cabs(want[0][t]));
    CHECK(largest > 1e-3);
    for (int k = 0; k < MOMENTA; k++)
        for (int t = 0; t < T; t++) CHECK(cabs(value(&r, momenta_of[k], t) - want[k][t]) < 1e-13 * largest);
    measure_result_free(&r);
    propagator_store_close(c.propagators);
}

static void test_gauge(const measure_context *c)
{
    named_measure m = section("other");
    measure_context turned = *c;
    field *links = field_like(c->links),
          *g = field_create(links->lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    gauge_random(g, 5, RANDOM_TEST, 0);
    gauge_rotate(links, c->links, g);
    turned.links = links;
    measure_result a = measure(c, &m), b = measure(&turned, &m);
    for (long i = 0; i < a.nrows * a.what->ncolumns; i++) CHECK_NEAR(b.rows[i], a.rows[i], 1e-10);
    measure_result_free(&a);
    measure_result_free(&b);
    field_destroy(g);
    field_destroy(links);
}

/* Free propagator of M = m + D / 2 from the origin, D = sum_mu eta_mu (forward - backward), at even distances in space: M^-1 =
 * (m - D / 2) / (m^2 + sum_mu sin^2 p_mu); only the direction of time, whose phase at such sites is that at the source, or the mass
 * is left. */
static double free_propagator(const int x[4], double mass)
{
    const int *L = shape.size, volume = L[0] * L[1] * L[2] * L[3];
    double sum = 0;
    for (int k = 0; k < volume; k++) {
        const int n[4] = {k % L[0], k / L[0] % L[1], k / L[0] / L[1] % L[2], k / L[0] / L[1] / L[2]};
        double px = 0, square = mass * mass;
        for (int d = 0; d < 4; d++) {
            const double p = 2 * M_PI * (n[d] + (d == 3 ? 0.5 : 0)) / L[d];
            px += p * x[d];
            square += sin(p) * sin(p);
        }
        const double pt = 2 * M_PI * (n[3] + 0.5) / L[3];
        sum += (mass * cos(px) + sin(pt) * sin(px)) / square / volume;
    }
    return sum;
}

static void test_free(const measure_context *c, double mass)
{
    const int *L = shape.size;
    measure_context cold = *c;
    field *links = field_like(c->links);
    gauge_cold(links);
    cold.links = links;
    named_measure m = section("propagator");
    measure_result r = measure(&cold, &m);
    for (int t = 0; t < T; t++) {
        double want = 0;
        for (int z = 0; z < L[2]; z += 2)
            for (int y = 0; y < L[1]; y += 2)
                for (int x = 0; x < L[0]; x += 2) want += 6 * pow(free_propagator((const int[]){x, y, z, t}, mass), 3);
        CHECK_NEAR(creal(value(&r, momenta_of[0], t)), want, 1e-12);
        CHECK(t == T / 2 || fabs(want) > 1e-6);
    }
    measure_result_free(&r);
    field_destroy(links);
}

static void test_noise(const parameters *p)
{
    char message[512];
    named_measure m = observe_section("staggered_baryons");
    observe_source_kind("noise");
    CHECK_STR(
        observable_number(param_kind(observable_section(0), "staggered_baryons"))->check(p, &m, message, sizeof message)
            ? "refused"
            : "",
        "refused");
    CHECK_HAS(message, "three quarks from [source.source] of kind noise have no mean");
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 43);
    lattice *lat = kit_lattice(shape, 1, -1);
    if (lat) {
        double complex *u = kit_random_gauge(shape, 0.5, &rng);
        field *links = kit_links(lat, u);
        parameters *p = observe_parameters("staggered", 0.3);
        observe_second_quark("heavy")->mass = 0.8;
        observe_propagator("other", "heavy");
        observe_place(origin);
        const measure_context c = {p, links, NULL, NULL, -1, NULL};
        test_definition(c, "propagator");
        test_definition(c, "other");
        test_gauge(&c);
        test_free(&c, 0.3);
        test_noise(p);
        field_destroy(links);
        lattice_destroy(lat);
        free(u);
    }
    return kit_end();
}
