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
    double *x = malloc(N * sizeof *x), rho[8];
    for (int k = 0; k < 5; k++) {
        series(x, N, a[k], (uint64_t)k + 11);
        const autocorrelation r = autocorrelate(x, N);
        const double tau = (1 + a[k]) / (2 * (1 - a[k])), error = 0.25 * sqrt(2 * tau / N);
        CHECK_NEAR(r.tau, tau, 4 * r.tau_error + 0.01);
        CHECK(r.tau_error < 0.1 * tau);
        CHECK_NEAR(r.error, error, 4 * r.error_error);
        CHECK(r.error_error < 0.05 * error);
        CHECK_NEAR(r.mean, 1, 4 * r.error);
        autocorrelation_function(x, N, rho, 8);
        for (int t = 0; t < 8; t++) CHECK_NEAR(rho[t], pow(a[k], t), 10 * sqrt(2 * tau / N));
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
        const autocorrelation r = autocorrelate(x, N);
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
        const autocorrelation r = autocorrelate(x, known[i].n);
        CHECK_REL(r.mean, known[i].mean, 1e-12);
        CHECK_REL(r.error, known[i].error, 1e-9);
        CHECK_REL(r.error_error, known[i].error_error, 1e-9);
        CHECK_REL(r.tau, known[i].tau, 1e-9);
        CHECK_REL(r.tau_error, known[i].tau_error, 1e-9);
        CHECK_INT(r.window, known[i].window);
    }
}

static void test_edges(void)
{
    double x[40], rho[2];
    for (int i = 0; i < 40; i++) x[i] = 0.1;
    autocorrelation r = autocorrelate(x, 0);
    CHECK(isnan(r.mean) && isnan(r.error) && isnan(r.tau));
    r = autocorrelate(x, AUTOCORRELATION_LEAST - 1);
    CHECK(r.mean == 0.1 && isnan(r.error) && isnan(r.tau));
    r = autocorrelate(x, 40);
    CHECK(r.mean == 0.1 && r.error == 0 && r.tau == 0.5);
    autocorrelation_function(x, 40, rho, 2);
    CHECK(isnan(rho[0]) && isnan(rho[1]));
    x[7] = 0.2;
    r = autocorrelate(x, 40);
    CHECK(r.error > 0 && r.tau > 0 && isfinite(r.tau_error));
    r = autocorrelate(x + 4, AUTOCORRELATION_LEAST);
    CHECK(r.error > 0 && r.window == 1);
    x[8] = NAN;
    r = autocorrelate(x, 40);
    CHECK(isnan(r.mean) && isnan(r.error));
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_known_times();
    test_pulls();
    test_pyerrors();
    test_edges();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
