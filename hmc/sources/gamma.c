#include "hmc/sources/gamma.h"

#include <stddef.h>

#include "kernels/base/param.h"

static const struct {
    const char *name;
    int n, numbers[6], needs_spin;
} groups[] = {
    {"scalar", 1, {0}, 0},
    {"pseudoscalar", 1, {GAMMA_5}, 1},
    {"vector", 4, {1, 2, 4, 8}, 0},
    {"axial", 4, {14, 13, 11, 7}, 1},
    {"tensor", 6, {3, 5, 6, 9, 10, 12}, 1},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

/* gamma_mu of kernels/site/spin.h. */
static spin_matrix one_gamma(int mu)
{
    static const spin_matrix all[4] = {{{3, 2, 1, 0}, {I, I, -I, -I}},
                                       {{3, 2, 1, 0}, {-1, 1, 1, -1}},
                                       {{2, 3, 0, 1}, {I, -I, -I, I}},
                                       {{2, 3, 0, 1}, {1, 1, 1, 1}}};
    return all[mu];
}

spin_matrix gamma_product(const spin_matrix *a, const spin_matrix *b)
{
    spin_matrix c;
    for (int s = 0; s < GAMMA_SPINS; s++) {
        c.at[s] = b->at[a->at[s]];
        c.value[s] = a->value[s] * b->value[a->at[s]];
    }
    return c;
}

spin_matrix gamma_number(int number)
{
    spin_matrix m = {{0, 1, 2, 3}, {1, 1, 1, 1}};
    for (int mu = 0; mu < 4; mu++)
        if (number >> mu & 1) {
            const spin_matrix g = one_gamma(mu);
            m = gamma_product(&m, &g);
        }
    return m;
}

spin_matrix gamma_of_source(const spin_matrix *gamma)
{
    const spin_matrix t = gamma_number(8);
    spin_matrix conjugate = *gamma;
    for (int s = 0; s < GAMMA_SPINS; s++) conjugate.value[s] = conj(gamma->value[s]);
    const spin_matrix left = gamma_product(&t, &conjugate); /* gamma_t is real and symmetric */
    return gamma_product(&left, &t);
}

int gamma_listed(const char *words, int *numbers)
{
    int n = 0;
    for (int g = 0; g < GROUPS; g++)
        if (param_has_word(words, groups[g].name))
            for (int i = 0; i < groups[g].n; i++) numbers[n++] = groups[g].numbers[i];
    return n;
}

const char *gamma_needs_spin(const char *words)
{
    for (int g = 0; g < GROUPS; g++)
        if (groups[g].needs_spin && param_has_word(words, groups[g].name)) return groups[g].name;
    return NULL;
}

const char *const gamma_names[] = {"scalar",
                                   "vector_x",
                                   "vector_y",
                                   "tensor_xy",
                                   "vector_z",
                                   "tensor_xz",
                                   "tensor_yz",
                                   "axial_t",
                                   "vector_t",
                                   "tensor_xt",
                                   "tensor_yt",
                                   "axial_z",
                                   "tensor_zt",
                                   "axial_y",
                                   "axial_x",
                                   "pseudoscalar",
                                   "",
                                   "conserved_x",
                                   "conserved_y",
                                   "",
                                   "conserved_z",
                                   "",
                                   "",
                                   "",
                                   "conserved_t",
                                   NULL};
