#include "hmc/report/potential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/chart.h"
#include "hmc/report/jackknife.h"
#include "hmc/report/page.h"
#include "hmc/report/table.h"
#include "kernels/base/json.h"

static const char *const names[POTENTIAL_FITTED] = {"V_0", "sigma", "e", "r_0", "r_1"};

/* ---- Wilson loops among correlators ---- */

#define IN_TIME "temporal = 1 "

int potential_is_loop(const correlator *c)
{
    return !strcmp(c->column, "loop") && strstr(c->labels, IN_TIME) && strstr(c->labels, " r = ");
}

/* Bytes of the labels that tell the lattice. */
static size_t lattice_bytes(const correlator *c)
{
    return (size_t)(strstr(c->labels, IN_TIME) - c->labels);
}

int potential_same(const correlator *a, const correlator *b)
{
    return potential_is_loop(a) && potential_is_loop(b) && !strcmp(a->table, b->table) &&
           lattice_bytes(a) == lattice_bytes(b) && !memcmp(a->labels, b->labels, lattice_bytes(a));
}

static double distance_of(const correlator *c)
{
    return strtod(strstr(c->labels, " r = ") + 5, NULL);
}

/* ---- the fit ---- */

/* Solves the 3 x 3 system a x = b by elimination with pivots; -1 where it is singular. */
static int solve(double a[3][3], double b[3], double x[3])
{
    for (int k = 0; k < 3; k++) {
        int p = k;
        for (int i = k + 1; i < 3; i++)
            if (fabs(a[i][k]) > fabs(a[p][k])) p = i;
        if (!(fabs(a[p][k]) > 0)) return -1;
        for (int j = 0; j < 3; j++) {
            const double swap = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = swap;
        }
        const double swap = b[k];
        b[k] = b[p];
        b[p] = swap;
        for (int i = k + 1; i < 3; i++) {
            const double f = a[i][k] / a[k][k];
            for (int j = k; j < 3; j++) a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = 2; k >= 0; k--) {
        x[k] = b[k];
        for (int j = k + 1; j < 3; j++) x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
    return 0;
}

/* True if the points in range have errors above rounding, by which they can be weighted. */
static int has_errors(const potential *v, double from, double to)
{
    int all = 1;
    for (int i = 0; i < v->n; i++)
        if (v->r[i] >= from && v->r[i] <= to && isfinite(v->value[i])) all = all && v->error[i] > 1e-13;
    return all;
}

/* Least squares of V_0 + sigma r - e / r to values at the distances in range, and the scales. */
static void fit(double out[POTENTIAL_FITTED], const potential *v, const double *value, double from, double to)
{
    double a[3][3] = {{0}}, b[3] = {0}, x[3];
    const int weighted = has_errors(v, from, to);
    int used = 0;
    for (int i = 0; i < POTENTIAL_FITTED; i++) out[i] = NAN;
    for (int i = 0; i < v->n; i++) {
        const double term[3] = {1, v->r[i], -1 / v->r[i]};
        if (v->r[i] < from || v->r[i] > to || !isfinite(value[i])) continue;
        const double weight = weighted ? 1 / (v->error[i] * v->error[i]) : 1;
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) a[j][k] += weight * term[j] * term[k];
            b[j] += weight * term[j] * value[i];
        }
        used++;
    }
    if (used < 3 || solve(a, b, x)) return;
    memcpy(out, x, sizeof x);
    const double sigma = x[POTENTIAL_SIGMA], e = x[POTENTIAL_COULOMB];
    if (sigma > 0 && e < 1.65) out[POTENTIAL_R0] = sqrt((1.65 - e) / sigma);
    if (sigma > 0 && e < 1) out[POTENTIAL_R1] = sqrt((1 - e) / sigma);
}

/* ---- the potential ---- */

static double log_ratio(double now, double next)
{
    return now / next > 0 ? log(now / next) : NAN;
}

/* V and its samples of one distance. */
static void add_distance(potential *v, const correlator *c, int block, double *samples)
{
    const int at = v->t - c->first;
    double *mean = table_numbers((size_t)c->T), *without = table_numbers((size_t)c->T * (size_t)v->blocks);
    jackknife_means(mean, without, c->values, c->T, v->blocks, block);
    v->r[v->n] = distance_of(c);
    v->value[v->n] = log_ratio(mean[at], mean[at + 1]);
    for (long b = 0; b < v->blocks; b++) samples[b] = log_ratio(without[b * c->T + at], without[b * c->T + at + 1]);
    v->error[v->n++] = jackknife_error(samples, v->blocks);
    free(without);
    free(mean);
}

/* Distances in rising order, with their samples [n][blocks]. */
static void sort(potential *v, double *samples)
{
    const size_t bytes = (size_t)v->blocks * sizeof *samples;
    double *keep = table_numbers((size_t)v->blocks);
    for (int i = 1; i < v->n; i++) {
        const double r = v->r[i], value = v->value[i], error = v->error[i];
        int k = i;
        memcpy(keep, samples + i * v->blocks, bytes);
        for (; k > 0 && v->r[k - 1] > r; k--) {
            v->r[k] = v->r[k - 1], v->value[k] = v->value[k - 1], v->error[k] = v->error[k - 1];
            memcpy(samples + k * v->blocks, samples + (k - 1) * v->blocks, bytes);
        }
        v->r[k] = r, v->value[k] = value, v->error[k] = error;
        memcpy(samples + k * v->blocks, keep, bytes);
    }
    free(keep);
}

static void fit_samples(potential *v, const double *samples, double from, double to)
{
    double *one = table_numbers((size_t)v->n), *of = table_numbers((size_t)v->blocks * POTENTIAL_FITTED);
    fit(v->fit, v, v->value, from, to);
    for (long b = 0; b < v->blocks && v->blocks > 1; b++) {
        double found[POTENTIAL_FITTED];
        for (int i = 0; i < v->n; i++) one[i] = samples[i * v->blocks + b];
        fit(found, v, one, from, to);
        for (int k = 0; k < POTENTIAL_FITTED; k++) of[k * v->blocks + b] = found[k];
    }
    for (int k = 0; k < POTENTIAL_FITTED; k++) v->fit_error[k] = jackknife_error(of + k * v->blocks, v->blocks);
    free(of);
    free(one);
}

int potential_of(potential *v, const correlators *c, int first, int t, int block, double from, double to, char *message,
                 size_t size)
{
    const correlator *of = &c->all[first];
    size_t most = (size_t)(c->n - first);
    *v = (potential){.table = of->table, .t = t, .configurations = of->n, .blocks = of->n / block};
    snprintf(v->lattice, sizeof v->lattice, "%.*s", (int)lattice_bytes(of), of->labels);
    if (v->lattice[0]) v->lattice[strlen(v->lattice) - 1] = 0;
    if (t < of->first || t + 2 > of->first + of->T) {
        snprintf(message, size, "--potential %d needs loops of heights %d and %d, and measure/%s has %d to %d", t, t,
                 t + 1, of->table, of->first, of->first + of->T - 1);
        return -1;
    }
    v->r = table_numbers(most);
    v->value = table_numbers(most);
    v->error = table_numbers(most);
    double *samples = table_numbers(most * (size_t)v->blocks);
    for (int i = first; i < c->n; i++)
        if (potential_same(of, &c->all[i]) && c->all[i].n == of->n && c->all[i].T == of->T)
            add_distance(v, &c->all[i], block, samples + v->n * v->blocks);
    sort(v, samples);
    for (int i = 0; i < v->n; i++) v->used += v->r[i] >= from && v->r[i] <= to && isfinite(v->value[i]);
    fit_samples(v, samples, from, to);
    free(samples);
    return 0;
}

void potential_free(potential *v)
{
    free(v->r);
    free(v->value);
    free(v->error);
    *v = (potential){0};
}

/* ---- output ---- */

static void title_of(const potential *v, char *text, size_t size)
{
    snprintf(text, size, "%s, static potential at t = %d%s%s", v->table, v->t, v->lattice[0] ? ", " : "", v->lattice);
}

void potential_text(param_text *out, const potential *v)
{
    char title[256];
    title_of(v, title, sizeof title);
    param_text_add(out, "%s: %ld configuration%s, %ld block%s\n%16s %16s %16s\n", title, v->configurations,
                   v->configurations == 1 ? "" : "s", v->blocks, v->blocks == 1 ? "" : "s", "r", "V", "error");
    for (int i = 0; i < v->n; i++) {
        const double row[3] = {v->r[i], v->value[i], v->error[i]};
        for (int k = 0; k < 3; k++) table_cell(out, row[k], "%.8f");
        param_text_add(out, "\n");
    }
    if (v->used < 3)
        param_text_add(out, "no fit of V_0 + sigma r - e / r: it needs three distances, and %d are in its range\n",
                       v->used);
    else param_text_add(out, "fit of V_0 + sigma r - e / r to %d distances\n", v->used);
    for (int k = 0; k < POTENTIAL_FITTED && v->used >= 3; k++) {
        param_text_add(out, "%16s", names[k]);
        table_cell(out, v->fit[k], "%.8f");
        table_cell(out, v->fit_error[k], "%.8f");
        param_text_add(out, "\n");
    }
    param_text_add(out, "\n");
}

void potential_json(FILE *out, const potential *v)
{
    json j = json_begin(out);
    json_string(&j, "measure", v->table);
    json_string(&j, "labels", v->lattice);
    json_int(&j, "t", v->t);
    json_int(&j, "configurations", v->configurations);
    json_int(&j, "blocks", v->blocks);
    json_real_array(&j, "r", v->r, v->n, 1);
    json_real_array(&j, "V", v->value, v->n, 1);
    json_real_array(&j, "V_error", v->error, v->n, 1);
    for (int k = 0; k < POTENTIAL_FITTED; k++) {
        char error[32];
        snprintf(error, sizeof error, "%s_error", names[k]);
        json_real(&j, names[k], v->fit[k]);
        json_real(&j, error, v->fit_error[k]);
    }
    json_end(&j);
}

void potential_figure(param_text *out, const potential *v)
{
    const size_t n = (size_t)v->n;
    double *x = table_numbers(3 * n), *y = x + n, *error = y + n;
    chart_series s = {.style = CHART_ERROR_BARS, .name = "V(r)", .x = x, .y = y, .error = error};
    for (int i = 0; i < v->n; i++) {
        if (!isfinite(v->value[i])) continue;
        x[s.n] = v->r[i];
        y[s.n] = v->value[i];
        error[s.n++] = isfinite(v->error[i]) ? v->error[i] : 0;
    }
    char title[256];
    title_of(v, title, sizeof title);
    page_heading(out, title);
    page_figures(out);
    chart_draw(out, &(chart){CHART_EMPTY, .title = "static potential", .x_name = "r / a", .y_name = "a V", .series = &s,
                             .nseries = 1});
    page_figures_end(out);
    free(x);
}
