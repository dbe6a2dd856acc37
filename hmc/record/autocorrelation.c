#include "hmc/record/autocorrelation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"

#define WINDOW_S 2
/* Pairs of a lag, as a part of all rows, that make a rho of its own. */
#define LEAST_PAIRS 0.05
/* tau_int in rows below which it cannot be told from a shorter one: exp(-t / tau) has it at tau = 0.6 distances. */
#define RESOLVED 0.75

typedef struct {
    const double *at, *x;
    long n, span; /* span: of the rows, in units */
    double unit, mean, variance;
} rows;

static double trajectory_of(const rows *r, long i)
{
    return r->at ? r->at[i] : (double)i;
}

/* Counted from the first value, so that the mean of equal values is that value without rounding. */
static double mean_of(const double *x, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++) sum += x[i] - x[0];
    return n > 0 ? x[0] + sum / (double)n : NAN;
}

/* Sum over pairs of rows t units apart, and how many they are. */
static double pairs_at(const rows *r, long t, long *pairs)
{
    const double lag = (double)t * r->unit;
    double sum = 0;
    *pairs = 0;
    for (long i = 0, j = 0; i < r->n && j < r->n; i++) {
        while (j < r->n && trajectory_of(r, j) < trajectory_of(r, i) + lag) j++;
        if (j == r->n || trajectory_of(r, j) > trajectory_of(r, i) + lag) continue;
        sum += (r->x[i] - r->mean) * (r->x[j] - r->mean);
        ++*pairs;
    }
    return sum;
}

static rows open_rows(const double *at, const double *x, long n)
{
    rows r = {.at = at, .x = x, .n = n, .unit = 0, .mean = mean_of(x, n)};
    long pairs;
    for (long i = 1; i < n; i++) {
        double a = trajectory_of(&r, i) - trajectory_of(&r, i - 1), b = r.unit;
        REQUIRE(a > 0, "row %ld at trajectory %g, and the next at %g", i - 1, trajectory_of(&r, i - 1),
                trajectory_of(&r, i));
        while (b > 0) {
            const double rest = fmod(a, b);
            a = b;
            b = rest;
        }
        r.unit = a;
    }
    if (n < 2) r.unit = 1;
    r.span = n < 2 ? 0 : lround((trajectory_of(&r, n - 1) - trajectory_of(&r, 0)) / r.unit);
    r.variance = n > 0 ? pairs_at(&r, 0, &pairs) / (double)n : NAN;
    return r;
}

/* N of windows and errors, for a tau_int in units. */
static double counted_rows(const rows *r, double tau)
{
    double sum = 1;
    for (long i = 1; i < r->n; i++)
        sum += fmin((trajectory_of(r, i) - trajectory_of(r, i - 1)) / r->unit, fmax(1, 2 * tau));
    return sum;
}

/* ---- rho, lag by lag ---- */

typedef struct {
    long t;                /* the lag in units */
    double rho, weight;    /* w_t rho is what the error sums */
    long last;             /* the last lag of the pool */
    double centre, pooled; /* mean lag of the pool and its rho */
    double from, before;   /* mean lag and rho of the pool before */
} lag;

/* Pools lags from last + 1 on; false when those up to the longest have too few pairs. */
static int pool_lags(const rows *r, lag *k)
{
    const double all = (double)(r->span + 1);
    double sum = 0, lags = 0;
    long pairs = 0;
    k->from = k->centre;
    k->before = k->pooled;
    k->weight = 0;
    for (long t = k->last + 1; t < r->span + 1; t++) {
        long here;
        sum += pairs_at(r, t, &here);
        pairs += here;
        lags += (double)here * (double)t;
        k->weight += (double)here / (all - (double)t) * all / (double)r->n;
        if ((double)pairs < fmax(1, LEAST_PAIRS * (double)r->n)) continue;
        k->weight /= (double)(t - k->last);
        k->last = t;
        k->centre = lags / (double)pairs;
        k->pooled = sum / (double)pairs / r->variance;
        return 1;
    }
    return 0;
}

static lag first_lag(void)
{
    return (lag){.rho = 1, .pooled = 1};
}

/* Goes on to the next lag; false beyond the longest. */
static int next_lag(const rows *r, lag *k)
{
    if (k->t == k->last && !pool_lags(r, k)) return 0;
    const double t = (double)++k->t;
    k->rho = k->pooled;
    if (t < k->centre) k->rho = k->before + (k->pooled - k->before) * (t - k->from) / (k->centre - k->from);
    return 1;
}

/* ---- tau_int ---- */

/* True if the window that makes tau_int `tau` may end at w: the systematic error of the rest is then the smaller one. */
static int window_ends(double tau, long w, double points)
{
    const double scale = WINDOW_S / log((2 * tau + 1) / (2 * tau - 1));
    return exp(-(double)w / scale) < scale / sqrt((double)w * points);
}

autocorrelation autocorrelate(const double *at, const double *x, long n)
{
    const rows r = open_rows(at, x, n);
    autocorrelation a = {.mean = r.mean, NAN, NAN, NAN, NAN, r.unit, r.unit, 0};
    if (n < AUTOCORRELATION_LEAST) return a;
    if (r.variance == 0) a = (autocorrelation){a.mean, 0, 0, 0.5 * r.unit, 0, r.unit, r.unit, 0};
    if (!(r.variance > 0)) return a;
    double sum = 0.5, of_error = 0.5, tau = 0.5, points = (double)n;
    lag k = first_lag();
    while (next_lag(&r, &k)) {
        if (k.t == 1) a.interval = k.centre * r.unit;
        sum += k.rho;
        of_error += k.weight * k.rho;
        tau = fmax(sum, 0.5 + DBL_EPSILON);
        points = counted_rows(&r, tau);
        a.window = k.t;
        if ((double)k.t >= floor(points / 2) - 1 || window_ends(tau, k.t, points)) break;
    }
    const double w = (double)a.window, unbiased = (1 + (2 * w + 1) / points) / (1 + 1 / points);
    a.tau = r.unit * tau * unbiased;
    a.tau_error = r.unit * 2 * tau * sqrt(fabs(w + 0.5 - tau) / points);
    a.error = sqrt(2 * fmax(of_error, 0.5 + DBL_EPSILON) * unbiased * r.variance * (1 + 1 / (double)n) / (double)n);
    a.error_error = a.error * sqrt((w + 0.5) / points);
    return a;
}

int autocorrelation_resolved(const autocorrelation *a)
{
    return a->interval <= 1 || (a->tau > RESOLVED * a->interval && a->tau - a->tau_error > 0.5 * a->interval);
}

void autocorrelation_function(const double *at, const double *x, long n, double *rho, double *error, long lags)
{
    const rows r = open_rows(at, x, n);
    const autocorrelation a = autocorrelate(at, x, n);
    const long all = error ? 2 * lags + a.window + 1 : lags;
    double *known = malloc((size_t)(all + 1) * sizeof *known);
    REQUIRE_MEMORY(known, "out of memory: %ld lags", all);
    lag k = first_lag();
    long most = r.variance > 0 && all > 0;
    known[0] = r.variance > 0 ? 1 : NAN;
    while (most > 0 && most < all && next_lag(&r, &k)) known[most++] = k.rho;
    const double points = n > 0 ? counted_rows(&r, a.tau / r.unit) : 0;
    for (long t = 0; t < lags; t++) {
        double sum = 0;
        rho[t] = t < most ? known[t] : NAN;
        if (!error) continue;
        for (long i = 1; i <= t + a.window; i++) {
            const double far = i + t < most ? known[i + t] : 0, near = labs(i - t) < most ? known[labs(i - t)] : 0;
            const double own = i < most ? known[i] : 0, term = far + near - 2 * own * rho[t];
            sum += term * term;
        }
        error[t] = t < most ? sqrt(sum / points) : NAN;
    }
    free(known);
}
