/* How a lattice is cut: over ranks, then a rank's box into lanes; what lattices (lattice.c) and plans of them (plan.c)
 * have in common. Numbers only: nothing here has tables or asks how many ranks there are. */
#ifndef PLAQ_CUT_H
#define PLAQ_CUT_H

#include <stddef.h>

#include "kernels/lattice/lattice.h"

/* Sets the reach of lat, and what of it its halos have; and its parities, one where any extents may be. */
void cut_shape(lattice *lat, int reach, int any_extents);

/* Sets size, grid, local and the volumes of lat, for `ranks` ranks and the shape of lat; a grid that begins with 0 is
 * chosen. Returns 0, or -1 with a message when they do not fit. */
int cut_ranks(lattice *lat, const int size[4], const int grid[4], int ranks, char *message, size_t bytes);

/* Sets sub and lane_grid for lay->lanes lanes; 0 when the box does not admit that many, else 1. Each cut halves the
 * longest extent that stays even, directions within the rank first. The cuts of fewer lanes begin the cuts of more, so
 * that a unit of 2n lanes is two units of n. */
int cut_lanes(layout *lay, const lattice *lat);

/* All numbers of a layout but those of ghosts, from zero; 0 when the box does not admit so many lanes, else 1. */
int cut_layout(layout *lay, const lattice *lat, int lanes);

/* Makes the layouts of a lattice that has been cut over ranks: the linear one, and where SIMD is used those with the most
 * lanes that the box admits. `make` sets a layout and says whether there is one of so many lanes. */
void cut_layouts(lattice *lat, int (*make)(layout *lay, const lattice *lat, int lanes));

#endif
