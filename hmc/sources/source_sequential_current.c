/* sequential_current: the conserved vector current of Wilson quarks on one time slice as the source of another propagator,
 *
 *   Sigma(z) = sum_x exp(i p.(x - x_0)) M^-1(z, .) [V_mu(x) S],   x on the time slice,
 *
 * V_mu(x) of hmc/measure/conserved.h, whose link starts at x. Mesons of a propagator and of Sigma are three-point functions at all sinks, with
 * the momentum of the operator fixed. hmc/measure/current_source.h makes the columns, on the links of the quark. */
#include <string.h>

#include "hmc/sources/source.h"

typedef struct {
    sequential_keys sink;
    int direction; /* x y z t */
} current_keys;

int source_current(const source_params *s)
{
    if (!source_kind_of(s)->current) return -1;
    return SOURCE_OWN(current_keys, s)->direction;
}

#define SINK(member) (offsetof(source_params, own) + offsetof(current_keys, sink) + offsetof(sequential_keys, member))

static const param own[] = {
    {"propagator", PARAM_NAME, SINK(propagator), NULL, "propagator", NULL,
     "[propagator.NAME] whose columns the current acts on", 0},
    {"time", PARAM_INT, SINK(time), NULL, "[0,inf)", "a", "time slice of the current, at the start of its links", 0},
    {"direction", PARAM_CHOICE, SOURCE_KEY(current_keys, direction), "t", "x|y|z|t", NULL,
     "direction mu of the current V_mu", 0},
    {"momentum", PARAM_INT4, SINK(momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the phase exp(i p.x)", 0},
};
static const param_section part = PARAM_PART("source", "sequential_current", source_params, own);
_Static_assert(offsetof(current_keys, sink) == 0, "sequential_keys come first");
_Static_assert(sizeof(current_keys) <= sizeof(((source_params *)0)->own), "no room for the keys of sequential_current");

const source_kind source_kind_sequential_current = {
    .name = "sequential_current",
    .help =
        "the conserved vector current on a time slice, acting on another propagator, for three-point functions at all "
        "sinks",
    .own = &part,
    .current = 1};
