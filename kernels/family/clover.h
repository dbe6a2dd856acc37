/* Arguments of the kernels of the clover term: product, making, forces. The same in every precision. */
#ifndef PLAQ_FAMILY_CLOVER_H
#define PLAQ_FAMILY_CLOVER_H

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

typedef struct {
    view out, in, clover;
    double factor;
} clover_apply_args;

typedef struct {
    view out, in, clover, mu_clover;
    double factor, mu;
} twisted_apply_args;

/* Pairs of groups, which are the flavours of a doublet. */
typedef struct {
    view out, in, clover, mu_clover;
    double factor, mu, epsilon;
} doublet_apply_args;

/* Groups of one right-hand side. */
typedef struct {
    clover_apply_args apply;
    int first, count;
} clover_norm2_args;

/* Factors of the field strength: [0] in spatial planes, [1] in planes with time. */
typedef struct {
    view tensor, out;
    double diagonal, factor[2];
    double inside[2]; /* added to the diagonal on the slices next to the first and to the last one */
    int last;         /* number of the last slice */
    geom g;
    int parity;
} clover_build_args;

/* Exponent in, of which out = diagonal exp(in / diagonal), by so many terms of its series. */
typedef struct {
    view in, out;
    double diagonal;
    double inside[2]; /* inside and last of clover_build_args */
    int last;
    int terms;
    geom g;
    int parity;
} clover_exp_args;

typedef struct {
    view x, y, out;
} clover_outer_args;

typedef struct {
    view in, exponent, out;
    double diagonal;
    int terms;
} clover_chain_args;

typedef struct {
    view in, out;
} clover_invert_args;

typedef struct {
    view in, out, mu_out;
    double square; /* mu^2, or mu^2 - epsilon^2 of a doublet */
} twisted_invert_args;

typedef struct {
    view x, y, tensor;
    double factor[2];
} clover_insert_args;

typedef struct {
    view inverse, tensor;
    double factor[2];
} clover_insert_det_args;

typedef struct {
    geom g;
    view links, tensor, momenta;
    double factor;
    int parity;
} clover_force_args;

#endif
