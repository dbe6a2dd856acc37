/* Fat and long links of staggered quarks, derived from thin ones.
 *
 *   STAGGERED_NAIVE    the thin links; no long links
 *   STAGGERED_ASQTAD   fat7 with Lepage's path, tadpole-improved: a path of n links is divided by u0^(n-1); long links
 *                      -1/24 of three in a row (MILC, Rev. Mod. Phys. 82 (2010) 1349, section II.B)
 *   STAGGERED_HISQ     V = fat7 of U, W = V projected to U(3), then asqtad's paths of W with twice Lepage's path, and
 *                      with the Naik term times 1 + epsilon (E. Follana et al., hep-lat/0610092)
 *
 * Phases and the lattice's boundary in t are in the links. The thin links are borrowed, in double precision; what is
 * derived from them is rebuilt when they have changed. */
#ifndef PLAQ_STAGGERED_LINKS_H
#define PLAQ_STAGGERED_LINKS_H

#include "kernels/lattice/field.h"

typedef enum { STAGGERED_NAIVE, STAGGERED_ASQTAD, STAGGERED_HISQ } staggered_kind;

typedef struct {
    staggered_kind kind;
    double u0;      /* of asqtad */
    double epsilon; /* of HISQ: what the Naik term of a heavy quark is changed by */
} staggered_smearing;

typedef struct staggered_links staggered_links;

/* Links as a hop takes them: the true ones are near_scale and far_scale times these, 1 in double and single. */
typedef struct {
    const field *near, *far; /* far: null of naive quarks */
    double near_scale, far_scale;
} staggered_pair;

/* The lattice's reach is 3, but for naive quarks. */
staggered_links *staggered_links_create(const field *thin, const staggered_smearing *s);
void staggered_links_destroy(staggered_links *l);

/* Up to date, owned by l. Collective. */
const staggered_pair *staggered_links_at(staggered_links *l, precision prec, place where);
const field *staggered_links_thin(const staggered_links *l);
/* Links of the last build of HISQ that were projected by the slow way of nearly singular ones. */
double staggered_links_guarded(const staggered_links *l);

#endif
