/* APE links (M. Albanese et al., Phys. Lett. B 192 (1987) 163): n steps of U' = the matrix of SU(3) that is nearest to
 * a U + the sum of the staples, by the largest trace (kernels/site/special.h), in all directions or among those in space
 * alone, for measurements. In the form (1 - alpha) U + alpha / n times n staples it is a = n (1 - alpha) / alpha. */
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/smear.h"
#include "operators/link_map.h"

typedef struct {
    double weight;
    int steps;
    int directions; /* LINK_MAP_ALL or LINK_MAP_SPACE */
} ape_keys;

static const ape_keys *keys_of(const link_settings *s)
{
    return (const ape_keys *)(const void *)s->own.bytes;
}

static void apply(link_map *m)
{
    const ape_keys *k = keys_of(&m->settings);
    const int directions = k->directions == LINK_MAP_SPACE ? 3 : 4;
    stout_weights w = {0};
    for (int mu = 0; mu < directions; mu++)
        for (int nu = 0; nu < directions; nu++)
            if (nu != mu) w.rho[mu][nu] = 1;
    const smear_level level = smear_level_thin(&w);
    field *thin = k->steps > 1 ? field_like(m->from) : NULL;
    for (int i = 0; i < k->steps; i++) {
        if (i > 0) field_copy(thin, m->links);
        const field *from = i > 0 ? thin : m->from;
        smear_project(&m->links, from, &from, &level, k->weight);
    }
    field_destroy(thin);
}

static const param own[] = {
    {"link_weight", PARAM_REAL, LINK_KEY(ape_keys, weight), NULL, "[0,inf)", NULL,
     "weight of the link beside its staples, each of which has weight 1; 2.5 is usual in space", 1},
    {"steps", PARAM_INT, LINK_KEY(ape_keys, steps), "1", "[1,1000]", NULL, "number of smearing steps", 1},
    {"directions", PARAM_CHOICE, LINK_KEY(ape_keys, directions), "all", PARAM_RANGE(LINK_MAP_DIRECTIONS), NULL,
     "staples and links that are smeared: all, or those in space alone", 1},
};

static const param_section part = PARAM_PART("links", "ape", link_settings, own);
_Static_assert(sizeof(ape_keys) <= sizeof(((link_settings *)0)->own), "no room for the keys of APE links");

const link_map_type link_map_ape = {
    .name = "ape", .help = "APE smearing, for measurements alone", .own = &part, .apply = apply};
