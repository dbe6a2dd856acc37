/* Mean and error of a series with autocorrelation: the Gamma method of U. Wolff, Comput. Phys. Commun. 156 (2004) 143,
 * hep-lat/0306017.
 *
 *   Gamma(t) = 1/(N - t) sum_i (x_i - mean) (x_{i+t} - mean),   rho = Gamma / Gamma(0)
 *   tau_int(W) = 1/2 + sum_{t = 1}^{W} rho(t)
 *   error^2 = 2 tau_int(W) Gamma(0) / N
 *
 * The window W is the first where exp(-W / tau) - tau / sqrt(W N) is negative, tau = S / log((2 tau_int + 1) /
 * (2 tau_int - 1)), S = 2 (eqs. 50 to 52); at most N / 2. tau_int gets the factor 1 + (2 W + 1) / N that takes the bias
 * of the mean out (eq. 49), over 1 + 1 / N as pyerrors has it, Gamma(0) the factor 1 + 1 / N. Local. */
#ifndef PLAQ_AUTOCORRELATION_H
#define PLAQ_AUTOCORRELATION_H

typedef struct {
    double mean, error, error_error; /* error_error: error sqrt((W + 1/2) / N), eq. 42 */
    double tau, tau_error;           /* tau_int in steps of the series; its error by eq. 42 */
    long window;
} autocorrelation;

/* Of n values. With fewer than AUTOCORRELATION_LEAST all but the mean is NaN, and without any the mean, too. A constant
 * series has error 0 and tau_int 1/2. */
#define AUTOCORRELATION_LEAST 4
autocorrelation autocorrelate(const double *x, long n);

/* rho(t) for 0 <= t < lags, lags <= n; NaN of a constant series. */
void autocorrelation_function(const double *x, long n, double *rho, long lags);

#endif
