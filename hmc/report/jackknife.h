/* The jackknife over blocks of configurations. Local. */
#ifndef PLAQ_JACKKNIFE_H
#define PLAQ_JACKKNIFE_H

/* Means of values[configuration][T] over `blocks` blocks of `block` configurations in a row: mean[T] over all of them, and
 * without[blocks][T], which leave out one block each, and stay as they are where there is but one. */
void jackknife_means(double *mean, double *without, const double *values, int T, long blocks, int block);
/* Error of a quantity from its values on those means; NaN of fewer than two. */
double jackknife_error(const double *samples, long blocks);

#endif
