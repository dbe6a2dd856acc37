/* The page of a run: what matters first, then what to change, pictures, tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hmc/input/identity.h"
#include "hmc/record/report.h"
#include "hmc/record/stretch.h"
#include "hmc/report/chart.h"
#include "hmc/report/ensemble.h"
#include "hmc/report/page.h"
#include "io/output_file.h"

/* The newest of long lists are shown. */
#define MOST_ROWS 400
#define LAGS 200
#define CELL 512

static const char *with_error(const autocorrelation *a, char text[64])
{
    if (isnan(a->error)) {
        snprintf(text, 64, "%.6g", a->mean);
        return text;
    }
    /* Two digits of the error. */
    const int digits = a->error > 0 ? (int)fmin(12, fmax(0, 1 - floor(log10(a->error)))) : 3;
    if (fabs(a->mean) < 1e6) snprintf(text, 64, "%.*f \u00b1 %.*f", digits, a->mean, digits, a->error);
    else snprintf(text, 64, "%.4g \u00b1 %.2g", a->mean, a->error);
    return text;
}

/* ---- what matters first ---- */

static void add_average_tile(param_text *out, const ensemble *e, const char *series, const char *name, const char *more)
{
    char text[64];
    const ensemble_series *s = ensemble_find(e, series);
    if (s && s->n > s->begin) page_tile(out, name, with_error(&s->a, text), more);
}

static void add_tiles(param_text *out, const ensemble *e)
{
    char text[96], more[96], spent[32];
    const ensemble_series *p = ensemble_find(e, "plaquette");
    page_tiles(out);
    snprintf(text, sizeof text, "%lld of %lld", (long long)e->done, (long long)e->wanted);
    snprintf(more, sizeof more, "averages over %ld, from %lld on", p ? p->n - p->begin : 0, (long long)e->from);
    page_tile(out, "Trajectories", text, more);
    add_average_tile(out, e, "accepted", "Acceptance", NULL);
    add_average_tile(out, e, "plaquette", "Plaquette", NULL);
    add_average_tile(out, e, "exp(-dH)", "\u27e8exp(\u2212dH)\u27e9", "1 within errors if the algorithm is exact");
    if (p && !isnan(p->a.tau)) {
        snprintf(text, sizeof text, "%.2f \u00b1 %.2f", p->a.tau * p->step, p->a.tau_error * p->step);
        page_tile(out, "tau_int of the plaquette", text, "trajectories");
    }
    snprintf(text, sizeof text, "%.3g", e->node_seconds / 3600);
    page_tile(out, "Node-hours spent", text, report_duration(e->seconds, spent));
    const double rest = (double)(e->wanted - e->done) * e->each;
    if (rest > 0) {
        snprintf(text, sizeof text, "%.3g", rest * e->nodes / 3600);
        snprintf(more, sizeof more, "%s at %.3g s a trajectory", report_duration(rest, spent), e->each);
        page_tile(out, "Node-hours left", text, more);
    }
    snprintf(text, sizeof text, "%d", e->nkept);
    page_tile(out, "Configurations kept", text, NULL);
    page_tiles_end(out);
}

/* ---- pictures ---- */

/* Where stretches begin, but for the first. */
static int find_marks(const ensemble *e, double **marks)
{
    int n = 0;
    *marks = malloc((size_t)(e->nstretches + 1) * sizeof **marks);
    REQUIRE_MEMORY(*marks, "out of memory: %d stretches", e->nstretches);
    for (int k = 1; k < e->nstretches; k++) (*marks)[n++] = (double)e->stretches[k].first - 0.5;
    return n;
}

static void draw_history(param_text *out, const ensemble *e, const char *title, const char *const *names, int n,
                         chart_style style, double level)
{
    chart_series series[CHART_COLOURS];
    double *marks;
    chart c = {.title = title,
               .x_name = "trajectory",
               .series = series,
               .shaded = (double)e->from,
               .level = level,
               .from = 0,
               .to = (double)e->done};
    for (int k = 0; k < n && c.nseries < CHART_COLOURS; k++) {
        const ensemble_series *s = ensemble_find(e, names[k]);
        if (!s) continue;
        const char *legend = strchr(names[k], ' ');
        series[c.nseries] = (chart_series){.style = style, .colour = c.nseries, .x = s->at, .y = s->value, .n = s->n};
        series[c.nseries++].name = n > 1 && legend ? legend + 1 : NULL;
    }
    c.nmarks = find_marks(e, &marks);
    c.marks = marks;
    chart_draw(out, &c);
    free(marks);
}

static void draw_one(param_text *out, const ensemble *e, const char *title, const char *name, chart_style style,
                     double level)
{
    draw_history(out, e, title, &name, 1, style, level);
}

/* All series whose name begins so, as many as there are colours. */
static void draw_all_of(param_text *out, const ensemble *e, const char *title, const char *prefix)
{
    const char *names[CHART_COLOURS];
    int n = 0;
    for (int i = 0; i < e->nseries && n < CHART_COLOURS; i++) {
        const ensemble_series *s = &e->series[i];
        if (strncmp(s->name, prefix, strlen(prefix))) continue;
        names[n++] = s->name;
    }
    if (n) draw_history(out, e, title, names, n, CHART_LINE, NAN);
}

static void draw_dh(param_text *out, const ensemble *e)
{
    const ensemble_series *s = ensemble_find(e, "dH");
    double mean = 0, squares = 0;
    const long n = s ? s->n - s->begin : 0;
    for (long i = s ? s->begin : 0; s && i < s->n; i++) {
        mean += s->value[i] / (double)n;
        squares += s->value[i] * s->value[i] / (double)n;
    }
    if (n > 1)
        chart_histogram(out, "Distribution of dH, and the normal one", "dH", s->value + s->begin, n, mean,
                        sqrt(fmax(0, squares - mean * mean)));
}

static void draw_windows(param_text *out, const ensemble *e)
{
    double x[ENSEMBLE_WINDOWS], accepted[ENSEMBLE_WINDOWS], error[ENSEMBLE_WINDOWS], expected[ENSEMBLE_WINDOWS];
    for (int w = 0; w < e->nwindows; w++) {
        x[w] = 0.5 * (double)(e->windows[w].first + e->windows[w].last);
        accepted[w] = e->windows[w].accepted;
        error[w] = e->windows[w].error;
        expected[w] = e->windows[w].expected;
    }
    const chart_series series[2] = {
        {"expected, erfc(\u221a(\u27e8dH\u00b2\u27e9/8))", CHART_LINE, 1, x, expected, NULL, e->nwindows},
        {"accepted", CHART_ERROR_BARS, 0, x, accepted, error, e->nwindows}};
    const chart c = {.title = "Acceptance by windows",
                     .x_name = "trajectory",
                     .series = series,
                     .nseries = 2,
                     .shaded = -INFINITY,
                     .from = NAN,
                     .to = NAN,
                     .level = NAN};
    chart_draw(out, &c);
}

static void draw_correlation(param_text *out, const ensemble *e)
{
    const ensemble_series *s = ensemble_find(e, "plaquette");
    double lag[LAGS], rho[LAGS];
    if (!s || !(s->a.error > 0)) return;
    const long n = s->n - s->begin, most = n / 2 < LAGS ? n / 2 : LAGS;
    const long lags = 4 * s->a.window + 10 < most ? 4 * s->a.window + 10 : most;
    autocorrelation_function(s->value + s->begin, n, rho, lags);
    for (long t = 0; t < lags; t++) lag[t] = (double)t * s->step;
    const double window = (double)s->a.window * s->step;
    const chart_series series = {NULL, CHART_LINE, 0, lag, rho, NULL, lags};
    const chart c = {.title = "Autocorrelation of the plaquette, and the window of tau_int",
                     .x_name = "trajectories apart",
                     .series = &series,
                     .nseries = 1,
                     .shaded = -INFINITY,
                     .from = NAN,
                     .to = NAN,
                     .level = 0,
                     .marks = &window,
                     .nmarks = 1};
    chart_draw(out, &c);
}

static void draw_measurements(param_text *out, const ensemble *e)
{
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        if (strncmp(s->name, "measure/", 8) || strstr(s->name, " charge squared")) continue;
        draw_one(out, e, s->name + 8, s->name, strstr(s->name, " charge") ? CHART_DOTS : CHART_LINE, NAN);
    }
}

static void add_pictures(param_text *out, const ensemble *e)
{
    page_heading(out, "History");
    param_text_add(out, "<p class=\"soft\">Shaded: before the averages. Dotted: a new stretch of parameters.</p>\n");
    page_figures(out);
    draw_one(out, e, "Plaquette", "plaquette", CHART_LINE, NAN);
    draw_one(out, e, "dH", "dH", CHART_DOTS, 0);
    draw_dh(out, e);
    draw_windows(out, e);
    draw_correlation(out, e);
    draw_all_of(out, e, "Forces, root mean square over links", "force ");
    draw_all_of(out, e, "Solver iterations a trajectory", "iterations ");
    draw_one(out, e, "Seconds a trajectory", "seconds", CHART_LINE, NAN);
    draw_measurements(out, e);
    page_figures_end(out);
}

/* ---- tables ---- */

static void add_averages(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"<series", "mean",  "error", "error of error",
                                         "tau_int", "error", "rows",  NULL};
    char cell[7][CELL];
    const char *row[7] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6]};
    page_heading(out, "Averages");
    page_table(out, titles);
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        const autocorrelation *a = &s->a;
        if (s->n == s->begin) continue;
        snprintf(cell[0], CELL, "%s%s%s%s", s->name, *s->unit ? " [" : "", s->unit, *s->unit ? "]" : "");
        snprintf(cell[1], CELL, "%.8g", a->mean);
        const double values[4] = {a->error, a->error_error, a->tau * s->step, a->tau_error * s->step};
        for (int k = 0; k < 4; k++) {
            cell[2 + k][0] = 0;
            if (!isnan(a->error)) snprintf(cell[2 + k], CELL, k < 2 ? "%.2g" : "%.3g", values[k]);
        }
        snprintf(cell[6], CELL, "%ld", s->n - s->begin);
        page_row(out, titles, row);
    }
    page_table_end(out);
    param_text_add(out, "<p class=\"soft\">tau_int in trajectories, and errors, by the Gamma method (U. Wolff, "
                        "hep-lat/0306017), S = 2.</p>\n");
}

static void add_stretches(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"stretch",  "from",   "to",       "acceptance", "<what changed",
                                         "<program", "<built", "<machine", "<began",     NULL};
    char cell[9][CELL], host[128], device[128], ranks[32], grid[32];
    const char *row[9] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], cell[7], cell[8]};
    if (e->nstretches == 0) return;
    page_heading(out, "Stretches of equal parameters");
    page_table(out, titles);
    for (int k = 0; k < e->nstretches; k++) {
        const ensemble_stretch *s = &e->stretches[k];
        snprintf(cell[0], CELL, "%d", k + 1);
        snprintf(cell[1], CELL, "%lld", (long long)s->first);
        snprintf(cell[2], CELL, "%lld", (long long)s->last);
        cell[3][0] = 0;
        if (!isnan(s->acceptance)) snprintf(cell[3], CELL, "%.3f", s->acceptance);
        snprintf(cell[4], CELL, "%s", s->changes.length ? s->changes.data + strspn(s->changes.data, " ") : "");
        stretch_value(s->text, "program", cell[5], CELL);
        stretch_value(s->text, "compilers", cell[6], CELL);
        stretch_value(s->text, "host", host, sizeof host);
        stretch_value(s->text, "device", device, sizeof device);
        stretch_value(s->text, "ranks", ranks, sizeof ranks);
        stretch_value(s->text, "grid", grid, sizeof grid);
        snprintf(cell[7], CELL, "%s, %s, %s rank%s as %s", host, device, ranks, strcmp(ranks, "1") ? "s" : "", grid);
        stretch_value(s->text, "date", cell[8], CELL);
        page_row(out, titles, row);
    }
    page_table_end(out);
}

static void add_sessions(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"session", "from", "to", "<time", "nodes", "ranks", "<host", "<began", NULL};
    char cell[8][CELL], duration[32];
    const char *row[8] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], cell[7]};
    if (e->nsessions == 0) return;
    page_fold(out, "Sessions: each start of the program, and its time");
    page_table(out, titles);
    for (int k = e->nsessions > MOST_ROWS ? e->nsessions - MOST_ROWS : 0; k < e->nsessions; k++) {
        const ensemble_session *s = &e->sessions[k];
        snprintf(cell[0], CELL, "%d", k + 1);
        snprintf(cell[1], CELL, "%lld", (long long)s->first);
        snprintf(cell[2], CELL, "%lld", (long long)s->last);
        if (s->last < s->first) snprintf(cell[2], CELL, "none done");
        snprintf(cell[3], CELL, "%s", report_duration(s->seconds, duration));
        stretch_value(s->text, "nodes", cell[4], CELL);
        stretch_value(s->text, "ranks", cell[5], CELL);
        stretch_value(s->text, "host", cell[6], CELL);
        stretch_value(s->text, "date", cell[7], CELL);
        page_row(out, titles, row);
    }
    page_table_end(out);
    page_fold_end(out);
}

static void add_kept(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"trajectory", "<file", "plaquette", "acceptance since", "<digest", NULL};
    char cell[5][CELL];
    const char *row[5] = {cell[0], cell[1], cell[2], cell[3], cell[4]};
    if (e->nkept == 0) return;
    page_fold(out, e->nkept > MOST_ROWS ? "Configurations kept (the newest; all in configurations.tsv)"
                                        : "Configurations kept");
    page_table(out, titles);
    for (int k = e->nkept > MOST_ROWS ? e->nkept - MOST_ROWS : 0; k < e->nkept; k++) {
        const ensemble_kept *c = &e->kept[k];
        snprintf(cell[0], CELL, "%lld", (long long)c->trajectory);
        snprintf(cell[1], CELL, "%s", c->file);
        snprintf(cell[2], CELL, "%.10f", c->plaquette);
        snprintf(cell[3], CELL, "%.3f", c->acceptance);
        snprintf(cell[4], CELL, "%s", c->digest);
        page_row(out, titles, row);
    }
    page_table_end(out);
    page_fold_end(out);
}

void ensemble_page(param_text *out, const ensemble *e)
{
    char title[CELL], label[PARAM_TEXT_SIZE], size[PARAM_TEXT_SIZE], date[64];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    snprintf(title, sizeof title, OUTPUT_PAGE_TITLE "%s", e->folder);
    page_begin(out, title);
    param_text_add(out, "<p class=\"soft\">");
    if (*ensemble_parameter(e, "save.ensemble", label)) {
        page_escape(out, label);
        param_text_add(out, ", ");
    }
    if (*ensemble_parameter(e, "lattice.size", size)) param_text_add(out, "lattice %s, ", size);
    param_text_add(out, "written %s by ", date);
    page_escape(out, identity_of_program());
    param_text_add(out, "</p>\n");
    add_tiles(out, e);
    if (e->advice.length) {
        page_heading(out, "What to change");
        page_list(out, e->advice.data);
    }
    add_pictures(out, e);
    add_averages(out, e);
    add_stretches(out, e);
    add_sessions(out, e);
    add_kept(out, e);
    if (e->parameters[0]) {
        page_fold(out, "Parameters of the last stretch");
        page_verbatim(out, e->parameters);
        page_fold_end(out);
    }
    page_end(out);
}
