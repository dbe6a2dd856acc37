/* Arguments of the kernels of smeared links. The same in every precision. */
#ifndef PLAQ_FAMILY_SMEAR_H
#define PLAQ_FAMILY_SMEAR_H

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* Weight of the staples in the plane of a link's direction and another one. */
typedef struct {
    double rho[4][4];
} stout_weights;

typedef struct {
    geom g;
    view links, out;
    stout_weights w;
    int parity;
} stout_args;

typedef struct {
    geom g;
    view links, force, lambda;
    stout_weights w;
    int parity;
} stout_back_args;

typedef struct {
    geom g;
    view links, lambda, force;
    stout_weights w;
    int parity;
} stout_gather_args;

#endif
