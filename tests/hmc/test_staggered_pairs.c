/* Local mesons of two staggered quarks.
 *
 * Theorems: correlators of two masses are, at every time and momentum, the sums of the definition over the columns of the propagators, in
 * plain loops; of one quark at rest they are those of staggered_mesons; the momentum of half the lattice along x makes pion_5 the
 * rho_vt of x; the pion at rest is real and positive; noise is for pion_5 alone. */
#include "hmc/measure/propagator.h"
#include "tests/hmc/observe.h"
#include "kernels/lattice/comm.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{4, 4, 2, 8}};
static const int origin[4] = {1, 2, 1, 3};
enum { OPERATORS = 8, MOMENTA = 4 };
static const int momenta_of[MOMENTA][3] = {{0, 0, 0}, {1, 0, 0}, {0, -1, 1}, {2, 0, 0}};
static const char all[] = "pion_5 pion_45 rho_vt rho_pv";

static double complex value(const measure_result *r, int operator, const int n[3], int t)
{
    for (long row = 0; row < r->nrows; row++)
        if (measure_value(r, row, "operator") == operator&& measure_value(r, row, "nx") == n[0] &&
            measure_value(r, row, "ny") == n[1] && measure_value(r, row, "nz") == n[2] &&
            measure_value(r, row, "t") == t)
            return measure_value(r, row, "real") + I * measure_value(r, row, "imaginary");
    CHECK(0);
    return NAN;
}

static int sign_of(int operator, const int x[3])
{
    const int all_odd = x[0] + x[1] + x[2], k = (operator- 2) % 3;
    const int odd = operator== 0 ? 0 : operator== 1 ? all_odd : operator<5 ? x[k] : all_odd + x[k];
    return odd & 1 ? -1 : 1;
}

/* Sums in plain loops over the slices of this rank, then over ranks. */
static void sum_up(double complex sums[OPERATORS][MOMENTA][8], const field *a, const field *b)
{
    const int *l = a->lat->local, *o = a->lat->origin;
    double *x = field_slice_buffer(a), *y = field_slice_buffer(b);
    memset(sums, 0, OPERATORS * MOMENTA * 8 * sizeof(double complex));
    for (int t = 0; t < field_slices(a); t++)
        for (int column = 0; column < 3; column++) {
            const field one = field_rhs(a, column), other = field_rhs(b, column);
            field_export(&one, t, x);
            field_export(&other, t, y);
            for (int i = 0; i < l[0] * l[1] * l[2]; i++) {
                const int at[3] = {i % l[0] + o[0], i / l[0] % l[1] + o[1], i / l[0] / l[1] + o[2]};
                double complex trace = 0;
                for (int c = 0; c < 3; c++)
                    trace +=
                        (x[6 * i + 2 * c] - I * x[6 * i + 2 * c + 1]) * (y[6 * i + 2 * c] + I * y[6 * i + 2 * c + 1]);
                for (int op = 0; op < OPERATORS; op++)
                    for (int k = 0; k < MOMENTA; k++) {
                        double phase = 0;
                        for (int d = 0; d < 3; d++)
                            phase += 2 * M_PI * momenta_of[k][d] * (at[d] - origin[d]) / shape.size[d];
                        sums[op][k][(t + o[3] - origin[3] + 8) % 8] +=
                            cexp(-I * phase) * sign_of(op, at) * sign_of(op, origin) * trace;
                    }
            }
        }
    free(x);
    free(y);
    double *all_sums = (double *)(void *)sums;
    for (int i = 0; i < OPERATORS * MOMENTA * 8 * 2; i++) {
        exact_sum e = exact_zero();
        exact_add(&e, all_sums[i]);
        comm_sum_exact(&e, 1);
        all_sums[i] = exact_value(&e);
    }
}

static void test_definition(measure_context c)
{
    static double complex want[OPERATORS][MOMENTA][8];
    named_measure m = observe_section("staggered_pairs");
    observe_set(&m, "propagator_2", "other");
    observe_set(&m, "operators", all);
    observe_set(&m, "momentum2", "4");
    c.propagators = propagator_store_open(&c, NULL, NULL);
    measure_result r = measure(&c, &m), again = {.what = r.what};
    const propagator *p[MEASURE_PROPAGATORS];
    CHECK_INT(r.failed, 0);
    CHECK_INT(propagators_of(&c, &m.p, p, &again), MEASURE_DONE);
    sum_up(want, p[0]->columns, p[1]->columns);
    for (int op = 0; op < OPERATORS; op++)
        for (int k = 0; k < MOMENTA; k++)
            for (int t = 0; t < 8; t++)
                CHECK(cabs(value(&r, op, momenta_of[k], t) - want[op][k][t]) < 1e-12 * cabs(want[0][0][t]));
    for (int t = 0; t < 8; t++) {
        const double complex half = value(&r, 0, momenta_of[3], t), rho = value(&r, 2, momenta_of[0], t);
        CHECK(cabs(half - rho) < 1e-12 * cabs(rho));
    }
    measure_result_free(&r);
    propagator_store_close(c.propagators);
}

static void test_one_quark(const measure_context *c)
{
    named_measure m = observe_section("staggered_pairs"), old = observe_section("staggered_mesons");
    observe_set(&m, "operators", all);
    measure_result r = measure(c, &m), known = measure(c, &old);
    CHECK_INT(r.failed + known.failed, 0);
    for (int t = 0; t < 8; t++) {
        double complex v[OPERATORS];
        for (int op = 0; op < OPERATORS; op++) v[op] = value(&r, op, momenta_of[0], t);
        const double size = creal(v[0]);
        CHECK(size > 0 && fabs(cimag(v[0])) < 1e-14 * size);
        CHECK_NEAR(measure_value(&known, t, "pion_5"), size, 1e-11 * size);
        CHECK_NEAR(measure_value(&known, t, "pion_45"), creal(v[1]), 1e-11 * size);
        CHECK_NEAR(measure_value(&known, t, "rho_vt"), creal(v[2] + v[3] + v[4]) / 3, 1e-11 * size);
        CHECK_NEAR(measure_value(&known, t, "rho_pv"), creal(v[5] + v[6] + v[7]) / 3, 1e-11 * size);
    }
    measure_result_free(&known);
    measure_result_free(&r);
}

static void test_noise(const parameters *p)
{
    char message[512];
    named_measure m = observe_section("staggered_pairs");
    const observable *o = observable_number(param_kind(observable_section(0), "staggered_pairs"));
    observe_source_kind("noise");
    CHECK_STR(o->check(p, &m, message, sizeof message) ? "refused" : "", "refused");
    CHECK_HAS(message, "operators = pion_5 rho_vt of [measure.test]");
    observe_set(&m, "operators", "pion_5");
    CHECK(o->check(p, &m, message, sizeof message) == NULL);
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
        test_definition(c);
        test_one_quark(&c);
        test_noise(p);
        field_destroy(links);
        lattice_destroy(lat);
        free(u);
    }
    return kit_end();
}
