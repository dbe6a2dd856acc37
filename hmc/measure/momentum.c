#include "hmc/measure/momentum.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"

void momenta_open(momenta *m, const lattice *lat, int most2)
{
    int reach = 0;
    while ((reach + 1) * (reach + 1) <= most2) reach++;
    m->n = 0;
    m->reach = reach;
    for (int z = -reach; z <= reach; z++)
        for (int y = -reach; y <= reach; y++)
            for (int x = -reach; x <= reach; x++) {
                if (x * x + y * y + z * z > most2) continue;
                REQUIRE(m->n < MOMENTA_MOST, "more than %d momenta", MOMENTA_MOST);
                int *to = m->number[m->n++];
                to[0] = x, to[1] = y, to[2] = z;
            }
    for (int d = 0; d < 3; d++) {
        const int size = m->size[d] = lat->size[d];
        m->wave[d] = malloc((size_t)size * sizeof *m->wave[d]);
        REQUIRE_MEMORY(m->wave[d], "out of memory");
        for (int k = 0; k < size; k++) m->wave[d][k] = cexp(-2 * M_PI * I * k / size);
    }
}

void momenta_close(momenta *m)
{
    for (int d = 0; d < 3; d++) free(m->wave[d]);
}

/* Wave of so many periods along d, at a distance. */
static double complex factor_of(const momenta *m, int d, int number, int distance)
{
    const int k = number * distance % m->size[d];
    return m->wave[d][k < 0 ? k + m->size[d] : k];
}

double complex momenta_wave(const momenta *m, int i, const int x[3])
{
    double complex phase = 1;
    for (int d = 0; d < 3; d++) phase *= factor_of(m, d, m->number[i][d], x[d]);
    return phase;
}

int momenta_opposite(const momenta *m, int i)
{
    return m->n - 1 - i;
}

slice_waves momenta_waves(const momenta *m, const int x0[3])
{
    slice_waves w = {.n = m->n};
    int(*number)[3] = malloc((size_t)m->n * sizeof *number);
    REQUIRE_MEMORY(number, "out of memory for %d waves", m->n);
    for (int d = 0; d < 3; d++) {
        const int size = m->size[d];
        w.factors[d] = 2 * m->reach + 1;
        double(*factor)[2] = malloc((size_t)(w.factors[d] * size) * sizeof *factor);
        REQUIRE_MEMORY(factor, "out of memory for factors of waves");
        for (int n = 0; n < w.factors[d]; n++)
            for (int x = 0; x < size; x++) {
                const double complex value = factor_of(m, d, n - m->reach, x - x0[d]);
                factor[n * size + x][0] = creal(value);
                factor[n * size + x][1] = cimag(value);
            }
        for (int i = 0; i < m->n; i++) number[i][d] = m->number[i][d] + m->reach;
        w.factor[d] = (const double(*)[2])factor;
    }
    w.number = (const int(*)[3])number;
    return w;
}

void momenta_waves_free(slice_waves *w)
{
    for (int d = 0; d < 3; d++) free((void *)w->factor[d]);
    free((void *)w->number);
}
