/* Mean and error of a series with autocorrelation: the Gamma method of U. Wolff, Comput. Phys. Commun. 156 (2004) 143,
 * hep-lat/0306017, of rows at trajectories at[i], which rise and need not be evenly spaced.
 *
 *   Gamma(t) = 1/n_t sum over the n_t pairs of rows t trajectories apart (x_i - mean) (x_j - mean),   rho = Gamma / Gamma(0)
 *   tau_int(W) = u (1/2 + sum_{t = u, 2u, ..., W} rho(t))
 *   error^2 = 2 Gamma(0) / N (1/2 + sum_{t = u, 2u, ..., W} w_t rho(t))
 *
 * u is the greatest common divisor of all distances. Lags of too few pairs are pooled with the next ones, and rho is
 * interpolated linearly up to the mean lag of the pool. w_t is the density of pairs: n_t over that of a series with a row
 * at each of its M multiples of u, (M - t/u) N / M; so w_t = 1 for evenly spaced rows, which have u = their distance.
 *
 * The window W, in units of u, is the first where exp(-W / tau) - tau / sqrt(W N) is negative, tau = S / log((2 tau_int +
 * 1) / (2 tau_int - 1)), S = 2 (eqs. 50 to 52); at most N / 2. Here and in errors N counts what rows know of: a distance
 * between rows counts by its multiples of u, up to 2 tau_int of them. tau_int gets the factor 1 + (2 W + 1) / N that takes
 * the bias of the mean out (eq. 49), over 1 + 1 / N as pyerrors has it, Gamma(0) the factor 1 + 1 / N. Local. */
#ifndef PLAQ_AUTOCORRELATION_H
#define PLAQ_AUTOCORRELATION_H

typedef struct {
    double mean, error, error_error; /* error_error: error sqrt((W + 1/2) / N), eq. 42 */
    double tau, tau_error;           /* tau_int in trajectories; its error by eq. 42 */
    double unit;                     /* u, trajectories */
    double interval;                 /* trajectories, the shortest lag at which rho is known; u when evenly spaced */
    long window;                     /* W in units of u */
} autocorrelation;

/* Averages of n finite values; at NULL: trajectories 0, 1, 2, ... Trajectories are whole numbers that rise. With fewer than
 * AUTOCORRELATION_LEAST values all but the mean is NaN, and without any the mean, too. A constant series has error 0 and
 * tau_int u / 2. */
#define AUTOCORRELATION_LEAST 4
autocorrelation autocorrelate(const double *at, const double *x, long n);

/* True when tau_int is a number that rows tell: rows of each trajectory, or an autocorrelation longer than their distance.
 * Otherwise tau_int is anywhere below `interval`. */
int autocorrelation_resolved(const autocorrelation *a);

/* rho(t u) for 0 <= t < lags, and its error by M. Luescher, Comput. Phys. Commun. 165 (2005) 199, hep-lat/0409106, eq.
 * (E.11), whose sum ends at t + W; error may be NULL. NaN of a constant series and beyond the longest lag. */
void autocorrelation_function(const double *at, const double *x, long n, double *rho, double *error, long lags);

#endif
