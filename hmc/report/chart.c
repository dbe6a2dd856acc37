#include "hmc/report/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/page.h"

/* The picture and the plot inside it, in units of the SVG. */
#define WIDTH 480
#define HEIGHT 230
#define LEFT 88
#define TOP 10
#define PLOT_WIDTH (WIDTH - LEFT - 12)
#define PLOT_HEIGHT (HEIGHT - TOP - 40)
#define TICKS 7

typedef struct {
    double low, high;
    int is_log; /* logarithms of values */
} range;

static void include(range *r, double x)
{
    if (r->is_log) x = x > 0 ? log10(x) : NAN;
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

/* Room on both sides, and some width where all values are equal. */
static range widened(range r)
{
    double room = 0.05 * (r.high - r.low);
    if (!(room > 0)) room = fmax(1e-12, 0.05 * fabs(r.high));
    return (range){r.low - room, r.high + room, r.is_log};
}

static double across(range r, double x)
{
    return PLOT_WIDTH * (x - r.low) / (r.high - r.low);
}

static double down(range r, double y)
{
    return PLOT_HEIGHT * (r.high - (r.is_log ? log10(y) : y)) / (r.high - r.low);
}

/* ---- axes ---- */

/* The step of about TICKS ticks: 1, 2 or 5 times a power of ten. */
static double tick_step(range r)
{
    const double raw = (r.high - r.low) / TICKS, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static void tick_text(char text[32], double x, double step)
{
    const double most = fmax(fabs(x), step);
    const int digits = (int)fmax(0, ceil(-log10(step) - 1e-9));
    if (most >= 1e6 || digits > 9 || (digits > 6 && most < 1e-4))
        snprintf(text, 32, "%.3g", fabs(x) < 1e-9 * step ? 0 : x);
    else snprintf(text, 32, "%.*f", digits, fabs(x) < 1e-9 * step ? 0 : x);
}

static void draw_y_tick(param_text *out, range y, double value, const char *text)
{
    const double at = TOP + down(y, value);
    param_text_add(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, LEFT + PLOT_WIDTH,
                   at, at);
    param_text_add(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 6, at + 4, text);
}

/* Ticks at powers of ten, and where these are few at 2 and 5 times them, or as on a linear axis. */
static void draw_log_ticks(param_text *out, range y)
{
    static const int leads[] = {1, 2, 5};
    char text[32];
    const double decades = y.high - y.low;
    if (decades < 0.7) {
        const range linear = {pow(10, y.low), pow(10, y.high), 0};
        const double step = tick_step(linear);
        for (double t = ceil(linear.low / step) * step; t <= linear.high; t += step) {
            tick_text(text, t, step);
            draw_y_tick(out, y, t, text);
        }
        return;
    }
    const int stride = (int)fmax(1, ceil(decades / TICKS));
    for (int power = (int)floor(y.low); power <= y.high; power += stride)
        for (int k = 0; k < (decades < 3 ? 3 : 1); k++) {
            const double t = leads[k] * pow(10, power);
            if (log10(t) < y.low || log10(t) > y.high) continue;
            snprintf(text, sizeof text, "%g", t);
            draw_y_tick(out, y, t, text);
        }
}

static void draw_name(param_text *out, const char *name, const char *place)
{
    param_text_add(out, "<text class=\"axis\" text-anchor=\"middle\" %s>", place);
    page_escape(out, name);
    param_text_add(out, "</text>\n");
}

static void draw_axes(param_text *out, const chart *c, range x, range y)
{
    char text[32], place[96];
    const double x_step = tick_step(x);
    if (y.is_log) draw_log_ticks(out, y);
    else
        for (double step = tick_step(y), t = ceil(y.low / step) * step; t <= y.high; t += step) {
            tick_text(text, t, step);
            draw_y_tick(out, y, t, text);
        }
    for (double t = ceil(x.low / x_step) * x_step; t <= x.high; t += x_step) {
        tick_text(text, t, x_step);
        param_text_add(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", LEFT + across(x, t),
                       TOP + PLOT_HEIGHT + 16, text);
    }
    param_text_add(out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP, PLOT_WIDTH,
                   PLOT_HEIGHT);
    snprintf(place, sizeof place, "x=\"%d\" y=\"%d\"", LEFT + PLOT_WIDTH / 2, HEIGHT - 6);
    draw_name(out, c->x_name, place);
    snprintf(place, sizeof place, "transform=\"translate(13 %d) rotate(-90)\"", TOP + PLOT_HEIGHT / 2);
    draw_name(out, c->y_name, place);
}

/* ---- series ---- */

static void draw_point(param_text *out, const chart_series *s, long i, range x, range y)
{
    if (y.is_log && !(s->y[i] > 0)) return;
    const double px = across(x, s->x[i]), py = down(y, s->y[i]);
    if (s->style == CHART_ERROR_BARS)
        param_text_add(out, "<line class=\"s%d\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", s->colour, px, px,
                       down(y, s->y[i] - s->error[i]), down(y, s->y[i] + s->error[i]));
    param_text_add(out, "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>", s->colour, px, py,
                   s->style == CHART_ERROR_BARS ? "3" : "1.4");
}

/* The rows of columns of the picture: first, lowest, highest and last of each are enough. */
static long end_of_column(const chart_series *s, long i, range x)
{
    const double column = floor(across(x, s->x[i]));
    while (i < s->n && floor(across(x, s->x[i])) == column) i++;
    return i;
}

static void draw_series(param_text *out, const chart_series *s, range x, range y)
{
    const int thin = s->n > 2 * PLOT_WIDTH && s->style != CHART_ERROR_BARS;
    if (s->style == CHART_LINE) param_text_add(out, "<polyline class=\"s%d\" points=\"", s->colour);
    for (long i = 0, end; i < s->n; i = end) {
        end = thin ? end_of_column(s, i, x) : i + 1;
        long low = i, high = i;
        for (long k = i; k < end; k++) {
            if (s->y[k] < s->y[low]) low = k;
            if (s->y[k] > s->y[high]) high = k;
        }
        const long shown[2] = {low < high ? low : high, low < high ? high : low};
        for (int k = 0; k < 2; k++) {
            if (k == 1 && shown[1] == shown[0]) continue;
            if (s->style == CHART_LINE && y.is_log && !(s->y[shown[k]] > 0)) continue;
            if (s->style == CHART_LINE)
                param_text_add(out, "%.1f,%.1f ", across(x, s->x[shown[k]]), down(y, s->y[shown[k]]));
            else draw_point(out, s, shown[k], x, y);
        }
    }
    param_text_add(out, s->style == CHART_LINE ? "\"/>\n" : "\n");
}

/* ---- all ---- */

static long find_ranges(const chart *c, range *x, range *y)
{
    const double at_least[4] = {c->low, c->high, c->level, c->mean};
    long points = 0;
    *x = (range){INFINITY, -INFINITY, 0};
    *y = (range){INFINITY, -INFINITY, c->log_y};
    for (int k = 0; k < c->nseries; k++) {
        const chart_series *s = &c->series[k];
        for (long i = 0; i < s->n; i++) {
            const double e = s->error ? s->error[i] : 0;
            include(x, s->x[i]);
            include(y, s->y[i] - e);
            include(y, s->y[i] + e);
            points += !c->log_y || s->y[i] > 0;
        }
    }
    for (int k = 0; k < 4; k++)
        if (!isnan(at_least[k])) include(y, at_least[k]);
    if (!isnan(c->from)) include(x, c->from);
    if (!isnan(c->to)) include(x, c->to);
    *x = widened(*x);
    *y = widened(*y);
    return points;
}

/* The mean, where it was taken. */
static void draw_band(param_text *out, const chart *c, range x, range y)
{
    const double left = fmax(0, across(x, c->shaded)), band = isnan(c->band) ? 0 : c->band;
    if (isnan(c->mean) || left >= PLOT_WIDTH) return;
    const double high = down(y, c->mean + band), low = down(y, c->mean - band), at = down(y, c->mean);
    param_text_add(out, "<rect class=\"band\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\"/>\n", left, high,
                   PLOT_WIDTH - left, low - high);
    param_text_add(out, "<line class=\"mean\" x1=\"%.1f\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/>\n", left, PLOT_WIDTH, at,
                   at);
}

static void open_figure(param_text *out, const char *title)
{
    param_text_add(out, "<figure><figcaption>");
    page_escape(out, title);
    param_text_add(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    page_escape(out, title);
    param_text_add(out, "</title>\n");
}

static void draw_legend(param_text *out, const chart *c)
{
    int names = 0;
    for (int k = 0; k < c->nseries; k++) names += c->series[k].name != NULL;
    if (!names) return;
    param_text_add(out, "<p class=\"legend\">");
    for (int k = 0; k < c->nseries; k++) {
        if (!c->series[k].name) continue;
        param_text_add(out, "<span><i class=\"k%d\"></i>", c->series[k].colour);
        page_escape(out, c->series[k].name);
        param_text_add(out, "</span> ");
    }
    param_text_add(out, "</p>");
}

/* The inner svg cuts off what lies outside of the plot. */
static void open_plot(param_text *out)
{
    param_text_add(out, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n", LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT);
}

void chart_draw(param_text *out, const chart *c)
{
    range x, y;
    if (find_ranges(c, &x, &y) == 0) return;
    open_figure(out, c->title);
    draw_axes(out, c, x, y);
    open_plot(out);
    if (c->shaded > x.low)
        param_text_add(out, "<rect class=\"shade\" x=\"0\" y=\"0\" width=\"%.1f\" height=\"%d\"/>\n",
                       fmin(PLOT_WIDTH, across(x, c->shaded)), PLOT_HEIGHT);
    for (int k = 0; k < c->nmarks; k++)
        param_text_add(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>\n",
                       across(x, c->marks[k]), across(x, c->marks[k]), PLOT_HEIGHT);
    if (!isnan(c->level))
        param_text_add(out, "<line class=\"level\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", PLOT_WIDTH,
                       down(y, c->level), down(y, c->level));
    for (int k = 0; k < c->nseries; k++) draw_series(out, &c->series[k], x, y);
    draw_band(out, c, x, y);
    param_text_add(out, "</svg></svg>");
    draw_legend(out, c);
    param_text_add(out, "</figure>\n");
}

/* ---- histograms ---- */

#define MOST_BINS 40
#define CURVE_POINTS 100

/* The width of D. Freedman and P. Diaconis would need quartiles; that of D. Scott, 3.5 sigma n^{-1/3}, does as well. */
static int find_bins(range *r, const double *values, long n, double deviation)
{
    *r = (range){INFINITY, -INFINITY, 0};
    for (long i = 0; i < n; i++) include(r, values[i]);
    if (!(r->high > r->low)) *r = widened(*r);
    const double width = 3.5 * deviation / cbrt((double)n);
    const int bins = width > 0 ? (int)ceil((r->high - r->low) / width) : 1;
    return bins < 1 ? 1 : bins > MOST_BINS ? MOST_BINS : bins;
}

void chart_histogram(param_text *out, const char *title, const char *x_name, const char *y_name, const double *values,
                     long n, double mean, double deviation)
{
    long count[MOST_BINS] = {0}, most = 0;
    range x, y = {0, 0, 0};
    if (n == 0) return;
    const int bins = find_bins(&x, values, n, deviation);
    const double width = (x.high - x.low) / bins;
    for (long i = 0; i < n; i++) {
        const int b = (int)((values[i] - x.low) / width);
        const long now = ++count[b < 0 ? 0 : b >= bins ? bins - 1 : b];
        if (now > most) most = now;
    }
    const double peak = deviation > 0 ? (double)n * width / (deviation * sqrt(2 * M_PI)) : 0;
    y.high = 1.05 * fmax((double)most, deviation > 0 ? peak : 0);
    const chart axes = {.x_name = x_name, .y_name = y_name};
    open_figure(out, title);
    draw_axes(out, &axes, x, y);
    open_plot(out);
    for (int b = 0; b < bins; b++)
        param_text_add(out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                       across(x, x.low + b * width) + 0.5, down(y, (double)count[b]), (double)PLOT_WIDTH / bins - 1,
                       PLOT_HEIGHT - down(y, (double)count[b]));
    param_text_add(out, "\n<polyline class=\"s1\" points=\"");
    for (int i = 0; i <= CURVE_POINTS && deviation > 0; i++) {
        const double at = x.low + (x.high - x.low) * i / CURVE_POINTS, z = (at - mean) / deviation;
        param_text_add(out, "%.1f,%.1f ", across(x, at), down(y, peak * exp(-z * z / 2)));
    }
    param_text_add(out, "\"/></svg></svg></figure>\n");
}
