#include "hmc/report/pcac.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/chart.h"
#include "hmc/report/jackknife.h"
#include "hmc/report/page.h"
#include "hmc/report/table.h"
#include "kernels/base/json.h"

/* ---- C_PP and C_AP among correlators ---- */

/* Labels of the gamma matrices, by their numbers (hmc/sources/gamma.h). gamma_t gamma_5 = - gamma_x gamma_y gamma_z, number 7. */
#define AT_REST "nx = 0 ny = 0 nz = 0 "
#define PSEUDOSCALAR "sink = 15 source = 15"
#define AXIAL "sink = 7 source = 15"
static const double axial_sign = -1;

/* C_AP of the table and lattice of C_PP; null: there is none. */
static const correlator *axial_of(const correlators *c, const correlator *pp)
{
    const size_t same = (size_t)(strstr(pp->labels, PSEUDOSCALAR) - pp->labels);
    for (int i = 0; i < c->n; i++) {
        const correlator *of = &c->all[i];
        if (!strcmp(of->table, pp->table) && !strcmp(of->column, pp->column) &&
            !strncmp(of->labels, pp->labels, same) && !strcmp(of->labels + same, AXIAL) && of->n == pp->n &&
            of->T == pp->T)
            return of;
    }
    return NULL;
}

int pcac_is_pp(const correlators *c, int i)
{
    const correlator *of = &c->all[i];
    return !strcmp(of->column, "real") && of->periodic && strstr(of->labels, AT_REST PSEUDOSCALAR) && axial_of(c, of);
}

/* ---- the mass ---- */

static double mass_at(const double *ap, const double *pp, int T, int t, double c_A)
{
    const int next = (t + 1) % T, last = (t + T - 1) % T;
    const double slope = axial_sign * (ap[next] - ap[last]) / 2, curvature = pp[next] - 2 * pp[t] + pp[last],
                 mass = (slope + c_A * curvature) / (2 * pp[t]);
    return isfinite(mass) ? mass : NAN;
}

/* Masses on means, and on those without each block: samples[blocks][T]. */
static void add_masses(pcac *m, const correlator *ap, int block, double *samples)
{
    const int T = m->pp->T;
    const size_t n = (size_t)T * (size_t)m->blocks;
    double *mean[2], *without[2], *of_time = table_numbers((size_t)m->blocks);
    for (int i = 0; i < 2; i++) {
        mean[i] = table_numbers((size_t)T);
        without[i] = table_numbers(n);
        jackknife_means(mean[i], without[i], i ? m->pp->values : ap->values, T, m->blocks, block);
    }
    for (int t = 0; t < T; t++) {
        m->mass[t] = mass_at(mean[0], mean[1], T, t, m->c_A);
        for (long b = 0; b < m->blocks; b++)
            of_time[b] = samples[b * T + t] = mass_at(without[0] + b * T, without[1] + b * T, T, t, m->c_A);
        m->error[t] = jackknife_error(of_time, m->blocks);
    }
    for (int i = 0; i < 2; i++) {
        free(without[i]);
        free(mean[i]);
    }
    free(of_time);
}

/* ---- the plateau ---- */

static int is_fitted(const pcac *m, int t)
{
    return t >= m->from && t <= m->to && isfinite(m->mass[t]);
}

/* True if the points in range have errors above rounding, by which they can be weighted. */
static int has_errors(const pcac *m)
{
    int all = 1;
    for (int t = 0; t < m->pp->T; t++)
        if (is_fitted(m, t)) all = all && m->error[t] > 1e-13;
    return all;
}

static double constant(const pcac *m, const double *mass, int weighted)
{
    double sum = 0, weights = 0;
    for (int t = 0; t < m->pp->T; t++) {
        if (!is_fitted(m, t)) continue;
        const double weight = weighted ? 1 / (m->error[t] * m->error[t]) : 1;
        sum += weight * mass[t];
        weights += weight;
    }
    return weights > 0 ? sum / weights : NAN;
}

static void fit_plateau(pcac *m, const double *samples)
{
    const int weighted = has_errors(m);
    double *of = table_numbers((size_t)m->blocks);
    for (int t = 0; t < m->pp->T; t++) m->fitted += is_fitted(m, t);
    m->plateau = constant(m, m->mass, weighted);
    for (long b = 0; b < m->blocks; b++) of[b] = constant(m, samples + b * m->pp->T, weighted);
    m->plateau_error = jackknife_error(of, m->blocks);
    free(of);
}

int pcac_of(pcac *m, const correlators *c, int pp, double c_A, int block, double from, double to, char *message,
            size_t size)
{
    const correlator *of = &c->all[pp], *ap = axial_of(c, of);
    const size_t T = (size_t)of->T, same = (size_t)(strstr(of->labels, PSEUDOSCALAR) - of->labels);
    *m = (pcac){.pp = of, .c_A = c_A, .from = from, .to = to, .blocks = of->n / block};
    snprintf(m->labels, sizeof m->labels, "%.*s", (int)(same - 1), of->labels);
    m->mass = table_numbers(T);
    m->error = table_numbers(T);
    double *samples = table_numbers(T * (size_t)m->blocks);
    add_masses(m, ap, block, samples);
    fit_plateau(m, samples);
    free(samples);
    if (m->fitted > 0 || isnan(from)) return 0;
    snprintf(message, size, "no PCAC mass of measure/%s lies between --from %g and --to %g; times go from 0 to %d",
             of->table, from, to, of->T - 1);
    return -1;
}

void pcac_free(pcac *m)
{
    free(m->mass);
    free(m->error);
    *m = (pcac){0};
}

/* ---- output ---- */

static void title_of(const pcac *m, char *text, size_t size)
{
    snprintf(text, size, "%s, PCAC mass with c_A = %g, %s", m->pp->table, m->c_A, m->labels);
}

void pcac_text(param_text *out, const pcac *m)
{
    char title[512];
    title_of(m, title, sizeof title);
    param_text_add(out, "%s: %ld configuration%s, %ld block%s\n%4s %16s %16s\n", title, m->pp->n,
                   m->pp->n == 1 ? "" : "s", m->blocks, m->blocks == 1 ? "" : "s", "t", "m", "error");
    for (int t = 0; t < m->pp->T; t++) {
        param_text_add(out, "%4d", t);
        table_cell(out, m->mass[t], "%.8f");
        table_cell(out, m->error[t], "%.8f");
        param_text_add(out, "\n");
    }
    if (m->fitted > 0) {
        param_text_add(out, "plateau of %d time%s\n%4s", m->fitted, m->fitted == 1 ? "" : "s", "");
        table_cell(out, m->plateau, "%.8f");
        table_cell(out, m->plateau_error, "%.8f");
        param_text_add(out, "\n");
    }
    param_text_add(out, "\n");
}

void pcac_json(FILE *out, const pcac *m)
{
    json j = json_begin(out);
    json_string(&j, "measure", m->pp->table);
    json_string(&j, "labels", m->labels);
    json_real(&j, "c_A", m->c_A);
    json_int(&j, "configurations", m->pp->n);
    json_int(&j, "blocks", m->blocks);
    json_real_array(&j, "pcac_mass", m->mass, m->pp->T, 1);
    json_real_array(&j, "pcac_error", m->error, m->pp->T, 1);
    json_real(&j, "plateau", m->plateau);
    json_real(&j, "plateau_error", m->plateau_error);
    json_end(&j);
}

void pcac_figure(param_text *out, const pcac *m)
{
    const size_t T = (size_t)m->pp->T;
    double *x = table_numbers(3 * T);
    chart_series s = {.style = CHART_ERROR_BARS, .name = "m", .x = x, .y = x + T, .error = x + 2 * T};
    char title[512];
    s.n = table_points(m->pp->T, 0, m->mass, m->error, x, x + T, x + 2 * T);
    title_of(m, title, sizeof title);
    page_heading(out, title);
    page_figures(out);
    chart_draw(out, &(chart){CHART_EMPTY, .title = "PCAC mass", .x_name = "t / a", .y_name = "a m", .series = &s,
                             .nseries = 1});
    page_figures_end(out);
    free(x);
}
