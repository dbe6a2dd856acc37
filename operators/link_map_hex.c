/* HEX links: n steps of hypercubic smearing by exponentials (S. Capitani, S. Durr and C. Hoelbling, hep-lat/0607006), in
 * all directions or among those in space alone (hypercubic.h). Links of all steps but the last are kept for the force, and
 * the links between the levels of one step, which are made again for other steps. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "operators/hypercubic.h"
#include "operators/link_map.h"

typedef struct {
    double alpha[3];
    int steps;
    int directions; /* LINK_MAP_ALL or LINK_MAP_SPACE */
} hex_keys;

typedef struct {
    hypercubic h;
    int held;        /* step that h.between belong to */
    field **between; /* [steps - 1]: links after each step but the last */
} state;

static const hex_keys *keys_of(const link_settings *s)
{
    return (const hex_keys *)(const void *)s->own.bytes;
}

/* Links that step number i starts from. */
static const field *before(const link_map *m, int i)
{
    const state *t = m->state;
    return i == 0 ? m->from : t->between[i - 1];
}

static void open(link_map *m)
{
    const hex_keys *k = keys_of(&m->settings);
    state *t = calloc(1, sizeof *t);
    REQUIRE_MEMORY(t, "out of memory");
    m->state = t;
    hypercubic_open(&t->h, k->alpha, k->directions == LINK_MAP_SPACE, m->from);
    t->between = calloc((size_t)k->steps, sizeof *t->between);
    REQUIRE_MEMORY(t->between, "out of memory");
    for (int i = 0; i < k->steps - 1; i++) t->between[i] = field_like(m->from);
}

/* The first levels of step number i; how many is `levels`. */
static void make(link_map *m, int i, int levels)
{
    state *t = m->state;
    field *out = i == keys_of(&m->settings)->steps - 1 ? m->links : t->between[i];
    for (int level = 0; level < levels; level++) hypercubic_make(&t->h, level, out, before(m, i), 0);
    t->held = i;
}

static void apply(link_map *m)
{
    const state *t = m->state;
    for (int i = 0; i < keys_of(&m->settings)->steps; i++) make(m, i, t->h.levels);
}

static void pull_back(link_map *m, field *force)
{
    const state *t = m->state;
    for (int i = keys_of(&m->settings)->steps - 1; i >= 0; i--) {
        if (t->held != i) make(m, i, t->h.levels - 1);
        hypercubic_back(&t->h, force, before(m, i));
    }
}

static void close(link_map *m)
{
    state *t = m->state;
    for (int i = 0; i < keys_of(&m->settings)->steps - 1; i++) field_destroy(t->between[i]);
    hypercubic_close(&t->h);
    free(t->between);
    free(t);
}

static const param own[] = {
    {"alpha_1", PARAM_REAL, LINK_KEY(hex_keys, alpha[0]), "0.95", "[0,1]", NULL,
     "six times the weight of the staples of the outermost level; not used in space", 1},
    {"alpha_2", PARAM_REAL, LINK_KEY(hex_keys, alpha[1]), "0.76", "[0,1]", NULL,
     "four times the weight of the staples of the second level", 1},
    {"alpha_3", PARAM_REAL, LINK_KEY(hex_keys, alpha[2]), "0.38", "[0,1]", NULL,
     "twice the weight of the staples of the innermost level", 1},
    {"steps", PARAM_INT, LINK_KEY(hex_keys, steps), "1", "[1,64]", NULL, "number of smearing steps", 1},
    {"directions", PARAM_CHOICE, LINK_KEY(hex_keys, directions), "all", PARAM_RANGE(LINK_MAP_DIRECTIONS), NULL,
     "staples and links that are smeared: all, or those in space alone", 1},
};

static const param_section part = PARAM_PART("links", "hex", link_settings, own);
_Static_assert(sizeof(hex_keys) <= sizeof(((link_settings *)0)->own), "no room for the keys of HEX links");

const link_map_type link_map_hex = {.name = "hex",
                                    .help = "hypercubic smearing by exponentials, for actions and measurements",
                                    .own = &part,
                                    .open = open,
                                    .apply = apply,
                                    .pull_back = pull_back,
                                    .close = close};
