/* Charts as inline SVG, whose colours come from the page's style (page.h), so that they are light or dark with it. A
 * series of more points than the chart has columns is drawn by its extremes in each column. Local. */
#ifndef PLAQ_CHART_H
#define PLAQ_CHART_H

#include "kernels/base/param.h"

#define CHART_COLOURS 6

/* A chart of nothing yet: no lines, axes as the series need. */
#define CHART_EMPTY                                                                                                    \
    .shaded = -INFINITY, .from = NAN, .to = NAN, .low = NAN, .high = NAN, .level = NAN, .mean = NAN, .band = NAN

typedef enum { CHART_LINE, CHART_DOTS, CHART_ERROR_BARS } chart_style;

typedef struct {
    const char *name; /* legend; NULL: none */
    chart_style style;
    int colour;          /* 0 .. CHART_COLOURS - 1 */
    const double *x, *y; /* finite */
    const double *error; /* errors of CHART_ERROR_BARS */
    long n;
} chart_series;

typedef struct {
    const char *title, *x_name, *y_name;
    const chart_series *series;
    int nseries;
    int log_y;           /* logarithmic axis of y; values that are not above zero are left out */
    double shaded;       /* x below is shaded; -INFINITY: none */
    double from, to;     /* x that the axis reaches at least; NaN: any */
    double low, high;    /* y likewise */
    double level;        /* a horizontal line, NaN: none */
    double mean, band;   /* a mean with its error, drawn as a band where x is not shaded; NaN: none */
    const double *marks; /* vertical lines */
    int nmarks;
} chart;

/* A figure, nothing when no series has a point. */
void chart_draw(param_text *out, const chart *c);

/* The histogram of n values with the normal distribution of that mean and standard deviation. */
void chart_histogram(param_text *out, const char *title, const char *x_name, const char *y_name, const double *values,
                     long n, double mean, double deviation);

#endif
