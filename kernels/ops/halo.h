/* Halo of links and tensors: ghost units continue a field by halo_depth sites over split sides, corners included.
 *
 * Directions are exchanged one after the other, so that corners travel with faces. A direction that is not split costs
 * nothing. The hops of quarks need less and exchange it themselves. */
#ifndef PLAQ_HALO_H
#define PLAQ_HALO_H

#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills the ghost units of f, both parities of a kind with ghosts, unless they belong to its version already. The sites
 * of f stay as they are. Collective over the group of its lattice. */
void halo_fill(const field *f);

/* View of all storage of f to read, ghosts filled first: for kernels that reach beyond nearest neighbours. Collective
 * over the group of its lattice. */
view halo_in(const field *f);

#ifdef __cplusplus
}
#endif
#endif
