/* Random vectors: component by component, in all groups, in both orders of storage. Double precision.
 *
 * A site of a field in rows order has up to 2^9 reals, which stand behind each other. */
#define RANDOM_PART 24 /* reals that are made together */

/* Reals first to first + n - 1 of a group, of those that name_part makes. */
#define RANDOM_VECTOR_SITE(name)                                                                                       \
    FN void T(name##_site)(const random_args *a, long u)                                                               \
    {                                                                                                                  \
        vreal x[RANDOM_PART];                                                                                          \
        for (int g = 0; g < a->out.groups; g++) {                                                                      \
            if (a->reals == 24 && !a->rows) {                                                                                      \
                T(name##_part)(x, a, u, g, 0, 24);                                                                     \
                T(save)(x, &a->out, u, g, 24);                                                                         \
            } else if (a->reals == 6 && !a->rows) {                                                                                \
                T(name##_part)(x, a, u, g, 0, 6);                                                                      \
                T(save)(x, &a->out, u, g, 6);                                                                          \
            } else {                                                                                                   \
                for (int first = 0; first < a->reals; first += 4) {                                                    \
                    T(name##_part)(x, a, u, g, first, 4);                                                              \
                    T(save_row_part)(x, &a->out, u, g, first);                                                         \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Four reals of a row, of a field of one lane. */
FN void T(save_row_part)(const vreal *x, const view *v, long u, int group, int first)
{
    double *row = (double *)v->data + group * v->group_stride + u * v->stride + first;
    for (int i = 0; i < 4; i++) row[i] = LANE(x[i], 0);
}

/* Complex normal components, <|z|^2> = 1, the weight exp(-phi^dagger phi). */
FN void T(random_spinor_part)(vreal *x, const random_args *a, long u, int group, int first, int n)
{
    for (int i = 0; i < n / 2; i++)
        for (int lane = 0; lane < W; lane++) {
            double pair[2];
            T(normal_pair)(pair, a, u, lane, group, (uint32_t)(first / 2 + i));
            LANE(x[2 * i], lane) = pair[0] * 0.70710678118654752440;
            LANE(x[2 * i + 1], lane) = pair[1] * 0.70710678118654752440;
        }
}
RANDOM_VECTOR_SITE(random_spinor)

/* Complex components (+-1 +- i) / sqrt 2: real c of a group is bit c % 32 of word c / 32 of its random words. */
FN void T(random_signs_part)(vreal *x, const random_args *a, long u, int group, int first, int n)
{
    for (int lane = 0; lane < W; lane++) {
        uint32_t k[4];
        T(random_words)(k, a, u, lane, group, (uint32_t)(first / 128));
        for (int i = 0; i < n; i++)
            LANE(x[i], lane) =
                k[(first + i) / 32 % 4] >> (first + i) % 32 & 1 ? -0.70710678118654752440 : 0.70710678118654752440;
    }
}
RANDOM_VECTOR_SITE(random_signs)
