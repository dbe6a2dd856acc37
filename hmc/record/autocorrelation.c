#include "hmc/record/autocorrelation.h"

#include <float.h>
#include <math.h>

#define WINDOW_S 2

/* Counted from the first value, so that the mean of equal values is that value without rounding. */
static double mean_of(const double *x, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++) sum += x[i] - x[0];
    return n > 0 ? x[0] + sum / (double)n : NAN;
}

static double gamma_at(const double *x, long n, double mean, long t)
{
    double sum = 0;
    for (long i = 0; i + t < n; i++) sum += (x[i] - mean) * (x[i + t] - mean);
    return sum / (double)(n - t);
}

/* Whether the window that makes tau_int `tau` may end at w: the systematic error of the rest is then the smaller one. */
static int window_ends(double tau, long w, long n)
{
    const double scale = WINDOW_S / log((2 * tau + 1) / (2 * tau - 1));
    return exp(-(double)w / scale) < scale / sqrt((double)w * (double)n);
}

autocorrelation autocorrelate(const double *x, long n)
{
    autocorrelation a = {.mean = mean_of(x, n), NAN, NAN, NAN, NAN, 0};
    if (n < AUTOCORRELATION_LEAST) return a;
    const double variance = gamma_at(x, n, a.mean, 0), points = (double)n;
    if (variance == 0) a = (autocorrelation){a.mean, 0, 0, 0.5, 0, 0};
    if (!(variance > 0)) return a;
    double sum = 0.5, tau = 0.5;
    const long most = n / 2 - 1;
    for (a.window = 1;; a.window++) {
        sum += gamma_at(x, n, a.mean, a.window) / variance;
        tau = fmax(sum, 0.5 + DBL_EPSILON);
        if (a.window >= most || window_ends(tau, a.window, n)) break;
    }
    const double w = (double)a.window;
    a.tau = tau * (1 + (2 * w + 1) / points) / (1 + 1 / points);
    a.tau_error = 2 * tau * sqrt(fabs(w + 0.5 - tau) / points);
    a.error = sqrt(2 * a.tau * variance * (1 + 1 / points) / points);
    a.error_error = a.error * sqrt((w + 0.5) / points);
    return a;
}

void autocorrelation_function(const double *x, long n, double *rho, long lags)
{
    const double mean = mean_of(x, n), variance = lags > 0 ? gamma_at(x, n, mean, 0) : 0;
    for (long t = 0; t < lags; t++) rho[t] = variance > 0 ? gamma_at(x, n, mean, t) / variance : NAN;
}
