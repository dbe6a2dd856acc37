/* Exact sums over ranks: folds of 96 bits and more, so that the sums of 2^31 ranks fit, of 2^31 addends each.
 *
 * A fold is kept as high 2^32 + low, and both parts are added by themselves: neither carries before all ranks are in,
 * which keeps the value independent of the order (exact.h says why). */
#ifndef PLAQ_EXACT_WIDE_H
#define PLAQ_EXACT_WIDE_H

#include "kernels/lattice/exact.h"

typedef struct {
    int32_t bin, broken;
    int64_t high[3], low[3];
} exact_wide;

/* Widens a sum, and merges `other` into s. */
exact_wide exact_widen(const exact_sum *s);
void exact_wide_merge(exact_wide *s, const exact_wide *other);
/* The sum in folds of 64 bits, for exact_value(), after which nothing may be added. Where more than 2^31 large addends
 * do not fit the bin rises, and only bits 60 below the leading one are lost: the same ones in any order. */
exact_sum exact_narrow(const exact_wide *s);

#endif
