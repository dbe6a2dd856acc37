/* Blocks of sites, for Schwarz methods: a hop that does not leave its block, and vector algebra whose coefficients are
 * one a block.
 *
 * Every rank's box is cut into equal blocks. The hop with wilson_hop_call.cut drops all terms from other blocks (Dirichlet
 * boundaries), so it sends nothing. Sums over a block are integers, in units that follow from the largest numbers of the
 * vectors: they do not depend on order, process grid or lanes, and no other rank is asked.
 */
#ifndef PLAQ_BLOCK_H
#define PLAQ_BLOCK_H

#include "kernels/field/field.h"

typedef struct blocks blocks;

#ifdef __cplusplus
extern "C" {
#endif

/* True if every rank's box of the lattice, which may be a plan, can be cut into blocks of `size` sites (all zero: the box
 * itself) of so many colours; else the reason is in `message`. */
int blocks_fit(const lattice *lat, const int size[4], int colours, char *message, size_t bytes);

/* Blocks of `size` sites in fields of that place; the extents divide those of every rank's box, or are all zero for the
 * box itself. Null with the reason in `message` otherwise. The lattice is borrowed. */
blocks *blocks_create(const lattice *lat, const int size[4], place where, char *message, size_t bytes);
void blocks_destroy(blocks *b);
/* Makes the block go around in direction d, in which it is the whole box: the hop goes over the edge to the other end,
 * times this sign, 1 or -1. Before the first hop. */
void blocks_close(blocks *b, int d, int sign);
/* Colours that blocks_minimise() can tell apart: 2, or 1 where the number of blocks of the lattice along some direction
 * is odd and not one. */
int blocks_colours(const blocks *b);

/* Spinors below are of one parity and one right-hand side, whose slices of a fifth dimension belong together. */

/* Before the steps from a residual r, whose norm in a block only falls then: from it and the first q come the units of
 * sums over blocks. */
void blocks_measure(blocks *b, const field *r);

/* Minimal residual with q = A r given: one step in each block of the colour (all: -1), a = w (q, r) / (q, q), x += a r, r -= a
 * q. Other blocks are left alone. */
void blocks_minimise(blocks *b, field *x, field *r, const field *q, double w, int colour);

/* Conjugate gradients, one step in each block, with q = A p given and A Hermitian, positive and block diagonal. The first step
 * comes after blocks_measure(r), with p = r. A block without a step to make is left alone. */
void blocks_cg_step(blocks *b, field *x, field *r, field *p, const field *q);

#ifdef __cplusplus
}
#endif
#endif
