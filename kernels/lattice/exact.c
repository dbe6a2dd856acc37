#include "kernels/lattice/exact.h"

#include <math.h>

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

/* Folds brought between -2^31 and 2^31 without changing the sum: then it is the first fold that is not zero that
 * decides the leading bits, and nothing cancels when the folds are put together. */
static void carry(exact_sum *s)
{
    for (int i = 2; i > 0; i--) {
        const int64_t up = (s->fold[i] + ((int64_t)1 << 31)) >> 32;
        s->fold[i] -= up * ((int64_t)1 << 32);
        s->fold[i - 1] += up;
    }
}

double exact_value(const exact_sum *s)
{
    if (s->broken) return NAN;
    exact_sum c = *s;
    carry(&c);
    return (double)c.fold[0] * exact_unit(c.bin - 1) +
           ((double)c.fold[1] * exact_unit(c.bin - 2) + (double)c.fold[2] * exact_unit(c.bin - 3));
}
