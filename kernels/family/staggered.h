/* Arguments of the kernels of staggered quarks: hop, fat and long links, derivatives. The same in every precision. */
#ifndef PLAQ_FAMILY_STAGGERED_H
#define PLAQ_FAMILY_STAGGERED_H

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* Staggered quarks: fat links are near ones, long links far ones, where there are any. */
typedef struct {
    geom g;
    view out, in, x;
    view near_here, near_there, far_here, far_there; /* links on the parity of out, and on the other */
    view phase_here, phase_there;                    /* phases of far links of 13 or 9 reals */
    view ghost[8];                                   /* vectors as staggered_pack writes them */
    double a, b;
    double near_scale, far_scale; /* factors from stored to true links; 1 for 18 reals in floating point */
    long nface[4];                /* units of one parity on a face */
    int far_reals;                /* 18, 13, 9, or 0: there are none */
    int parity;                   /* parity of out */
    int stream, ahead;            /* see hop_args */
    int exterior;                 /* neighbours of some units on the list are on other ranks */
} staggered_hop_args;

typedef struct {
    geom g;
    view in, near, far, phase; /* links on the parity of in */
    view out[8];
    const int *face[8];
    long nface[4];
    int dir[8], start[9];
    int faces, far_reals;
} staggered_pack_args;

typedef struct {
    staggered_hop_args hop; /* a, b and x aside */
    double near_weight, far_weight;
    int mu, back; /* back: the sign of what comes from below */
    int odd;      /* bit d: coordinate d is in the sum whose parity is the sign of out */
} staggered_shift_args;

/* Kernels that make links walk over both parities, `chunk` units of one and then of the other (on a GPU only where the
 * boxes of kernels/gpu/tile.cuh do not fit): what they read of a neighbourhood they read once. Views are of whole
 * fields. special: the links are in SU(3), and two rows of those at the sides of staples are read. */
#define PATH_OFFSETS 4 /* entries 1, 2, 3 belong to staples in direction mu + 1, mu + 2, mu + 3 */
typedef struct {
    geom g;
    view links, in; /* fields with all of their ghosts, as in[], threes[] below */
    view out[PATH_OFFSETS];
    long chunk;
    int special;
} staples_args;

typedef struct {
    geom g;
    view links, in, threes[PATH_OFFSETS];
    view out[PATH_OFFSETS];
    double one, three, five, seven;
    long chunk;
    int special;
} staples_core_args;

typedef struct {
    geom g;
    view links, in[PATH_OFFSETS], plain, out;
    double plain_factor;
    long chunk;
    int add, special;
} staples_sum_args;

typedef struct {
    view y, x;
    double re[4], im[4]; /* a factor for each direction */
} links_scale_args;

typedef struct {
    geom g;
    view links, out;
    double coefficient;
    int parity;
} long_links_args;

typedef struct {
    geom g;
    view links;
    int parity, reach, time_sign;
} staggered_phases_args;

typedef struct {
    view links, out;
} link_phases_args;

typedef struct {
    view links, phases;
} link_specials_args;

typedef struct {
    view in, out;
} project_links_args;

/* Derivatives of what makes the links, kernels/site/staggered_force.h. */
#define SIDE_PAIRS 4
typedef struct {
    geom g;
    view links, m[SIDE_PAIRS], a[SIDE_PAIRS]; /* fields with all of their ghosts */
    view out;
    double seven; /* the factor of the third and fourth pair */
    int offset;
    long chunk;
    int special;
} staple_sides_args;

typedef struct {
    geom g;
    view links, in, out; /* links and in with all of their ghosts */
    double coefficient;
    int parity;
} long_back_args;

typedef struct {
    view v, w, a;
    double least;
} project_back_args;

typedef struct {
    view links, a, momenta;
} staggered_momenta_args;

#define OUTER_MOST 32 /* STAGGERED_OUTER_MOST of kernels/ops/staggered.h */
typedef struct {
    geom g;
    view here, there, ghost[8]; /* vectors at the sites, and at their neighbours of the other parity */
    view near, far, extra;
    double weight[OUTER_MOST], far_factor, extra_factor;
    long nface[4];
    int parity, time_sign;
} staggered_outer_args;

#endif
