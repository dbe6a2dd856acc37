/* Random vectors: T(normal_pair) and T(random_words) of random.h, component by component. */

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
