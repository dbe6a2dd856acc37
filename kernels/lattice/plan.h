/* A lattice that is not there: for planning, before memory is asked for.
 *
 * A plan is a lattice whose layouts have their numbers (lanes, units, ghosts) and no tables. It may be for any number of
 * ranks, and for GPUs that are not there. All that runs on a lattice runs on it, and leaves its bytes in the places of the
 * pool that only count (kernels/base/pool.h): fields, tables and message buffers have sizes and no memory, kernels and
 * messages do nothing, vectors have a norm of one, and all other sums are zero. Free with lattice_destroy(). Nothing here
 * is collective. */
#ifndef PLAQ_PLAN_H
#define PLAQ_PLAN_H

#include <stddef.h>

#include "kernels/lattice/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lattice that lattice_create() would make on `ranks` ranks (as seen by the first of them), without its tables;
 * null with a message when size and grid (or all zero: chosen) do not fit, or when a rank would have more sites than
 * indices of 32 bits can count. */
lattice *plan_lattice(const int size[4], const int grid[4], int ranks, int reach, char *message, size_t bytes);

/* Plan of lattice_create_on(); the spec's group is not looked at. */
lattice *plan_lattice_on(const lattice_spec *spec, int ranks, char *message, size_t bytes);

/* Bytes of all tables of a lattice, planned or real, on the host; and of those that kernels read on the device. */
size_t plan_table_bytes(const lattice *lat);
size_t plan_device_table_bytes(const lattice *lat);

/* Releases what a plan holds, for lattice_destroy(). */
void plan_forget(lattice *lat);

#ifdef __cplusplus
}
#endif
#endif
