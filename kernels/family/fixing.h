/* Arguments of the kernels of gauge transformations and gauge fixing. */
#ifndef PLAQ_FAMILY_FIXING_H
#define PLAQ_FAMILY_FIXING_H

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

typedef struct {
    geom g;
    view links, rotation, out;
    int parity;
} gauge_rotate_args;

typedef struct {
    geom g;
    view links, rotation, out; /* rotation: of both parities, to read; out: its sites of the parity */
    double over_relaxation;
    int parity, directions;
} gauge_relax_args;

typedef struct {
    geom g;
    view links, rotation;
    int parity, directions;
} gauge_gradient_args;

#endif
