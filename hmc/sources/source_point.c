/* point: one site. */
#include "hmc/sources/source.h"

#include <string.h>

typedef struct {
    int place[4];
} point_keys;

static void place_of(const source_params *s, int place[4])
{
    memcpy(place, SOURCE_OWN(point_keys, s)->place, 4 * sizeof *place);
}

static double complex value(const source_params *s, const int x[4], const int size[4], uint64_t seed)
{
    const int *at = SOURCE_OWN(point_keys, s)->place;
    (void)size, (void)seed;
    return x[0] == at[0] && x[1] == at[1] && x[2] == at[2];
}

static const param own[] = {
    {"place", PARAM_INT4, SOURCE_KEY(point_keys, place), "0.0.0.0", "[0,inf)", "sites", "the site", 0},
};
static const param_section part = PARAM_PART("source", "point", source_params, own);

const source_kind source_kind_point = {
    .name = "point", .help = "one site", .own = &part, .place = place_of, .value = value};
