/* Arguments of the kernels that make random fields, of several families. */
#ifndef PLAQ_FAMILY_RANDOM_H
#define PLAQ_FAMILY_RANDOM_H

#include <stdint.h>

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* Random fields are keyed by seed, purpose and number (the trajectory), and counted by the global site. */
typedef struct {
    geom g;
    view out;
    uint64_t seed;
    uint32_t purpose, number;
    int parity;
} random_args;

#endif
