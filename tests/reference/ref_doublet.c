/* The non-degenerate twisted-mass doublet as it is written down: M = D + i mu gamma_5 tau_a + epsilon tau_b, with full matrices
 * of spin and flavour. */
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

const double complex ref_tau[3][2][2] = {{{0, 1}, {1, 0}}, {{0, -I}, {I, 0}}, {{1, 0}, {0, -1}}};

void ref_doublet_apply(double complex *out, const double complex *in, const struct ref_doublet *d, int dagger)
{
    const size_t sites = ref_volume(d->w->l), n = 12 * sites;
    double complex *turned = malloc(n * sizeof *turned);
    for (int f = 0; f < 2; f++) {
        ref_wilson_apply(out + (size_t)f * n, in + (size_t)f * n, d->w, dagger);
        for (int g = 0; g < 2; g++) {
            const double complex twist = (dagger ? -I : I) * d->mu * ref_tau[d->twist - 1][f][g],
                                 split = d->epsilon * ref_tau[d->split - 1][f][g];
            memcpy(turned, in + (size_t)g * n, n * sizeof *turned);
            ref_apply_gamma5(turned, sites);
            for (size_t i = 0; i < n; i++)
                out[(size_t)f * n + i] += twist * turned[i] + split * in[(size_t)g * n + i];
        }
    }
    free(turned);
}
