/* wall: a plane wave exp(i p.x) on a time slice; without momentum, ones. */
#include "hmc/sources/source.h"

typedef struct {
    int time, momentum[4];
} wall_keys;

static double complex value(const source_params *s, const int x[4], const int size[4], uint64_t seed)
{
    const int *n = SOURCE_OWN(wall_keys, s)->momentum;
    (void)seed;
    return source_wave(n, x, size);
}

static const param own[] = {
    {"time", PARAM_INT, SOURCE_KEY(wall_keys, time), "0", "[0,inf)", "a", "the time slice", 0},
    {"momentum", PARAM_INT4, SOURCE_KEY(wall_keys, momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the plane wave exp(i p.x)", 0},
};
static const param_section part = PARAM_PART("source", "wall", source_params, own);

const source_kind source_kind_wall = {
    .name = "wall",
    .help = "all sites of a time slice, with a momentum, for configurations in a smooth gauge (plaq fix)",
    .own = &part,
    .value = value};
