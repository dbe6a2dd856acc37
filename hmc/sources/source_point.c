/* point: one site. */
#include "hmc/sources/source.h"

#include <string.h>

typedef struct {
    int place[4];
} point_keys;

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

const source_kind source_kind_point = {.name = "point", .help = "one site", .own = &part, .value = value};

void source_point(field *b, const int place[4], int component)
{
    source_params s = {.kind = param_kind(source_section(0), "point")};
    memcpy(&s.own, &(point_keys){.place = {place[0], place[1], place[2], place[3]}}, sizeof(point_keys));
    source_fill(b, &s, component, 0);
}
