/* corner: ones on every second site in x, y and z of a time slice, the wall of staggered quarks that has one corner of the
 * hypercubes. */
#include "hmc/sources/source.h"

typedef struct {
    int place[4];
} corner_keys;

static double complex value(const source_params *s, const int x[4], const int size[4], uint64_t seed)
{
    const int *at = SOURCE_OWN(corner_keys, s)->place;
    (void)size, (void)seed;
    return (x[0] - at[0]) % 2 == 0 && (x[1] - at[1]) % 2 == 0 && (x[2] - at[2]) % 2 == 0;
}

static const param own[] = {
    {"place", PARAM_INT4, SOURCE_KEY(corner_keys, place), "0.0.0.0", "[0,inf)", "sites",
     "one of the sites: the others differ by even numbers in x, y and z", 0},
};
static const param_section part = PARAM_PART("source", "corner", source_params, own);

const source_kind source_kind_corner = {
    .name = "corner",
    .help = "ones on every second site in x, y and z of a time slice, for configurations in a smooth gauge (plaq fix)",
    .own = &part,
    .value = value};
