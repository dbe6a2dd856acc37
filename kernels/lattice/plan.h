/* Sizes of a lattice that is not there: for planning, before memory is asked for.
 *
 * A plan is a lattice whose layouts have their numbers (lanes, units, ghosts) and no tables, so field_bytes() and
 * field_lanes() work on it and nothing else does. It may be for any number of ranks. Free with lattice_destroy().
 * Nothing here is collective. */
#ifndef PLAQ_PLAN_H
#define PLAQ_PLAN_H

#include <stddef.h>

#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lattice that lattice_create() would make on `ranks` ranks (as seen by the first of them), without its tables;
 * null with a message when size and grid (or all zero: chosen) do not fit, or when a rank would have more sites than
 * indices of 32 bits can count. */
lattice *plan_lattice(const int size[4], const int grid[4], int ranks, int reach, char *message, size_t bytes);

/* The same of lattice_create_on(); the spec's group is not looked at. */
lattice *plan_lattice_on(const lattice_spec *spec, int ranks, char *message, size_t bytes);

/* Bytes of all tables of a lattice, planned or real, on the host; and of those that kernels read on the device. */
size_t plan_table_bytes(const lattice *lat);
size_t plan_device_table_bytes(const lattice *lat);

/* Bytes of the message buffers that stay once the ghosts of a field of this kind (double) have been exchanged. */
size_t plan_halo_bytes(const lattice *lat, field_kind kind, place where);

#ifdef __cplusplus
}
#endif
#endif
