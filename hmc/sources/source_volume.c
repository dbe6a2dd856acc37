/* volume: a plane wave exp(i p.x) on all sites, the momentum source of vertex functions (M. Goeckeler et al., hep-lat/9807044):
 *
 *   p = 2 pi n / L,   and in time 2 pi (n_t + 1/2) / T where quark fields are antiperiodic. */
#include "hmc/sources/source.h"

typedef struct {
    int momentum[4];
} volume_keys;

/* The wave in space; source_fill() has the factor of the time. */
static double complex value(const source_params *s, const int x[4], const int size[4], uint64_t seed)
{
    (void)seed;
    return source_wave(SOURCE_OWN(volume_keys, s)->momentum, x, size);
}

const int *source_volume_momentum(const source_params *s)
{
    return source_kind_of(s)->volume ? SOURCE_OWN(volume_keys, s)->momentum : NULL;
}

static const param own[] = {
    {"momentum", PARAM_INT4, SOURCE_KEY(volume_keys, momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.n_t of the plane wave exp(i p.x), to whose last number 1/2 is added where quark fields are "
     "antiperiodic in time",
     0},
};
static const param_section part = PARAM_PART("source", "volume", source_params, own);
_Static_assert(sizeof(volume_keys) <= sizeof(((source_params *)0)->own), "no room for the keys of volume");

const source_kind source_kind_volume = {.name = "volume",
                                        .help = "a plane wave on all sites, for vertex functions",
                                        .own = &part,
                                        .volume = 1,
                                        .value = value};
