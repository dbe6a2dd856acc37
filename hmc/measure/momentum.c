#include "hmc/measure/momentum.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"

void momenta_open(momenta *m, const lattice *lat, int most2)
{
    int reach = 0;
    m->n = 0;
    while ((reach + 1) * (reach + 1) <= most2) reach++;
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

double complex momenta_wave(const momenta *m, int i, const int x[3])
{
    double complex phase = 1;
    for (int d = 0; d < 3; d++) {
        const int k = m->number[i][d] * x[d] % m->size[d];
        phase *= m->wave[d][k < 0 ? k + m->size[d] : k];
    }
    return phase;
}
