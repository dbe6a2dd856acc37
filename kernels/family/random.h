/* Arguments of the kernels that make random fields, of several families. */
#ifndef PLAQ_FAMILY_RANDOM_H
#define PLAQ_FAMILY_RANDOM_H

#include <stdint.h>

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* Random fields are keyed by seed, purpose and number (the trajectory). The counter holds the global site, the right-hand
 * side and the slice, so that every group has numbers of its own. */
typedef struct {
    geom g;
    view out;
    uint64_t seed;
    uint32_t purpose, number;
    int parity;
    int reals, slices; /* vectors: components of a group, and groups of a right-hand side */
    int rows;          /* rows order */
} random_args;

#endif
