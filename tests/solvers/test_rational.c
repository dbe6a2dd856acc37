/* Rational approximations for use: the tolerance is met everywhere on the range by the smallest degree that can, equal
 * requests are answered once, r of f times r of 1/f is one, and what cannot be done ends with a message. */
#include "tests/check.h"

#include <stdlib.h>

#include "kernels/lattice/comm.h"
#include "solvers/rational.h"

static char message[256];

static long double exact(const power_product *f, double x)
{
    long double v = 1;
    for (int k = 0; k < f->nfactors; k++)
        v *= powl(x + (long double)f->factors[k].shift, (long double)f->factors[k].num / f->factors[k].den);
    return v;
}

/* The largest |r/f - 1| at points of no regular pattern, the ends among them. */
static double worst_error(const rational *r)
{
    double worst = 0;
    srand48(7);
    for (int i = 0; i < 20000; i++) {
        const double u = i < 2 ? i : drand48(),
                     x = i % 2 ? r->hi * pow(r->lo / r->hi, 1 - u) : r->lo + u * (r->hi - r->lo);
        const double at = fmin(fmax(x, r->lo), r->hi);
        worst = fmax(worst, fabs((double)(rational_value(r, at) / exact(&r->f, at) - 1)));
    }
    return worst;
}

static void check_request(rational_store *s, power_product f, double lo, double hi, double tolerance)
{
    const rational *r = rational_for(s, &f, lo, hi, tolerance, message, sizeof message);
    CHECK(r != NULL);
    if (!r) {
        printf("  %s\n", message);
        return;
    }
    const double measured = rational_measured_error(r), worst = worst_error(r);
    printf("degree %d, error %.3e, measured %.3e and %.3e, asked for %.1e\n", r->degree, r->error, measured, worst,
           tolerance);
    CHECK(r->error <= tolerance && measured <= tolerance);
    CHECK(worst <= measured * 1.001 + 4e-16 * r->degree);
    CHECK(measured >= 0.999 * r->error);
    CHECK(rational_for(s, &f, lo, hi, tolerance, message, sizeof message) == r);
    if (r->degree > 1) {
        const rational *less = rational_of_degree(s, &f, lo, hi, r->degree - 1, message, sizeof message);
        CHECK(less && rational_measured_error(less) > tolerance);
    }
}

static void test_requests(rational_store *s)
{
    check_request(s, power_of_x(-1, 2), 1e-3, 10, 1e-10);
    check_request(s, power_of_x(-1, 2), 1e-3, 10, 1e-2);
    check_request(s, power_of_x(-1, 2), 1e-4, 1, 2e-15);
    check_request(s, power_of_x(-1, 2), 0.5, 1, 0.5);
    check_request(s, power_of_x(1, 4), 1e-6, 64, 1e-9);
    check_request(s, power_of_x(-3, 4), 1e-8, 1, 1e-8);
    check_request(s, power_of_x(2, 6), 1e-2, 1, 1e-6);
    check_request(s, (power_product){2, {{0.01, -1, 2}, {0.2, 1, 4}}}, 0, 40, 1e-7);
    check_request(s, (power_product){3, {{0.0004, -2, 4}, {0.01, -1, 4}, {0.16, 3, 4}}}, 1e-15, 90, 1e-9);
}

/* Heat baths of a light and a strange quark over a heavy mass, which fall like 1/x, for every degree: light masses down
 * to those of nature on fine lattices. */
static void test_ratios(rational_store *s)
{
    const double masses[][3] = {{0.013, 0.065, 0.2}, {0.001326, 0.03636, 0.2}, {0.0001, 0.03, 0.3}};
    for (int i = 0; i < 3; i++) {
        const double light = masses[i][0] * masses[i][0], strange = masses[i][1] * masses[i][1] - light,
                     heavy = masses[i][2] * masses[i][2] - light;
        const power_product f = {3, {{0, -3, 4}, {strange, 1, 8}, {heavy, -3, 8}}};
        check_request(s, f, light, 8, i < 2 ? 1e-12 : 1e-10);
        for (int degree = 1; degree <= 20; degree++) {
            const rational *r = rational_of_degree(s, &f, light, 8, degree, message, sizeof message);
            CHECK(r != NULL);
            if (r) CHECK_INT(r->degree_above, degree - 1);
        }
    }
}

/* r of f and r of 1/f: best approximations, so that their product is 1 - error^2. */
static void test_inverse(rational_store *s)
{
    const power_product f = power_of_x(-1, 4);
    const rational *r = rational_for(s, &f, 1e-3, 1, 1e-4, message, sizeof message);
    const rational *i = rational_inverse(s, r, message, sizeof message);
    CHECK(r && i);
    CHECK_INT(i->degree, r->degree);
    CHECK_INT(i->f.factors[0].num, 1);
    CHECK(rational_inverse(s, i, message, sizeof message) == r);
    for (double x = 1e-3; x <= 1; x *= 1.1) {
        /* Rounding grows with the constant, from which the terms of the positive power are taken away. */
        CHECK_NEAR(rational_value(r, x) * rational_value(i, x), 1 - r->error * r->error,
                   4e-16 * r->degree * i->constant / rational_value(i, x));
        CHECK_NEAR(rational_value(r, x) * rational_value(i, x), 1, 2.1 * r->error);
    }
    const power_product g = {2, {{0.01, -1, 2}, {0.2, 1, 4}}};
    CHECK_REL(power_product_value(&g, 3.5), pow(3.51, -0.5) * pow(3.7, 0.25), 1e-15);
}

static void check_refused(rational_store *s, power_product f, double lo, double hi, double tolerance, const char *part)
{
    CHECK(rational_for(s, &f, lo, hi, tolerance, message, sizeof message) == NULL);
    CHECK_HAS(message, part);
}

static void test_refusals(rational_store *s)
{
    check_refused(s, power_of_x(-1, 2), 1e-3, 1, 0, "has to be positive");
    check_refused(s, power_of_x(-1, 2), 1e-3, 1, NAN, "has to be positive");
    check_refused(s, power_of_x(1, 2), 1e-3, 10, 1e-14, "rounding in double");
    check_refused(s, power_of_x(-1, 4), 1e-16, 1, 1e-12, "the largest degree, 32");
    check_refused(s, power_of_x(-1, 2), 1, 1, 1e-3, "empty");
    check_refused(s, power_of_x(1, 1), 0.1, 1, 1e-3, "rational itself");
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    rational_store *s = rational_store_create();
    test_requests(s);
    test_ratios(s);
    test_inverse(s);
    test_refusals(s);
    rational_store_destroy(s);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
