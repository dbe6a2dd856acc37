/* Stout links: n steps of C. Morningstar and M. Peardon, hep-lat/0311018, with one weight rho of the staples, in all
 * directions or among those in space alone (for anisotropic lattices). Links of all steps but the last are kept for the
 * force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/smear.h"
#include "operators/link_map.h"

typedef struct {
    double rho;
    int steps;
    int directions; /* LINK_MAP_ALL or LINK_MAP_SPACE */
} stout_keys;

typedef struct {
    stout_weights w;
    field **between; /* [steps - 1]: links after each step but the last */
} state;

static const stout_keys *keys_of(const link_settings *s)
{
    return (const stout_keys *)(const void *)s->own.bytes;
}

static int in_space(const stout_keys *k)
{
    return k->directions == LINK_MAP_SPACE;
}

/* A plane wave is multiplied with 1 - rho sum_nu 4 sin^2(p_nu / 2) over the directions of staples a step, which is above -1
 * up to this. */
static double largest_rho(const stout_keys *k)
{
    return 1 / (in_space(k) ? 4.0 : 6.0);
}

static int advise(const link_settings *s, char *message, size_t size)
{
    const stout_keys *k = keys_of(s);
    if (k->rho <= largest_rho(k)) return 0;
    snprintf(message, size,
             "rho = %g is beyond %.4g, where links of the shortest wavelength grow with each step: smearing makes them "
             "rougher",
             k->rho, largest_rho(k));
    return 1;
}

/* Links that step number i starts from. */
static const field *before(const link_map *m, int i)
{
    const state *t = m->state;
    return i == 0 ? m->from : t->between[i - 1];
}

static void open(link_map *m)
{
    const stout_keys *k = keys_of(&m->settings);
    state *t = calloc(1, sizeof *t);
    REQUIRE_MEMORY(t, "out of memory");
    m->state = t;
    t->between = calloc((size_t)k->steps, sizeof *t->between);
    REQUIRE_MEMORY(t->between, "out of memory");
    for (int i = 0; i < k->steps - 1; i++) t->between[i] = field_like(m->from);
    for (int mu = 0; mu < 4; mu++)
        for (int nu = 0; nu < 4; nu++)
            if (nu != mu && (!in_space(k) || (mu < 3 && nu < 3))) t->w.rho[mu][nu] = k->rho;
}

static void apply(link_map *m)
{
    const int n = keys_of(&m->settings)->steps;
    const state *t = m->state;
    for (int i = 0; i < n; i++) smear_stout(i == n - 1 ? m->links : t->between[i], before(m, i), &t->w);
}

static void pull_back(link_map *m, field *force)
{
    const state *t = m->state;
    for (int i = keys_of(&m->settings)->steps - 1; i >= 0; i--) smear_stout_back(force, before(m, i), &t->w);
}

static void close(link_map *m)
{
    state *t = m->state;
    for (int i = 0; i < keys_of(&m->settings)->steps - 1; i++) field_destroy(t->between[i]);
    free(t->between);
    free(t);
}

static const param own[] = {
    {"rho", PARAM_REAL, LINK_KEY(stout_keys, rho), NULL, "(0,1]", NULL,
     "weight of each staple, of which there are six, and four in space; 0.125 and 0.14 are usual", 1},
    {"steps", PARAM_INT, LINK_KEY(stout_keys, steps), "1", "[1,64]", NULL, "number of smearing steps", 1},
    {"directions", PARAM_CHOICE, LINK_KEY(stout_keys, directions), "all", PARAM_RANGE(LINK_MAP_DIRECTIONS), NULL,
     "staples and links that are smeared: all, or those in space alone", 1},
};

static const param_section part = PARAM_PART("links", "stout", link_settings, own);
_Static_assert(sizeof(stout_keys) <= sizeof(((link_settings *)0)->own), "no room for the keys of stout");

const link_map_type link_map_stout = {.name = "stout",
                                      .help = "stout smearing, differentiable, for actions and measurements",
                                      .own = &part,
                                      .advise = advise,
                                      .open = open,
                                      .apply = apply,
                                      .pull_back = pull_back,
                                      .close = close};
