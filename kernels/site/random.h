/* Random fields, site by site: the numbers of a site and group depend on nothing but the key and their global place. */
#include "kernels/lattice/philox.h"

/* Four random words, number `index` (below 2^8) of a group (slice and right-hand side, below 2^8 each) at the site in
 * `lane` of unit u. Global sites fit 40 bits. */
FN void T(random_words)(uint32_t k[4], const random_args *a, long u, int lane, int group, uint32_t index)
{
    const uint32_t rhs = (uint32_t)(group / a->slices), slice = (uint32_t)(group % a->slices);
    const int16_t *c = a->g.coord[a->parity] + 4 * u;
    const int32_t *o = a->g.lane_origin + 4 * lane;
    uint64_t site = 0;
    for (int d = 3; d >= 0; d--) site = site * (uint64_t)a->g.global[d] + (uint64_t)(o[d] + c[d]);
    k[0] = (uint32_t)site;
    k[1] = (uint32_t)(site >> 32) | index << 8 | slice << 16 | rhs << 24;
    k[2] = a->number;
    k[3] = a->purpose;
    philox(k, (uint32_t)a->seed, (uint32_t)(a->seed >> 32));
}

/* Pair number `index` of normal deviates (variance 1) of that site, by Box and Muller. */
FN void T(normal_pair)(double out[2], const random_args *a, long u, int lane, int group, uint32_t index)
{
    uint32_t k[4];
    T(random_words)(k, a, u, lane, group, index);
    const double radius = sqrt(-2 * log(philox_uniform(k[0], k[1])));
    const double angle = 6.28318530717958647692 * philox_uniform(k[2], k[3]);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}
