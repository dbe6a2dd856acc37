/* Domain decomposition: process grid, local box, SIMD lanes. Arithmetic only: no tables, no MPI.
 *
 * Lattices (lattice.c) and plans of them (plan.c) share it, so that both have the same numbers. */
#ifndef PLAQ_DECOMPOSITION_H
#define PLAQ_DECOMPOSITION_H

#include <stddef.h>

#include "kernels/lattice/layout.h"

/* Reach, depth of the halo and parities of lat: one parity where extents may be any, else two. */
void decomposition_shape(lattice *lat, int reach, int any_extents);

/* Process grid: sets size, grid, local and the volumes of lat, whose shape is set, for `ranks` ranks; a grid that begins
 * with 0 is chosen, least surface first. Returns 0, or -1 with a message when they do not fit. */
int decomposition_ranks(lattice *lat, const int size[4], const int grid[4], int ranks, char *message, size_t bytes);

/* SIMD lanes: sets sub and lane_grid for lay->lanes lanes; 0 when the box does not admit that many, else 1. Each cut
 * halves the longest extent that stays even, directions within the rank first. The cuts of fewer lanes begin the cuts of
 * more, so that a unit of 2n lanes is two units of n. */
int decomposition_lanes(layout *lay, const lattice *lat);

/* Numbers of a layout, from zero, those of ghosts aside; 0 when the box does not admit so many lanes, else 1. */
int decomposition_layout(layout *lay, const lattice *lat, int lanes);

/* Layouts of a lattice whose process grid is set: the linear one, and where SIMD is used those with the most lanes that
 * the box admits. `make` sets a layout, and returns 0 when there is none of so many lanes. */
void decomposition_layouts(lattice *lat, int (*make)(layout *lay, const lattice *lat, int lanes));

#endif
