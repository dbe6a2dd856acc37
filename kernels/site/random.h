/* Random fields, site by site: the numbers of a site depend on nothing but the key and its global place. */
#include "kernels/lattice/philox.h"

/* Four random words, number `index` of the site in `lane` of unit u. */
FN void T(random_words)(uint32_t k[4], const random_args *a, long u, int lane, uint32_t index)
{
    const int16_t *c = a->g.coord[a->parity] + 4 * u;
    const int32_t *o = a->g.lane_origin + 4 * lane;
    uint64_t site = 0;
    for (int d = 3; d >= 0; d--) site = site * (uint64_t)a->g.global[d] + (uint64_t)(o[d] + c[d]);
    k[0] = (uint32_t)site;
    k[1] = (uint32_t)(site >> 32) | index << 8;
    k[2] = a->number;
    k[3] = a->purpose;
    philox(k, (uint32_t)a->seed, (uint32_t)(a->seed >> 32));
}

/* Pair number `index` of normal deviates (variance 1) of that site, by Box and Muller. */
FN void T(normal_pair)(double out[2], const random_args *a, long u, int lane, uint32_t index)
{
    uint32_t k[4];
    T(random_words)(k, a, u, lane, index);
    const double radius = sqrt(-2 * log(philox_uniform(k[0], k[1])));
    const double angle = 6.28318530717958647692 * philox_uniform(k[2], k[3]);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}
