/* The Gamma method: series of known autocorrelation time, the spread of means over many series, numbers of the package
 * pyerrors (F. Joswig et al., Comput. Phys. Commun. 288 (2023) 108750, version 2) for the same series, and the edges. */
#include <stdint.h>
#include <stdlib.h>

#include "hmc/record/autocorrelation.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

/* splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* AR(1), x_i = a x_{i-1} + sqrt(1 - a^2) times a deviate of variance 1; of 1 + x / 4. */
static void series(double *x, long n, double a, uint64_t seed)
{
    double now = 0;
    for (long i = 0; i < n; i++) {
        double deviate = -6;
        for (int k = 0; k < 12; k++) deviate += uniform(&seed);
        now = a * now + sqrt(1 - a * a) * deviate;
        x[i] = 1 + 0.25 * now;
    }
}

/* tau_int = (1 + a) / (2 (1 - a)), error^2 = 2 tau_int variance / n, within the errors that the method states. */
static void test_known_times(void)
{
    enum { N = 200000 };
    static const double a[] = {0, 0.5, 0.8, 0.9, 0.95};
    double *x = malloc(N * sizeof *x), rho[8], errors[8];
    for (int k = 0; k < 5; k++) {
        series(x, N, a[k], (uint64_t)k + 11);
        const autocorrelation r = autocorrelate(NULL, x, N);
        const double tau = (1 + a[k]) / (2 * (1 - a[k])), error = 0.25 * sqrt(2 * tau / N);
        CHECK_NEAR(r.tau, tau, 4 * r.tau_error + 0.01);
        CHECK(r.tau_error < 0.1 * tau);
        CHECK_NEAR(r.error, error, 4 * r.error_error);
        CHECK(r.error_error < 0.05 * error);
        CHECK_NEAR(r.mean, 1, 4 * r.error);
        autocorrelation_function(NULL, x, N, rho, errors, 8);
        for (int t = 0; t < 8; t++) {
            CHECK_NEAR(rho[t], pow(a[k], t), 5 * errors[t]);
            CHECK(errors[t] < 2 * sqrt(2 * tau / N));
        }
        CHECK(rho[0] == 1);
    }
    free(x);
}

/* The error is that of the mean: over many series (mean - 1) / error has variance 1, and blind ones would have 2 tau. */
static void test_pulls(void)
{
    enum { SERIES = 400, N = 2000 };
    double x[N], square = 0;
    for (uint64_t s = 0; s < SERIES; s++) {
        series(x, N, 0.8, 1000 + 7919 * s);
        const autocorrelation r = autocorrelate(NULL, x, N);
        square += (r.mean - 1) * (r.mean - 1) / (r.error * r.error) / SERIES;
    }
    /* Standard deviation sqrt(2 / SERIES) = 0.07; the error has an error of its own, of some 10 %. */
    CHECK_NEAR(square, 1, 0.3);
}

static void test_pyerrors(void)
{
    static const struct {
        long n;
        double a;
        uint64_t seed;
        double mean, error, error_error, tau, tau_error;
        long window;
    } known[] = {
        {1000, 0, 1, 0.979265463404505, 0.00782608128113926, 0.000303102824679179, 0.500999000999001,
         0.0316227766016838, 1},
        {1000, 0.8, 2, 0.983282122332257, 0.0218257961326459, 0.00334583119050555, 3.92733258551779, 1.05522726915586,
         23},
        {500, 0.5, 3, 0.981250986880792, 0.0249232004799097, 0.00409529973242104, 2.3253112198297, 0.664337571280185,
         13},
        {64, 0.9, 4, 1.04376885214115, 0.0543592650645868, 0.0198103912269219, 3.50699287805207, 1.67763305662438, 8},
        {20, -0.3, 5, 1.05268489889289, 0.0607239115352567, 0.0166299280639041, 0.547619047619048, 0.223606797749979,
         1},
        {2001, 0.95, 6, 1.03459330618598, 0.0263756438783126, 0.00462399210540723, 11.6878343720548, 3.49965144667211,
         61},
    };
    static double x[2001];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        series(x, known[i].n, known[i].a, known[i].seed);
        const autocorrelation r = autocorrelate(NULL, x, known[i].n);
        CHECK_REL(r.mean, known[i].mean, 1e-12);
        CHECK_REL(r.error, known[i].error, 1e-9);
        CHECK_REL(r.error_error, known[i].error_error, 1e-9);
        CHECK_REL(r.tau, known[i].tau, 1e-9);
        CHECK_REL(r.tau_error, known[i].tau_error, 1e-9);
        CHECK_INT(r.window, known[i].window);
    }
}

/* ---- rows that are not evenly spaced ---- */

/* Every trajectory of an AR(1) series that a rule keeps; returns how many. */
static long kept_rows(int (*keeps)(long, uint64_t *), double a, uint64_t seed, double *at, double *x, long all)
{
    double *every = malloc((size_t)all * sizeof *every);
    uint64_t choice = seed + 1;
    long n = 0;
    series(every, all, a, seed);
    for (long i = 0; i < all; i++)
        if (keeps(i, &choice)) at[n] = (double)(i + 1), x[n++] = every[i];
    free(every);
    return n;
}

static int keeps_all(long i, uint64_t *choice)
{
    return i >= 0 && choice;
}

static int keeps_tenth(long i, uint64_t *choice)
{
    return i % 10 == 0 && choice;
}

/* A section that was removed, and added again. */
static int keeps_outside_gap(long i, uint64_t *choice)
{
    return (i < 8000 || (i >= 12000 && i < 30000) || i >= 60000) && choice;
}

/* The interval was 20, and is 5. */
static int keeps_halved(long i, uint64_t *choice)
{
    return i % (i < 50000 ? 20 : 5) == 0 && choice;
}

/* Intervals without a common divisor, so that no two rows of different parts have a usual distance. */
static int keeps_odd(long i, uint64_t *choice)
{
    return i % (i < 50000 ? 10 : 7) == 0 && choice;
}

/* Rows of NaN are left out. */
static int keeps_most(long i, uint64_t *choice)
{
    return i >= 0 && uniform(choice) < 0.6;
}

/* tau_int in trajectories, whatever rows there are; and mean / error has variance 1. */
static void test_spacings(void)
{
    enum { ALL = 100000, SERIES = 40, SHORT = 20000 };
    static const struct {
        int (*keeps)(long, uint64_t *);
        double unit;
    } rules[] = {{keeps_all, 1},    {keeps_tenth, 10}, {keeps_outside_gap, 1},
                 {keeps_halved, 5}, {keeps_odd, 1},    {keeps_most, 1}};
    const double a = exp(-1 / 22.5), tau = (1 + a) / (2 * (1 - a));
    double *at = malloc(ALL * sizeof *at), *x = malloc(ALL * sizeof *x), rho[64], error[64];
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        const long n = kept_rows(rules[k].keeps, a, 31 + k, at, x, ALL);
        const autocorrelation r = autocorrelate(at, x, n);
        CHECK(r.unit == rules[k].unit);
        /* Sums of steps of 10 to 20 are trapezoids of exp(-t / 22.5): right within a twentieth. */
        CHECK_NEAR(r.tau, tau, 4 * r.tau_error + 0.05 * tau);
        CHECK(r.tau_error < 0.2 * tau);
        CHECK_REL(r.error, 0.25 * sqrt(2 * tau / (keeps_outside_gap == rules[k].keeps ? n : ALL)), 0.25);
        CHECK(autocorrelation_resolved(&r));
        autocorrelation_function(at, x, n, rho, error, 64);
        for (int t = 0; t < 64; t += 9)
            CHECK_NEAR(rho[t], pow(a, t * r.unit), 5 * error[t] + (r.interval > 5 ? 0.05 : 0.01));
        double square = 0;
        for (uint64_t s = 0; s < SERIES; s++) {
            const long m = kept_rows(rules[k].keeps, a, 1000 + 7919 * s, at, x, SHORT);
            const autocorrelation q = autocorrelate(at, x, m);
            square += (q.mean - 1) * (q.mean - 1) / (q.error * q.error) / SERIES;
        }
        CHECK_NEAR(square, 1, 0.6); /* standard deviation 0.18, and the error's own of some 15 % */
    }
    free(at);
    free(x);
}

/* Rows farther apart than the autocorrelation: tau_int is half their distance, which is no time of the process. */
static void test_unresolved(void)
{
    enum { N = 300 };
    double at[N], x[N];
    series(x, N, 0, 77);
    for (int i = 0; i < N; i++) at[i] = 100.0 * (i + 1);
    autocorrelation r = autocorrelate(at, x, N);
    CHECK_NEAR(r.tau, 50, 4 * r.tau_error + 1);
    CHECK(r.interval == 100 && !autocorrelation_resolved(&r));
    /* Rows of every trajectory have nothing shorter. */
    r = autocorrelate(NULL, x, N);
    CHECK(r.interval == 1 && autocorrelation_resolved(&r));
    series(x, N, 0.8, 78);
    r = autocorrelate(at, x, N);
    CHECK_NEAR(r.tau, 450, 4 * r.tau_error);
    CHECK(autocorrelation_resolved(&r));
}

static void test_edges(void)
{
    double x[40], rho[2];
    for (int i = 0; i < 40; i++) x[i] = 0.1;
    autocorrelation r = autocorrelate(NULL, x, 0);
    CHECK(isnan(r.mean) && isnan(r.error) && isnan(r.tau));
    r = autocorrelate(NULL, x, AUTOCORRELATION_LEAST - 1);
    CHECK(r.mean == 0.1 && isnan(r.error) && isnan(r.tau));
    r = autocorrelate(NULL, x, 40);
    CHECK(r.mean == 0.1 && r.error == 0 && r.tau == 0.5);
    autocorrelation_function(NULL, x, 40, rho, NULL, 2);
    CHECK(isnan(rho[0]) && isnan(rho[1]));
    x[7] = 0.2;
    r = autocorrelate(NULL, x, 40);
    CHECK(r.error > 0 && r.tau > 0 && isfinite(r.tau_error));
    r = autocorrelate(NULL, x + 4, AUTOCORRELATION_LEAST);
    CHECK(r.error > 0 && r.window == 1);
    x[8] = NAN;
    r = autocorrelate(NULL, x, 40);
    CHECK(isnan(r.mean) && isnan(r.error));
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_known_times();
    test_pulls();
    test_pyerrors();
    test_spacings();
    test_unresolved();
    test_edges();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
