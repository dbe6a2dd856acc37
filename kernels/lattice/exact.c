#include "kernels/lattice/exact.h"

#include <math.h>

#include "kernels/lattice/exact_wide.h"

void exact_add(exact_sum *s, double x)
{
    if (!(fabs(x) < exact_limit(EXACT_BIN_MAX))) {
        s->broken = 1;
        return;
    }
    int bin = s->bin;
    while (!(fabs(x) < exact_limit(bin))) bin++;
    exact_raise(s, bin);
    for (int i = 0; i < 3; i++) {
        const double unit = exact_unit(bin - 1 - i), magic = 6755399441055744.0 * unit;
        const double t = (x + magic) - magic;
        s->fold[i] += (int64_t)(t / unit);
        x -= t;
    }
}

/* ---- over ranks ---- */

#define HALF ((int64_t)1 << 31)
#define WHOLE ((int64_t)1 << 32)

/* x = high 2^32 + low, -2^31 <= low < 2^31. */
static void split(int64_t x, int64_t *high, int64_t *low)
{
    *low = (int64_t)(((uint64_t)x + (uint64_t)HALF) & 0xffffffffu) - HALF;
    *high = (x >> 32) + (*low < 0);
}

exact_wide exact_widen(const exact_sum *s)
{
    exact_wide w = {.bin = s->bin, .broken = s->broken};
    for (int i = 0; i < 3; i++) split(s->fold[i], &w.high[i], &w.low[i]);
    return w;
}

static void raise_wide(exact_wide *s, int bin)
{
    for (; s->bin < bin; s->bin++) {
        for (int i = 2; i > 0; i--) {
            s->high[i] = s->high[i - 1];
            s->low[i] = s->low[i - 1];
        }
        s->high[0] = s->low[0] = 0;
    }
}

void exact_wide_merge(exact_wide *s, const exact_wide *other)
{
    exact_wide o = *other;
    raise_wide(&o, s->bin);
    raise_wide(s, o.bin);
    for (int i = 0; i < 3; i++) {
        s->high[i] += o.high[i];
        s->low[i] += o.low[i];
    }
    s->broken |= o.broken;
}

/* Folds 1 and 2 between -2^31 and 2^31, as exact_carry() leaves them, and what is left in units of the first fold:
 * high 2^32 + low, with low in the same bounds. */
static void carry_wide(exact_wide *s)
{
    int64_t up, rest;
    for (int i = 2; i > 0; i--) {
        split(s->low[i], &up, &rest);
        s->low[i] = rest;
        s->low[i - 1] += s->high[i] + up;
        s->high[i] = 0;
    }
    split(s->low[0], &up, &rest);
    s->low[0] = rest;
    s->high[0] += up;
}

exact_sum exact_narrow(const exact_wide *s)
{
    exact_wide w = *s;
    carry_wide(&w);
    exact_sum n = {.bin = w.bin, .broken = w.broken, .fold = {0, w.low[1], w.low[2]}};
    if (w.high[0] > -HALF && w.high[0] < HALF - 1) {
        n.fold[0] = w.high[0] * WHOLE + w.low[0];
    } else { /* the high part becomes a fold of its own */
        n.bin++;
        n.fold[0] = w.high[0];
        n.fold[1] = w.low[0];
        n.fold[2] = w.low[1];
        if (n.bin > EXACT_BIN_MAX) n.broken = 1;
    }
    return n;
}
