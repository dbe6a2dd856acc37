/* The charts of a run: histories with the warm-up shaded and means as bands, distribution of dH, acceptance by windows,
 * autocorrelation, all forces and iterations, all measurements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/chart.h"
#include "hmc/report/ensemble.h"
#include "hmc/report/page.h"

/* Ranges of y so much larger than that of the averages leave nothing to be seen of these. */
#define MUCH_LARGER 4

/* Trajectories where stretches begin, but for the first. */
static int find_marks(const ensemble *e, double **marks)
{
    int n = 0;
    *marks = malloc((size_t)(e->nstretches + 1) * sizeof **marks);
    REQUIRE_MEMORY(*marks, "out of memory: %d stretches", e->nstretches);
    for (int k = 1; k < e->nstretches; k++) (*marks)[n++] = (double)e->stretches[k].first - 0.5;
    return n;
}

static void find_range(const ensemble_series *s, long from, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (long i = from; i < s->n; i++) {
        *low = fmin(*low, s->value[i]);
        *high = fmax(*high, s->value[i]);
    }
}

/* True where the rows before the averages stretch the range so that these become a line. */
static int is_flattened(const ensemble_series *s)
{
    double all[2], counted[2];
    find_range(s, 0, &all[0], &all[1]);
    find_range(s, s->begin, &counted[0], &counted[1]);
    return s->begin > 0 && s->n - s->begin > 1 && all[1] - all[0] > MUCH_LARGER * (counted[1] - counted[0]);
}

/* The history of a series with its mean; when the warm-up flattens it, that of its averages in a chart of their own. */
static void draw_one(param_text *out, const ensemble *e, const char *title, const char *name, const char *y_name,
                     chart_style style, double level)
{
    const ensemble_series *s = ensemble_find(e, name);
    double *marks;
    char zoomed[256];
    if (!s) return;
    chart_series series = {.style = style, .x = s->at, .y = s->value, .n = s->n};
    chart c = {CHART_EMPTY, .title = title, .x_name = "trajectory", .y_name = y_name, .series = &series, .nseries = 1};
    c.shaded = (double)s->from;
    c.level = level;
    c.from = 0;
    c.to = (double)e->done;
    if (s->n > s->begin) c.mean = s->a.mean, c.band = s->a.error;
    c.nmarks = find_marks(e, &marks);
    c.marks = marks;
    chart_draw(out, &c);
    if (is_flattened(s)) {
        snprintf(zoomed, sizeof zoomed, "%s, without the warm-up", title);
        c.title = zoomed;
        c.from = c.shaded = (double)s->from;
        series.x += s->begin;
        series.y += s->begin;
        series.n -= s->begin;
        while (c.nmarks > 0 && c.marks[0] < c.from) c.marks++, c.nmarks--;
        chart_draw(out, &c);
    }
    free(marks);
}

/* Draws one chart of series number `from` and those after it whose name begins so, as many as there are colours. Returns the
 * number of the first series that is left. */
static int draw_some_of(param_text *out, const ensemble *e, const chart *like, const char *prefix, int from)
{
    chart_series series[CHART_COLOURS];
    chart c = *like;
    int i = from;
    c.series = series;
    for (; i < e->nseries && c.nseries < CHART_COLOURS; i++) {
        const ensemble_series *s = &e->series[i];
        if (strncmp(s->name, prefix, strlen(prefix))) continue;
        series[c.nseries] = (chart_series){.name = s->name + strlen(prefix),
                                           .style = CHART_LINE,
                                           .colour = c.nseries,
                                           .x = s->at,
                                           .y = s->value,
                                           .n = s->n};
        c.nseries++;
    }
    chart_draw(out, &c);
    return i;
}

/* Draws all series whose name begins so, in charts of the same range. */
static void draw_all_of(param_text *out, const ensemble *e, const char *title, const char *y_name, const char *prefix,
                        int log_y)
{
    double *marks, low, high;
    char numbered[128];
    int count = 0;
    chart c = {CHART_EMPTY, .x_name = "trajectory", .y_name = y_name, .log_y = log_y};
    c.shaded = (double)e->acceptance_from;
    c.from = 0;
    c.to = (double)e->done;
    for (int i = 0; i < e->nseries; i++) {
        if (strncmp(e->series[i].name, prefix, strlen(prefix))) continue;
        find_range(&e->series[i], 0, &low, &high);
        c.low = count ? fmin(c.low, low) : low;
        c.high = count ? fmax(c.high, high) : high;
        count++;
    }
    const int charts = (count + CHART_COLOURS - 1) / CHART_COLOURS;
    c.nmarks = find_marks(e, &marks);
    c.marks = marks;
    c.title = title;
    for (int k = 0, next = 0; k < charts; k++) {
        snprintf(numbered, sizeof numbered, "%s (%d of %d)", title, k + 1, charts);
        if (charts > 1) c.title = numbered;
        next = draw_some_of(out, e, &c, prefix, next);
    }
    free(marks);
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
        chart_histogram(out, "Distribution of dH, and the normal one", "dH", "trajectories", s->value + s->begin, n,
                        mean, sqrt(fmax(0, squares - mean * mean)));
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
    const chart c = {
        CHART_EMPTY, .title = "Acceptance by windows", .x_name = "trajectory", .y_name = "acceptance", .series = series,
        .nseries = 2};
    chart_draw(out, &c);
}

static void draw_correlation(param_text *out, const ensemble *e)
{
    const ensemble_series *s = ensemble_find(e, "plaquette");
    if (!s || !(s->a.error > 0)) return;
    /* Beyond the window rho is noise; some of it shows how much. */
    const long most = (long)((s->at[s->n - 1] - s->at[s->begin]) / (2 * s->a.unit)) + 1;
    const long lags = 3 * s->a.window + 10 < most ? 3 * s->a.window + 10 : most;
    double *lag = malloc((size_t)(3 * lags) * sizeof *lag), *rho = lag + lags, *error = rho + lags;
    REQUIRE_MEMORY(lag, "out of memory: %ld lags", lags);
    autocorrelation_function(s->at + s->begin, s->value + s->begin, s->n - s->begin, rho, error, lags);
    long known = 0;
    for (long t = 0; t < lags; t++) lag[t] = (double)t * s->a.unit;
    while (known < lags && isfinite(rho[known]) && isfinite(error[known])) known++;
    const double window = (double)s->a.window * s->a.unit;
    const chart_series series = {NULL, CHART_ERROR_BARS, 0, lag, rho, error, known};
    chart c = {CHART_EMPTY,
               .title = "Autocorrelation of the plaquette, and the window of tau_int",
               .x_name = "trajectories apart",
               .y_name = "rho",
               .series = &series,
               .nseries = 1,
               .marks = &window,
               .nmarks = 1};
    c.level = 0;
    chart_draw(out, &c);
    free(lag);
}

static void draw_measurements(param_text *out, const ensemble *e)
{
    char y_name[160];
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        if (strncmp(s->name, "measure/", 8) || strstr(s->name, " charge squared")) continue;
        const char *column = strrchr(s->name, ' ');
        snprintf(y_name, sizeof y_name, "%.60s%s%.48s%s", column ? column + 1 : s->name, *s->unit ? " [" : "", s->unit,
                 *s->unit ? "]" : "");
        draw_one(out, e, s->name + 8, s->name, y_name, strstr(s->name, " charge") ? CHART_DOTS : CHART_LINE, NAN);
    }
}

void ensemble_charts(param_text *out, const ensemble *e)
{
    page_heading(out, "History");
    param_text_add(out,
                   "<p class=\"soft\">Shaded: before the averages. Band: the mean and its error. Dotted: a new block "
                   "of parameters.</p>\n");
    page_figures(out);
    draw_one(out, e, "Plaquette", "plaquette", "plaquette", CHART_LINE, NAN);
    draw_one(out, e, "dH", "dH", "dH", CHART_DOTS, 0);
    draw_dh(out, e);
    draw_windows(out, e);
    draw_correlation(out, e);
    draw_all_of(out, e, "Forces, root mean square over links", "force", "force ", 1);
    draw_all_of(out, e, "Solver iterations a trajectory", "iterations", "iterations ", 1);
    draw_one(out, e, "Seconds a trajectory", "seconds", "seconds", CHART_LINE, NAN);
    draw_measurements(out, e);
    page_figures_end(out);
}
