/* Redistribution: moves a field from a lattice on one group of ranks to one on another, or on another process grid. */
#ifndef PLAQ_REDISTRIBUTE_H
#define PLAQ_REDISTRIBUTE_H

#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = x, site by global site, the bits as they are stored. The lattices have the same global extents; the fields the same
 * kind, precision (of rows: floating point), groups and sites (one parity, or all: both parities, or a lattice of one), and any places: a field on
 * the device goes through memory of the host. Ghosts do not travel. Collective over the ranks that hold sites of
 * either lattice, each of which has both fields; other ranks may call it, too. */
void field_redistribute(field *y, const field *x);

#ifdef __cplusplus
}
#endif
#endif
