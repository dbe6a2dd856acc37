#include "hmc/bench/times.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void best_and_median(double *times, int n, double *best, double *median)
{
    qsort(times, (size_t)n, sizeof times[0], ascending);
    *best = times[0];
    *median = times[n / 2];
}
