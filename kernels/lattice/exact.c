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
