/* HYP links: n steps of hypercubic smearing by projections (A. Hasenfratz and F. Knechtli, hep-lat/0103029), in all
 * directions or among those in space alone (hypercubic.h), for measurements. */
#include <string.h>

#include "kernels/base/error.h"
#include "operators/hypercubic.h"
#include "operators/link_map.h"

typedef struct {
    double alpha[3];
    int steps;
    int directions; /* LINK_MAP_ALL or LINK_MAP_SPACE */
} hyp_keys;

static const hyp_keys *keys_of(const link_settings *s)
{
    return (const hyp_keys *)(const void *)s->own.bytes;
}

static void apply(link_map *m)
{
    const hyp_keys *k = keys_of(&m->settings);
    hypercubic h;
    hypercubic_open(&h, k->alpha, k->directions == LINK_MAP_SPACE, m->from);
    field *thin = k->steps > 1 ? field_like(m->from) : NULL;
    for (int i = 0; i < k->steps; i++) {
        if (i > 0) field_copy(thin, m->links);
        for (int level = 0; level < h.levels; level++) hypercubic_make(&h, level, m->links, i > 0 ? thin : m->from, 1);
    }
    field_destroy(thin);
    hypercubic_close(&h);
}

static const param own[] = {
    {"alpha_1", PARAM_REAL, LINK_KEY(hyp_keys, alpha[0]), "0.75", "[0,1]", NULL,
     "weight of the staples of the outermost level, of the thin link 1 - alpha_1; not used in space", 1},
    {"alpha_2", PARAM_REAL, LINK_KEY(hyp_keys, alpha[1]), "0.6", "[0,1]", NULL,
     "weight of the staples of the second level, of the thin link 1 - alpha_2", 1},
    {"alpha_3", PARAM_REAL, LINK_KEY(hyp_keys, alpha[2]), "0.3", "[0,1]", NULL,
     "weight of the staples of the innermost level, of the thin link 1 - alpha_3", 1},
    {"steps", PARAM_INT, LINK_KEY(hyp_keys, steps), "1", "[1,1000]", NULL, "number of smearing steps", 1},
    {"directions", PARAM_CHOICE, LINK_KEY(hyp_keys, directions), "all", PARAM_RANGE(LINK_MAP_DIRECTIONS), NULL,
     "staples and links that are smeared: all, or those in space alone", 1},
};

static const param_section part = PARAM_PART("links", "hyp", link_settings, own);
_Static_assert(sizeof(hyp_keys) <= sizeof(((link_settings *)0)->own), "no room for the keys of HYP links");

const link_map_type link_map_hyp = {
    .name = "hyp", .help = "hypercubic smearing by projections, for measurements alone", .own = &part, .apply = apply};
