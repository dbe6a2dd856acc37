/* Averages of an ensemble with the weights that its measurements of kind = reweighting have: <O W> / <W>.
 *
 * The error is that of a function of two means (U. Wolff, hep-lat/0306017, eq. 13): R = <O W> / <W> fluctuates as the series
 * R + (O_i - R) W_i / <W>, whose mean is R. The effective number of configurations is (sum W)^2 / sum W^2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/ensemble.h"

#define LOG_WEIGHT " log_weight"

/* Length of a series' name before LOG_WEIGHT, or 0. */
static size_t weight_name(const char *series)
{
    const size_t n = strlen(series), tail = strlen(LOG_WEIGHT);
    return n > tail && !strcmp(series + n - tail, LOG_WEIGHT) ? n - tail : 0;
}

/* Observables whose averages a weight changes: not those of the algorithm. */
static int is_reweighted(const ensemble_series *s)
{
    return (!strcmp(s->name, "plaquette") || !strncmp(s->name, "measure/", 8)) && !weight_name(s->name);
}

/* Trajectories and values of both series where both have one; how many. */
static long match(const ensemble_series *a, const ensemble_series *b, double *at, double *of_a, double *of_b)
{
    long n = 0;
    for (long i = a->begin, k = b->begin; i < a->n && k < b->n;) {
        if (a->at[i] < b->at[k]) {
            i++;
        } else if (a->at[i] > b->at[k]) {
            k++;
        } else {
            at[n] = a->at[i];
            of_a[n] = a->value[i++];
            of_b[n++] = b->value[k++];
        }
    }
    return n;
}

/* Logarithms become weights of mean 1. */
static void normalise(double *w, long n)
{
    double largest = -INFINITY, sum = 0;
    for (long i = 0; i < n; i++) largest = fmax(largest, w[i]);
    for (long i = 0; i < n; i++) sum += w[i] = exp(w[i] - largest);
    for (long i = 0; i < n; i++) w[i] *= (double)n / sum;
}

static void add_average(ensemble_weights *out, const ensemble_series *weight, const ensemble_series *s)
{
    const long most = s->n < weight->n ? s->n : weight->n;
    double *at = malloc((size_t)(3 * most + 3) * sizeof *at), *x = at + most + 1, *w = x + most + 1, mean = 0;
    REQUIRE_MEMORY(at, "out of memory: %ld rows", most);
    const long n = match(s, weight, at, x, w);
    if (n >= AUTOCORRELATION_LEAST) {
        normalise(w, n);
        for (long i = 0; i < n; i++) mean += x[i] * w[i] / (double)n;
        for (long i = 0; i < n; i++) x[i] = mean + (x[i] - mean) * w[i];
        out->averages = realloc(out->averages, (size_t)(out->n + 1) * sizeof *out->averages);
        REQUIRE_MEMORY(out->averages, "out of memory: %d averages", out->n);
        out->averages[out->n++] = (ensemble_reweighted){s, autocorrelate(at, x, n), n};
    }
    free(at);
}

static void add_weights(ensemble *e, const char *name, const ensemble_series *weight)
{
    const long n = weight->n - weight->begin;
    if (n < AUTOCORRELATION_LEAST) return;
    double *w = malloc((size_t)n * sizeof *w), squares = 0, mean = 0, spread = 0;
    REQUIRE_MEMORY(w, "out of memory: %ld rows", n);
    memcpy(w, weight->value + weight->begin, (size_t)n * sizeof *w);
    for (long i = 0; i < n; i++) mean += w[i] / (double)n;
    for (long i = 0; i < n; i++) spread += (w[i] - mean) * (w[i] - mean) / (double)(n - 1);
    normalise(w, n);
    for (long i = 0; i < n; i++) squares += w[i] * w[i];
    free(w);
    e->weights = realloc(e->weights, (size_t)(e->nweights + 1) * sizeof *e->weights);
    REQUIRE_MEMORY(e->weights, "out of memory: %d weights", e->nweights);
    ensemble_weights *out = &e->weights[e->nweights++];
    *out = (ensemble_weights){.rows = n, .effective = (double)n * (double)n / squares, .spread = sqrt(spread)};
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 0; i < e->nseries; i++)
        if (is_reweighted(&e->series[i])) add_average(out, weight, &e->series[i]);
}

/* The product of all weights, where there are several: as of a regulator of two determinants. */
static void add_product(ensemble *e)
{
    ensemble_series all = {0};
    int n = 0;
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        if (!weight_name(s->name)) continue;
        if (n++ == 0) {
            all = *s;
            all.at = malloc((size_t)(3 * s->n + 1) * sizeof *all.at);
            REQUIRE_MEMORY(all.at, "out of memory: %ld rows", s->n);
            all.value = all.at + s->n;
            memcpy(all.at, s->at, (size_t)s->n * sizeof *all.at);
            memcpy(all.value, s->value, (size_t)s->n * sizeof *all.value);
        } else {
            double *more = all.value + (all.value - all.at);
            all.n = match(&all, s, all.at, all.value, more);
            all.begin = 0;
            for (long k = 0; k < all.n; k++) all.value[k] += more[k];
        }
    }
    if (n > 1) add_weights(e, "the product of all weights", &all);
    if (n) free(all.at);
}

void ensemble_reweigh(ensemble *e)
{
    for (int i = 0; i < e->nseries; i++) {
        char name[160];
        const int n = (int)weight_name(e->series[i].name);
        snprintf(name, sizeof name, "%.*s", n, e->series[i].name);
        if (n) add_weights(e, name, &e->series[i]);
    }
    add_product(e);
}

void ensemble_free_weights(ensemble *e)
{
    for (int i = 0; i < e->nweights; i++) free(e->weights[i].averages);
    free(e->weights);
}
