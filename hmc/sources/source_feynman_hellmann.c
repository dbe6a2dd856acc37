/* feynman_hellmann: a current summed over all sites, as the source of another propagator,
 *
 *   Sigma(x) = sum_y M^-1(x, y) Gamma exp(i p.(y - x_0)) S(y),
 *
 * which is - d/dlambda of the propagator of M + lambda Gamma exp(i p.(y - x_0)) (C. Bouchard, C. C. Chang, T. Kurth, K. Orginos and
 * A. Walker-Loud, arXiv:1612.06963). Correlators with one line Sigma are three-point functions summed over the time of the
 * current, at all times of the sink. */
#include "hmc/sources/gamma.h"
#include "hmc/sources/source.h"

typedef struct {
    sequential_keys current;
    int gamma; /* number of Gamma */
} current_keys;

#define CURRENT(member)                                                                                                \
    (offsetof(source_params, own) + offsetof(current_keys, current) + offsetof(sequential_keys, member))

static const param own[] = {
    {"propagator", PARAM_NAME, CURRENT(propagator), NULL, "propagator", NULL,
     "[propagator.NAME] that the current acts on, at a sink without smearing", 0},
    {"gamma", PARAM_INT, SOURCE_KEY(current_keys, gamma), NULL, "[0,15]", NULL,
     "number of the gamma matrix of the current: 0 the unit matrix, 1 2 4 8 gamma_x to gamma_t, 15 gamma_5, bits of "
     "products",
     0},
    {"momentum", PARAM_INT4, CURRENT(momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the phase exp(i p.x) of the current", 0},
};
static const param_section part = PARAM_PART("source", "feynman_hellmann", source_params, own);
_Static_assert(offsetof(current_keys, current) == 0, "sequential_keys come first");
_Static_assert(sizeof(current_keys) <= sizeof(((source_params *)0)->own), "no room for the keys of feynman_hellmann");

static void columns(double complex y[12][12], const double complex x[12][12], const source_params *s,
                    double complex wave)
{
    gamma_columns(y, x, SOURCE_OWN(current_keys, s)->gamma, wave);
}

const source_kind source_kind_feynman_hellmann = {
    .name = "feynman_hellmann",
    .help = "a current summed over all sites, on another propagator, for three-point functions summed over its time",
    .own = &part,
    .all_times = 1,
    .sequential = columns};
