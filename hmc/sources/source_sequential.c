/* sequential: the sink of a meson as the source of another propagator,
 *
 *   Sigma(x) = sum_y M^-1(x, y) Gamma exp(i p.y) S(y), y on one time slice (G. Martinelli and C. T. Sachrajda, Nucl. Phys. B316
 *   (1989) 355).
 *
 * Mesons of Sigma and of a propagator from the first source are three-point functions, with any gamma matrix and momentum at
 * the operator between source and sink. */
#include "hmc/sources/gamma.h"
#include "hmc/sources/source.h"

typedef struct {
    sequential_keys sink;
    int gamma; /* number of Gamma */
} meson_sink_keys;

#define SINK(member)                                                                                                   \
    (offsetof(source_params, own) + offsetof(meson_sink_keys, sink) + offsetof(sequential_keys, member))

static const param own[] = {
    {"propagator", PARAM_NAME, SINK(propagator), NULL, "propagator", NULL,
     "[propagator.NAME] whose columns it is made of", 0},
    {"time", PARAM_INT, SINK(time), NULL, "[0,inf)", "a", "time slice of the sink", 0},
    {"gamma", PARAM_INT, SOURCE_KEY(meson_sink_keys, gamma), "15", "[0,15]", NULL,
     "number of the gamma matrix of the sink: 0 the unit matrix, 1 2 4 8 gamma_x to gamma_t, 15 gamma_5, bits of "
     "products",
     0},
    {"momentum", PARAM_INT4, SINK(momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the phase exp(i p.x)", 0},
};
static const param_section part = PARAM_PART("source", "sequential", source_params, own);
_Static_assert(offsetof(meson_sink_keys, sink) == 0, "sequential_keys come first");
_Static_assert(sizeof(meson_sink_keys) <= sizeof(((source_params *)0)->own), "no room for the keys of sequential");

static void columns(double complex y[12][12], const double complex x[12][12], const source_params *s,
                    double complex wave)
{
    gamma_columns(y, x, SOURCE_OWN(meson_sink_keys, s)->gamma, wave);
}

const source_kind source_kind_sequential = {
    .name = "sequential",
    .help = "the sink of a meson, made of another propagator, for three-point functions",
    .own = &part,
    .sequential = columns};
