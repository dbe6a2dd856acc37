#include "hmc/report/effective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/chart.h"
#include "hmc/report/jackknife.h"
#include "hmc/report/page.h"
#include "hmc/report/table.h"
#include "kernels/base/json.h"

/* ---- quantities ---- */

typedef double quantity(const double *C, int T, int t);

static double value_of(const double *C, int T, int t)
{
    (void)T;
    return C[t];
}

static double log_mass(const double *C, int T, int t)
{
    const double ratio = t + 1 < T ? C[t] / C[t + 1] : NAN;
    return ratio > 0 ? log(ratio) : NAN;
}

static double no_mass(const double *C, int T, int t)
{
    (void)C;
    (void)T;
    (void)t;
    return NAN;
}

static double cosh_mass(const double *C, int T, int t)
{
    const double ratio = (C[(t + T - 1) % T] + C[(t + 1) % T]) / (2 * C[t]);
    return ratio >= 1 ? acosh(ratio) : NAN;
}

static void estimate(const effective *e, const double *mean, const double *without, quantity *of, double *value,
                     double *error, double *samples)
{
    const int T = e->of->T;
    for (int t = 0; t < T; t++) {
        value[t] = of(mean, T, t);
        for (long b = 0; b < e->blocks; b++) samples[b] = of(without + b * T, T, t);
        error[t] = jackknife_error(samples, e->blocks);
    }
}

effective effective_of(const correlator *c, int block)
{
    const size_t T = (size_t)c->T;
    effective e = {.of = c, .blocks = c->n / block};
    double **all[] = {&e.value, &e.error, &e.log, &e.log_error, &e.cosh, &e.cosh_error};
    for (int i = 0; i < 6; i++) *all[i] = table_numbers(T);
    double *mean = table_numbers(T), *without = table_numbers(T * (size_t)e.blocks),
           *samples = table_numbers((size_t)e.blocks);
    jackknife_means(mean, without, c->values, c->T, e.blocks, block);
    estimate(&e, mean, without, value_of, e.value, e.error, samples);
    estimate(&e, mean, without, log_mass, e.log, e.log_error, samples);
    estimate(&e, mean, without, c->periodic ? cosh_mass : no_mass, e.cosh, e.cosh_error, samples);
    free(samples);
    free(without);
    free(mean);
    return e;
}

void effective_free(effective *e)
{
    double *all[] = {e->value, e->error, e->log, e->log_error, e->cosh, e->cosh_error};
    for (int i = 0; i < 6; i++) free(all[i]);
}

/* ---- output ---- */

static void title_of(const effective *e, char *text, size_t size)
{
    snprintf(text, size, "%s, %s%s%s", e->of->table, e->of->column, e->of->labels[0] ? ", " : "", e->of->labels);
}

void effective_text(param_text *out, const effective *e)
{
    char title[512];
    title_of(e, title, sizeof title);
    param_text_add(out, "%s: %ld configuration%s, %ld block%s\n%4s %16s %16s %16s %16s", title, e->of->n,
                   e->of->n == 1 ? "" : "s", e->blocks, e->blocks == 1 ? "" : "s", "t", "C", "error", "ln C/C(t+1)",
                   "error");
    if (e->of->periodic) param_text_add(out, " %16s %16s", "arcosh", "error");
    param_text_add(out, "\n");
    for (int t = 0; t < e->of->T; t++) {
        param_text_add(out, "%4d", e->of->first + t);
        table_cell(out, e->value[t], "%.8e");
        table_cell(out, e->error[t], "%.2e");
        table_cell(out, e->log[t], "%.8f");
        table_cell(out, e->log_error[t], "%.8f");
        if (e->of->periodic) {
            table_cell(out, e->cosh[t], "%.8f");
            table_cell(out, e->cosh_error[t], "%.8f");
        }
        param_text_add(out, "\n");
    }
    param_text_add(out, "\n");
}

void effective_json(FILE *out, const effective *e)
{
    const struct {
        const char *name;
        const double *values;
    } all[] = {{"C", e->value},        {"C_error", e->error},        {"log_mass", e->log}, {"log_error", e->log_error},
               {"cosh_mass", e->cosh}, {"cosh_error", e->cosh_error}};
    json j = json_begin(out);
    json_string(&j, "measure", e->of->table);
    json_string(&j, "column", e->of->column);
    json_string(&j, "labels", e->of->labels);
    json_int(&j, "configurations", e->of->n);
    json_int(&j, "blocks", e->blocks);
    json_int(&j, "first_t", e->of->first);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        json_real_array(&j, all[i].name, all[i].values, e->of->T, 1);
    json_end(&j);
}

void effective_figures(param_text *out, const effective *e)
{
    const size_t T = (size_t)e->of->T;
    double *room = table_numbers(9 * T);
    chart_series s[3] = {{.style = CHART_ERROR_BARS, .name = "C"},
                         {.style = CHART_ERROR_BARS, .name = "ln C(t) / C(t+1)"},
                         {.style = CHART_ERROR_BARS, .colour = 1, .name = "arcosh (C(t-1) + C(t+1)) / 2 C(t)"}};
    const double *values[3] = {e->value, e->log, e->cosh}, *errors[3] = {e->error, e->log_error, e->cosh_error};
    char title[512];
    for (int i = 0; i < 3; i++) {
        double *x = room + 3 * T * (size_t)i, *y = x + T, *dy = y + T;
        s[i].n = table_points(e->of->T, e->of->first, values[i], errors[i], x, y, dy);
        s[i].x = x, s[i].y = y, s[i].error = dy;
    }
    title_of(e, title, sizeof title);
    page_heading(out, title);
    page_figures(out);
    chart_draw(out, &(chart){CHART_EMPTY, .title = "correlator", .x_name = "t / a", .y_name = "C", .series = s,
                             .nseries = 1, .log_y = 1});
    chart_draw(out, &(chart){CHART_EMPTY, .title = "effective mass", .x_name = "t / a", .y_name = "a m",
                             .series = s + 1, .nseries = e->of->periodic ? 2 : 1});
    page_figures_end(out);
    free(room);
}
