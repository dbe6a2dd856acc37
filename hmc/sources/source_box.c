/* box: ones in a box of a time slice. */
#include "hmc/sources/source.h"

typedef struct {
    int place[4], extent[4];
} box_keys;

/* The box goes on at the other edge of a periodic lattice. */
static double complex value(const source_params *s, const int x[4], const int size[4], uint64_t seed)
{
    const box_keys *k = SOURCE_OWN(box_keys, s);
    (void)seed;
    for (int d = 0; d < 3; d++)
        if ((x[d] - k->place[d] + size[d]) % size[d] >= k->extent[d]) return 0;
    return 1;
}

static const param own[] = {
    {"place", PARAM_INT4, SOURCE_KEY(box_keys, place), "0.0.0.0", "[0,inf)", "sites",
     "the corner of the box with the lowest coordinates", 0},
    {"extent", PARAM_INT4, SOURCE_KEY(box_keys, extent), "2.2.2.1", "[1,100000]", "sites",
     "sites of the box along x, y and z; the last number is 1", 0},
};
static const param_section part = PARAM_PART("source", "box", source_params, own);

const source_kind source_kind_box = {
    .name = "box",
    .help = "ones in a box of a time slice, for configurations in a smooth gauge (plaq fix)",
    .own = &part,
    .value = value};
