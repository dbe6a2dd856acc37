/* Times of plaq bench. */
#ifndef PLAQ_BENCH_TIMES_H
#define PLAQ_BENCH_TIMES_H

/* The shortest of n times, and their median; sorts them. */
void best_and_median(double *times, int n, double *best, double *median);

#endif
