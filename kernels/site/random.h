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

/* Complex normal components, <|z|^2> = 1, the weight exp(-phi^dagger phi). */
FN void T(random_spinor_of)(const random_args *a, long u, int reals)
{
    vreal x[24];
    for (int i = 0; i < reals / 2; i++)
        for (int lane = 0; lane < W; lane++) {
            double n[2];
            T(normal_pair)(n, a, u, lane, (uint32_t)i);
            LANE(x[2 * i], lane) = n[0] * 0.70710678118654752440;
            LANE(x[2 * i + 1], lane) = n[1] * 0.70710678118654752440;
        }
    T(save)(x, &a->out, u, 0, reals);
}
VECTOR_SITE(random_spinor, out)

/* Complex components (+-1 +- i) / sqrt 2: bits 2 i and 2 i + 1 of the first word, for the ith component. */
FN void T(random_signs_of)(const random_args *a, long u, int reals)
{
    vreal x[24];
    for (int lane = 0; lane < W; lane++) {
        uint32_t k[4];
        T(random_words)(k, a, u, lane, 0);
        for (int i = 0; i < reals; i++)
            LANE(x[i], lane) = k[0] >> i & 1 ? -0.70710678118654752440 : 0.70710678118654752440;
    }
    T(save)(x, &a->out, u, 0, reals);
}
VECTOR_SITE(random_signs, out)

/* P = p^a T_a, T_a = i lambda_a / 2, with p^a normal: the weight exp(tr P^2). */
FN void T(random_momenta_site)(const random_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[8];
        for (int lane = 0; lane < W; lane++) {
            double n[8];
            for (int i = 0; i < 4; i++) T(normal_pair)(n + 2 * i, a, u, lane, (uint32_t)(4 * mu + i));
            const double third = n[1] * 0.57735026918962576451;
            LANE(x[0], lane) = 0.5 * (third + n[0]);
            LANE(x[1], lane) = 0.5 * (third - n[0]);
            for (int i = 2; i < 8; i++) LANE(x[i], lane) = 0.5 * n[i];
        }
        T(save)(x, &a->out, u, mu, 8);
    }
}

/* Links uniform on the group: two rows of normal deviates made orthonormal. */
FN void T(random_links_site)(const random_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal link[18];
        for (int i = 0; i < 6; i++)
            for (int lane = 0; lane < W; lane++) {
                double n[2];
                T(normal_pair)(n, a, u, lane, (uint32_t)(6 * mu + i));
                LANE(link[2 * i], lane) = n[0];
                LANE(link[2 * i + 1], lane) = n[1];
            }
        T(su3_unitarise)(link);
        T(save)(link, &a->out, u, mu, 18);
    }
}
