/* sequential: the sink of a meson as the source of another propagator,
 *
 *   Sigma(x) = sum_y M^-1(x, y) Gamma exp(i p.y) S(y), y on one time slice (G. Martinelli and C. T. Sachrajda, Nucl. Phys. B316
 *   (1989) 355).
 *
 * Mesons of Sigma and of a propagator from the first source are three-point functions, with any gamma matrix and momentum at
 * the operator between source and sink.
 *
 * feynman_hellmann: a current, y on all sites. Sigma is - d/dlambda of the propagator of M + lambda Gamma exp(i p.(y - x_0))
 * (C. Bouchard, C. C. Chang, T. Kurth, K. Orginos and A. Walker-Loud, arXiv:1612.06963). Correlators with one line Sigma are
 * three-point functions summed over the time of the current, at all times of the sink. */
#include "hmc/sources/gamma.h"
#include "hmc/sources/source.h"

typedef struct {
    sequential_keys sink;
    int gamma; /* number of Gamma */
} gamma_keys;

#define SINK(member) (offsetof(source_params, own) + offsetof(gamma_keys, sink) + offsetof(sequential_keys, member))

static const param own[] = {
    {"propagator", PARAM_NAME, SINK(propagator), NULL, "propagator", NULL,
     "[propagator.NAME] whose columns it is made of", 0},
    {"time", PARAM_INT, SINK(time), NULL, "[0,inf)", "a", "time slice of the sink", 0},
    {"gamma", PARAM_INT, SOURCE_KEY(gamma_keys, gamma), "15", "[0,15]", NULL,
     "number of the gamma matrix of the sink: 0 the unit matrix, 1 2 4 8 gamma_x to gamma_t, 15 gamma_5, bits of "
     "products",
     0},
    {"momentum", PARAM_INT4, SINK(momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the phase exp(i p.x)", 0},
};
static const param_section part = PARAM_PART("source", "sequential", source_params, own);

static const param of_current[] = {
    {"propagator", PARAM_NAME, SINK(propagator), NULL, "propagator", NULL,
     "[propagator.NAME] that the current acts on, at a sink without smearing", 0},
    {"gamma", PARAM_INT, SOURCE_KEY(gamma_keys, gamma), NULL, "[0,15]", NULL,
     "number of the gamma matrix of the current: 0 the unit matrix, 1 2 4 8 gamma_x to gamma_t, 15 gamma_5, bits of "
     "products",
     0},
    {"momentum", PARAM_INT4, SINK(momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the phase exp(i p.x) of the current", 0},
};
static const param_section current_part = PARAM_PART("source", "feynman_hellmann", source_params, of_current);
_Static_assert(offsetof(gamma_keys, sink) == 0, "sequential_keys come first");
_Static_assert(sizeof(gamma_keys) <= sizeof(((source_params *)0)->own), "no room for the keys of sequential");

/* y = wave Gamma x. */
static void columns(double complex y[12][12], const double complex x[12][12], const source_params *s,
                    double complex wave)
{
    const spin_matrix gamma = gamma_number(SOURCE_OWN(gamma_keys, s)->gamma);
    for (int k = 0; k < 12; k++)
        for (int row = 0; row < 12; row++)
            y[k][row] = wave * gamma.value[row / 3] * x[k][3 * gamma.at[row / 3] + row % 3];
}

const source_kind source_kind_sequential = {
    .name = "sequential",
    .help = "the sink of a meson, made of another propagator, for three-point functions",
    .own = &part,
    .sequential = columns};

const source_kind source_kind_feynman_hellmann = {
    .name = "feynman_hellmann",
    .help = "a current summed over all sites, on another propagator, for three-point functions summed over its time",
    .own = &current_part,
    .all_times = 1,
    .sequential = columns};
