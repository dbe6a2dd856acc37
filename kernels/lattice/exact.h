/* Sums whose value does not depend on the order of the addends.
 *
 * A double is split into three folds, integers in units of u0 > u1 > u2 = 2^(32(k-1)), 2^(32(k-2)), 2^(32(k-3)), where
 * the bin k is the smallest with |x| < 2^(32k-1) for every addend so far (pre-rounded summation; Demmel and Nguyen,
 * IEEE Trans. Comput. 64 (2015) 2060). Folds are added as integers, exactly, and never carry into each other before the
 * value is asked for: a fold that a larger addend will drop must not have left a trace in the one above. So any order,
 * any splitting over threads, lanes and ranks gives the same bits. At least 63 bits below the largest addend are kept;
 * 2^31 addends of a rank fit whatever their size; over ranks there may be 2^31 times as many (exact_wide.h). */
#ifndef PLAQ_EXACT_H
#define PLAQ_EXACT_H

#include <math.h>
#include <float.h>
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
    int32_t broken; /* an addend was NaN, infinite, or beyond 2^959 */
    int64_t fold[3];
} exact_sum;

#ifdef __cplusplus
extern "C" {
#endif

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

/* Addends of bin b are below this, half a unit of bin b + 1, so that higher bins round them to nothing. */
EXACT_FN double exact_limit(int b)
{
    return 0.5 * exact_unit(b);
}

/* The bin of an addend with |x| < exact_limit(EXACT_BIN_MAX): the lowest whose limit is above it. */
EXACT_FN int exact_bin(double x)
{
    union {
        double d;
        uint64_t i;
    } c;
    c.d = x;
    const int exponent = (int)(c.i >> 52 & 0x7ff) - 1023;    /* |x| < 2^(exponent + 1) = 2^(32 bin - 1) at most */
    const int bin = (exponent + 2 + 32 * 32 + 31) / 32 - 32; /* rounded up, of a positive number */
    return bin > EXACT_BIN_MIN ? bin : EXACT_BIN_MIN;
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

EXACT_FN void exact_merge(exact_sum *s, const exact_sum *other)
{
    exact_sum o = *other;
    exact_raise(&o, s->bin);
    exact_raise(s, o.bin);
    for (int i = 0; i < 3; i++) s->fold[i] += o.fold[i];
    s->broken |= o.broken;
}

/* Folds brought between -2^31 and 2^31 without changing the sum: then it is the first fold that is not zero that
 * decides the leading bits, and nothing cancels when the folds are put together. */
EXACT_FN void exact_carry(exact_sum *s)
{
    for (int i = 2; i > 0; i--) {
        const int64_t up = (s->fold[i] + ((int64_t)1 << 31)) >> 32;
        s->fold[i] -= up * ((int64_t)1 << 32);
        s->fold[i - 1] += up;
    }
}

/* Value of the sum, rounded to double; NaN when an addend was. Units are powers of two, so that products are exact. */
EXACT_FN double exact_value(const exact_sum *s)
{
    if (s->broken) return NAN;
    exact_sum c = *s;
    exact_carry(&c);
    return (double)c.fold[0] * exact_unit(c.bin - 1) +
           ((double)c.fold[1] * exact_unit(c.bin - 2) + (double)c.fold[2] * exact_unit(c.bin - 3));
}

/* Quotient of two sums; zero unless the one below is positive and finite. */
EXACT_FN double exact_quotient(double above, double below)
{
    return below > 0 && below <= DBL_MAX ? above / below : 0;
}

#endif
