/* Fat and long links of staggered quarks, derived from thin ones.
 *
 * - STAGGERED_NAIVE: the thin links; no long links.
 * - STAGGERED_FAT7: paths of up to 7 links that stay in a hypercube, tadpole-improved: a path of n links is divided by
 *   u0^(n-1) (K. Orginos, D. Toussaint and R. Sugar, hep-lat/9903032); no long links.
 * - STAGGERED_ASQTAD: fat7 with Lepage's path, and long links -1/24 of three in a row, which change the weight of one
 *   link (MILC, Rev. Mod. Phys. 82 (2010) 1349, section II.B).
 * - STAGGERED_HISQ: V = fat7 of U without tadpoles, W = V projected to U(3), then asqtad's paths of W with twice
 *   Lepage's path, and with the Naik term times 1 + epsilon (E. Follana et al., hep-lat/0610092).
 *
 * Phases and the lattice's boundary in t are in the links. A twist (operators/link_map.h) comes after all smearing: fat
 * links of direction mu are multiplied with e^(i theta_mu / L_mu), long ones with its third power. The thin links, in SU(3)
 * to rounding, are borrowed, in double precision; what is derived from them is rebuilt when they have changed. */
#ifndef PLAQ_STAGGERED_LINKS_H
#define PLAQ_STAGGERED_LINKS_H

#include "kernels/base/param.h"
#include "kernels/field/field.h"

#define STAGGERED_KINDS(X)                                                                                             \
    X(STAGGERED_NAIVE, "naive") X(STAGGERED_FAT7, "fat7") X(STAGGERED_ASQTAD, "asqtad") X(STAGGERED_HISQ, "hisq")
typedef enum { STAGGERED_KINDS(PARAM_CONSTANT) } staggered_kind;

typedef struct {
    staggered_kind kind;
    double u0;       /* tadpole factor of fat7 and asqtad */
    double epsilon;  /* change of the Naik term of a heavy HISQ quark */
    int long_reals;  /* reals of a long link in hops: 18, as which 0 counts; or of a link in U(3), 13 or 9
                       (kernels/ops/staggered.h) */
    double theta[4]; /* angles of the twist, zero for none */
} staggered_smearing;

typedef struct staggered_links staggered_links;

/* Links as a hop takes them: the true ones are near_scale and far_scale times these, 1 for whole links in double and
 * single. */
typedef struct {
    const field *near, *far; /* far: null where there are no long links */
    const field *far_phases; /* phases of far links of 13 or 9 reals, else null */
    double near_scale, far_scale;
} staggered_pair;

/* The lattice's reach is 3 where there are long links. */
staggered_links *staggered_links_create(const field *thin, const staggered_smearing *s);
/* Links that are alike, of another storage or twist, or HISQ ones with another epsilon. They share V and W with `base` and
 * are made of its links; that has to stay while they do. */
staggered_links *staggered_links_like(staggered_links *base, const staggered_smearing *s);
/* Siblings with the twist of their base. */
staggered_links *staggered_links_sibling(staggered_links *base, double epsilon, int long_reals);
void staggered_links_destroy(staggered_links *l);
/* True if such links could be siblings of l; if they would be the same as l; if a projection is part of l. */
int staggered_links_alike(const staggered_links *l, const staggered_smearing *s);
int staggered_links_same(const staggered_links *l, const staggered_smearing *s);
int staggered_links_projected(const staggered_links *l);

/* Up to date, owned by l. Collective. */
const staggered_pair *staggered_links_at(staggered_links *l, precision prec, place where);
const field *staggered_links_thin(const staggered_links *l);

/* Angles of the twist. */
const double *staggered_links_theta(const staggered_links *l);
/* Links that lead `reach` sites (1 or 3), or derivatives by them, get the twist `to` in place of the twist `from`, in place:
 * a factor e^(i reach (to - from)_mu / L_mu). Same angles do nothing. */
void staggered_links_turn(field *links, int reach, const double from[4], const double to[4]);

/* ---- forces: see kernels/ops/staggered.h for derivatives ----
 *
 * Forces of all links with one base go through its smearing together: `near` and `far` are sums of the derivatives by
 * the fat and long links, without phases and twist, the far ones times the coefficient of the long links each; `extra` is
 * the sum of those by the fat ones times staggered_links_extra(). */
staggered_links *staggered_links_base(staggered_links *l); /* l itself, or what it was made a sibling of */
int staggered_links_smeared(const staggered_links *l);     /* not the thin ones of naive quarks */
double staggered_links_naik(const staggered_links *l);     /* coefficient of the long links; 0: there are none */
double staggered_links_extra(const staggered_links *l);    /* excess of its paths of one link over the base's */
/* momenta += the force; l is a base. far: null without long links; extra: null where all weights are the base's, else used
 * up. Returns the number of links of which a singular value is taken larger than it is; the first ones are warned of. */
double staggered_links_back(field *momenta, staggered_links *l, const field *near, const field *far, field *extra);
/* Sum of these numbers since the links were created. */
double staggered_links_filtered(const staggered_links *l);

#endif
