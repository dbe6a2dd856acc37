/* Arguments of the kernels: the structs that the site functions of kernels/site read. What each kernel computes stands
 * there; x.groups of a spinor view is its number of right-hand sides. */
#ifndef PLAQ_ARGS_H
#define PLAQ_ARGS_H

#include <stdint.h>

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

typedef struct {
    view out, in, clover;
    double factor;
} clover_apply_args;
typedef clover_apply_args clover_norm2_args;

typedef enum { HOP_PLAIN, HOP_ADD, HOP_CLOVER, HOP_CLOVER_ADD, HOP_ADD_CLOVER } hop_form;

typedef struct {
    geom g;
    view out, in, x, clover;
    view here, there; /* links on the parity of out, and on the other */
    view ghost[8];    /* half spinors from over the rank's faces: projected, and from below already times U^dagger */
    int ghost_first;  /* the right-hand side in them that belongs to in's first one; 0 outside the GPU's kernels */
    double a, b;
    int parity; /* of out */
    int sign;
    int form;
    int link_reals;
    int stream;   /* out goes past the caches */
    int ahead;    /* links come from memory, and are asked for ahead of their use */
    int interior; /* the list is the layout's interior */
    int block[4]; /* extents of the blocks that the hop stays in, or zero */
    const void
        *keep; /* on virtual nodes with blocks: [direction][place along it][lane], 0 where the neighbour is cut off */
    int keep_places;
    int exterior; /* of a kernel that packs first, too: the units on the list, the exterior */
} hop_args;

/* How many right-hand sides a GPU's thread does with links of two rows, which they share; a kernel that is an exchange,
 * too, does one. */
#define HOP_SHARERS(prec) ((prec) == 0 ? 2 : 4)

/* Faces one after the other: item i belongs to the one with start[k] <= i < start[k + 1]. */
typedef struct {
    geom g;
    view in, links; /* links on the parity of in */
    view out[8];    /* half spinors in the order of the face */
    const int *face[8];
    int dir[8], start[9];
    int faces, sign, link_reals;
} hop_pack_args;

typedef struct {
    geom g;
    view in, out; /* in: the whole field; out: one message */
    const int *list;
    int dir, reals; /* the message goes along dir */
} ghost_pack_args;

typedef struct {
    view out, in;
    const int *list;
    int reals;
} ghost_unpack_args;

typedef struct {
    view y, x;
    double a, b;
} axpby_args;

typedef struct {
    view x;
    int rhs;
} norm2_args;

typedef struct {
    view x, y;
    int rhs;
} dot_args;

typedef struct {
    view y, x;
    double a, b;
    int rhs;
} axpby_norm2_args;

/* `times`, and where there is an `above`, times what it points to over `below`: a sum that may still be on its way. */
typedef struct {
    double times;
    const double *above;
    double below;
} coefficient;

typedef struct {
    view x, p, r;
    double a;
    coefficient b;
} cg_update_args;

/* Of blocks.h: the number of blocks of this rank in each direction, and where each lane of a unit lies. */
typedef struct {
    geom g;
    view x, r, q;
    int parity, size[4], count[4], blocks, first_colour, colour, shift;
    const int32_t *of;        /* [unit][lane], on virtual nodes */
    int32_t *bound, *bound_q; /* of r and of q, see kernels/site/block.h */
    int64_t *sums;            /* [block][re (q, r), im (q, r), (q, q)], on the host for each thread */
    double relaxation;
} block_args;
typedef block_args block_bound_args;
typedef block_args block_dots_args;
typedef block_args block_update_args;

/* Complex coefficients are pairs of re, im; the first n entries of an array count. */
#define MULTI_DOTS 16
#define MULTI_VIEWS 16
#define BICGSTAB_MOST 4
#define MULTI_PAIRS (BICGSTAB_MOST + 1)

typedef struct {
    view z[MULTI_DOTS], y;
    int n, rhs;
} multi_dot_args;

typedef struct {
    view z[MULTI_VIEWS], y;
    double c[MULTI_VIEWS][2];
    int n, rhs;
} multi_axpy_args;

typedef struct {
    view y[MULTI_PAIRS], x[MULTI_PAIRS];
    double a[MULTI_PAIRS][2], b[MULTI_PAIRS][2];
    int n;
} multi_axpby_args;

typedef struct {
    view x, r, q;
    double a[2];
} mr_update_args;

typedef struct {
    view x, shadow, r[BICGSTAB_MOST + 1], u[BICGSTAB_MOST + 1];
    double gamma[BICGSTAB_MOST][2];
    int l, rhs;
} bicgstab_update_args;

typedef struct {
    view x[MULTI_VIEWS], p[MULTI_VIEWS], r;
    double alpha[MULTI_VIEWS], zeta[MULTI_VIEWS], beta[MULTI_VIEWS];
    coefficient by;
    int n, rhs;
} multishift_update_args;

/* Staggered quarks: fat links are near ones, long links far ones, where there are any. */
typedef struct {
    geom g;
    view out, in, x;
    view near_here, near_there, far_here, far_there; /* links on the parity of out, and on the other */
    view phase_here, phase_there;                    /* of far links of 13 or 9 reals */
    view ghost[8];                                   /* as staggered_pack writes them */
    double a, b;
    double near_scale, far_scale; /* what links are multiplied with to give the true ones; 1 for 18 reals in floating
                                     point */
    long nface[4];                /* units of one parity on a face */
    int far_reals;                /* 18, 13, 9, or 0: there are none */
    int parity;                   /* of out */
    int stream, ahead;            /* as in hop_args */
    int exterior;                 /* some neighbours of the units on the list are on other ranks */
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
    view links, in; /* with all of their ghosts, as in[], threes[] below */
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
    double a;
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
    view links, m[SIDE_PAIRS], a[SIDE_PAIRS]; /* with all of their ghosts */
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

typedef struct {
    geom g;
    view links;
    int parity, rectangles;
} loops_args;

typedef struct {
    geom g;
    view links;
    int parity;
} parallelograms_args;

typedef struct {
    geom g;
    view links, momenta;
    double c0, c1;
    int parity;
} gauge_force_args;

typedef struct {
    geom g;
    view links, momenta;
    double c2;
    int parity;
} parallelogram_force_args;

typedef struct {
    geom g;
    view links, out;
    int parity;
} field_strength_args;

typedef struct {
    view tensor;
} energy_args;

typedef struct {
    view links, momenta;
    double dt;
} link_update_args;

typedef struct {
    view links;
} unitarise_args;

typedef struct {
    view y, x;
    double a;
} momenta_add_args;

typedef struct {
    view x, y;
} momenta_dot_args;

typedef struct {
    geom g;
    view x_here, y_here, x_there, y_there, links, momenta;
    view x_ghost[8], y_ghost[8];
    double factor;
    int parity;
} hop_force_args;

typedef struct {
    view tensor, out;
    double diagonal, factor;
} clover_build_args;

typedef struct {
    view in, out;
} clover_invert_args;

typedef struct {
    view x, y, tensor;
    double factor;
} clover_insert_args;

typedef struct {
    view inverse, tensor;
    double factor;
} clover_insert_det_args;

typedef struct {
    geom g;
    view links, tensor, momenta;
    double factor;
    int parity;
} clover_force_args;

/* Random fields are keyed by seed, purpose and number (the trajectory), and counted by the global site. */
typedef struct {
    geom g;
    view out;
    uint64_t seed;
    uint32_t purpose, number;
    int parity;
} random_args;
typedef random_args random_spinor_args;
typedef random_args random_signs_args;
typedef random_args random_momenta_args;
typedef random_args random_links_args;

#endif
