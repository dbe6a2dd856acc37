#include "kernels/lattice/exact.h"

#include <math.h>

void exact_add(exact_sum *s, double x)
{
    if (!(fabs(x) < exact_unit(EXACT_BIN_MAX))) {
        s->broken = 1;
        return;
    }
    int bin = s->bin;
    while (!(fabs(x) < exact_unit(bin))) bin++;
    exact_raise(s, bin);
    for (int i = 0; i < 3; i++) {
        const double unit = exact_unit(bin - 1 - i), magic = 6755399441055744.0 * unit;
        const double t = (x + magic) - magic;
        s->fold[i] += (int64_t)(t / unit);
        x -= t;
    }
    exact_carry(s);
}

double exact_value(const exact_sum *s)
{
    if (s->broken) return NAN;
    exact_sum c = *s;
    exact_carry(&c);
    return (double)c.fold[0] * exact_unit(c.bin - 1) +
           ((double)c.fold[1] * exact_unit(c.bin - 2) + (double)c.fold[2] * exact_unit(c.bin - 3));
}
