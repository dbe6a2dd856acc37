#include "hmc/report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/error.h"

double *table_numbers(size_t n)
{
    double *all = calloc(n + 1, sizeof *all);
    REQUIRE_MEMORY(all, "out of memory for %zu numbers", n);
    return all;
}

void table_cell(param_text *out, double x, const char *format)
{
    char text[64];
    snprintf(text, sizeof text, format, x);
    param_text_add(out, " %16s", isfinite(x) ? text : "-");
}

long table_points(int T, int first, const double *value, const double *error, double *x, double *y, double *dy)
{
    long n = 0;
    for (int t = 0; t < T; t++) {
        if (!isfinite(value[t])) continue;
        x[n] = first + t;
        y[n] = value[t];
        dy[n++] = isfinite(error[t]) ? error[t] : 0;
    }
    return n;
}
