/* Sums whose value does not depend on the order of the addends.
 *
 * A double is split into three folds, integers in units of u0 > u1 > u2 = 2^(32(k-1)), 2^(32(k-2)), 2^(32(k-3)), where the
 * bin k is the smallest with |x| < 2^(32k) for every addend so far (pre-rounded summation; Demmel and Nguyen, IEEE
 * Trans. Comput. 64 (2015) 2060). Folds are added as integers, exactly, so any order, any splitting over threads, lanes
 * and ranks gives the same bits. At least 64 bits below the largest addend are kept. */
#ifndef PLAQ_EXACT_H
#define PLAQ_EXACT_H

#include <stdint.h>

#define EXACT_BIN_MIN (-28)
#define EXACT_BIN_MAX 30

#ifdef __CUDACC__
#define EXACT_FN static __host__ __device__ inline
#else
#define EXACT_FN static inline
#endif

typedef struct {
    int32_t bin;
    int32_t broken; /* an addend was NaN, infinite, or beyond 2^960 */
    int64_t fold[3];
} exact_sum;

#ifdef __cplusplus
extern "C" {
#endif

/* Value of the sum, rounded to double; NaN when an addend was. */
double exact_value(const exact_sum *s);
/* s += x, for sums made on the host. */
void exact_add(exact_sum *s, double x);

#ifdef __cplusplus
}
#endif

EXACT_FN exact_sum exact_zero(void)
{
    exact_sum s = {EXACT_BIN_MIN, 0, {0, 0, 0}};
    return s;
}

/* 2^(32 b) as a double, for -31 <= b <= 31. */
EXACT_FN double exact_unit(int b)
{
    union {
        uint64_t i;
        double d;
    } c;
    c.i = (uint64_t)(1023 + 32 * b) << 52;
    return c.d;
}

/* Raises the bin of s to `bin`; what falls below the last fold is dropped, as it would have been from the start. */
EXACT_FN void exact_raise(exact_sum *s, int bin)
{
    while (s->bin < bin) {
        if (s->fold[0] == 0 && s->fold[1] == 0 && s->fold[2] == 0) {
            s->bin = bin;
            return;
        }
        s->fold[2] = s->fold[1];
        s->fold[1] = s->fold[0];
        s->fold[0] = 0;
        s->bin++;
    }
}

/* Moves what exceeds 32 bits in the lower folds up, so that the folds never overflow. Rounding to nearest leaves the lower
 * folds small beside the upper ones, also for negative sums, so that exact_value() loses nothing to cancellation. */
EXACT_FN void exact_carry(exact_sum *s)
{
    for (int i = 2; i > 0; i--) {
        const int64_t up = (s->fold[i] + ((int64_t)1 << 31)) >> 32;
        s->fold[i] -= up * ((int64_t)1 << 32);
        s->fold[i - 1] += up;
    }
}

EXACT_FN void exact_merge(exact_sum *s, const exact_sum *other)
{
    exact_sum o = *other;
    exact_raise(&o, s->bin);
    exact_raise(s, o.bin);
    for (int i = 0; i < 3; i++) s->fold[i] += o.fold[i];
    s->broken |= o.broken;
    exact_carry(s);
}

#endif
