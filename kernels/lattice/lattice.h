/* Geometry: the global lattice and its split over ranks (kernels/lattice/layout.h has the structs), with the tables of its
 * layouts. */
#ifndef PLAQ_LATTICE_H
#define PLAQ_LATTICE_H

#include <stddef.h>

#include "kernels/lattice/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A lattice on a group of ranks, which outlives it. Impossible geometry is a user error. Collective over the ranks that
 * have the group, members or not. */
lattice *lattice_create_on(const lattice_spec *spec);
/* Lattice over all ranks, of even extents. */
lattice *lattice_create(const int size[4], const int grid[4], int reach, int time_sign);
/* A lattice of this rank alone, of a reach of 1; not collective. */
lattice *lattice_create_alone(const int size[4], int time_sign);
/* Sets the boundary in time of a lattice, which is periodic and without idle slices when made; before there are fields on it. */
void lattice_bound(lattice *lat, time_boundary time);
void lattice_leave_idle(lattice *lat, int slices);
/* The last slice that is not idle. */
static inline int lattice_last_slice(const lattice *lat)
{
    return lat->size[3] - 1 - (lat->time == TIME_PERIODIC ? 0 : lat->idle);
}
void lattice_destroy(lattice *lat);
/* The most bytes that tables of lattices took on the host at a time. */
size_t lattice_table_peak(void);

/* The layout with its tables where fields of that place find them; on the device only the linear one. */
const layout *layout_tables(const layout *lay, int on_device);

/* The place of the pool (kernels/base/pool.h) that memory for the lattice's fields in this place is taken from. */
int lattice_pool(const lattice *lat, int place);

/* Extents of the box that each member of the lattice's group holds, also on ranks outside of it. */
void lattice_box(const lattice *lat, int box[4]);

/* Parity that a site counts to, given by coordinates within the rank's box. */
int layout_parity(const layout *lay, const int x[4]);
/* Unit (with odd_start added for odd sites) and lane of such a site. */
void layout_locate(const layout *lay, const int x[4], long *unit, int *lane);

#ifdef __cplusplus
}
#endif
#endif
