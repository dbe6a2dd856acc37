#include "hmc/report/jackknife.h"

#include <math.h>

void jackknife_means(double *mean, double *without, const double *values, int T, long blocks, int block)
{
    for (int t = 0; t < T; t++) {
        double sum = 0;
        for (long k = 0; k < blocks * block; k++) sum += values[k * T + t];
        mean[t] = sum / (double)(blocks * block);
        for (long b = 0; b < blocks && blocks > 1; b++) {
            double own = 0;
            for (long k = b * block; k < (b + 1) * block; k++) own += values[k * T + t];
            without[b * T + t] = (sum - own) / (double)((blocks - 1) * block);
        }
    }
}

double jackknife_error(const double *samples, long blocks)
{
    double square = 0, centre = 0;
    if (blocks < 2) return NAN;
    for (long b = 0; b < blocks; b++) centre += samples[b] / (double)blocks;
    for (long b = 0; b < blocks; b++) square += (samples[b] - centre) * (samples[b] - centre);
    return sqrt(square * (double)(blocks - 1) / (double)blocks);
}
