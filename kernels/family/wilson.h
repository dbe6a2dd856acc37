/* Arguments of the kernels of Wilson's hop: hop, packing, force, Schwarz blocks. The same in every precision. */
#ifndef PLAQ_FAMILY_WILSON_H
#define PLAQ_FAMILY_WILSON_H

#include <stdint.h>

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

typedef enum { HOP_PLAIN, HOP_ADD, HOP_CLOVER, HOP_CLOVER_ADD, HOP_ADD_CLOVER } hop_form;

typedef struct {
    geom g;
    view out, in, x;
    view clover, mu_clover; /* C and K of the site-diagonal matrix C + i mu gamma_5 K, or C + X K of a doublet */
    view here, there;       /* links on the parity of out, and on the other */
    view ghost[8];   /* half spinors from over the rank's faces: projected, and from below already times U^dagger */
    int ghost_first; /* the right-hand side in them that belongs to in's first one; 0 outside the GPU's kernels */
    double a, b, mu;
    double epsilon; /* mass splitting of a doublet, in the kernel hop_doublet */
    double a_space; /* a of the spatial directions, a times nu / xi_0 on an anisotropic lattice */
    int parity;     /* parity of out */
    int sign;
    int form;
    int link_reals;
    int stream;       /* out goes past the caches */
    int ahead;        /* links come from memory, and are asked for ahead of their use */
    int interior;     /* the list is the layout's interior */
    int block[4];     /* extents of the blocks that the hop stays in, negative along which they close; or zero */
    const void *keep; /* lane factors of blocks, virtual nodes: [direction][place along it][lane], 0 where cut off */
    int keep_places;
    int exterior; /* units on the list, the exterior, of a kernel that packs first, too */
} hop_args;

typedef hop_args hop_doublet_args;

/* Faces one after the other: item i belongs to the one with start[k] <= i < start[k + 1]. */
typedef struct {
    geom g;
    view in, links; /* links on the parity of in */
    view out[8];    /* half spinors in the order of the face */
    const int *face[8];
    int dir[8], start[9];
    int faces, sign, link_reals;
} hop_pack_args;

/* Schwarz blocks (kernels/ops/block.h): their number on this rank in each direction, and the block of each lane of a unit. */
typedef struct {
    geom g;
    view x, r, q, p;
    int parity, size[4], count[4], blocks, first_colour, colour, shift;
    const int32_t *of;        /* [unit][lane], on virtual nodes */
    int32_t *bound, *bound_q; /* bounds of r and of q, see kernels/site/block.h */
    int32_t *bound_next;      /* bounds of r and p that an update leaves */
    int64_t *sums;            /* [block][sum], three a block, on the host for each thread */
    double relaxation;
} block_args;
typedef block_args block_bound_args;
typedef block_args block_dots_args;
typedef block_args block_update_args;
typedef block_args block_cg_dots_args;
typedef block_args block_cg_update_args;

typedef struct {
    geom g;
    view x_here, y_here, x_there, y_there, links, momenta;
    view x_ghost[8], y_ghost[8];
    double factor, space_factor; /* links in time; links in space */
    int parity;
} hop_force_args;

#endif
