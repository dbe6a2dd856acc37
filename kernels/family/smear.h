/* Arguments of the kernels of smeared links. The same in every precision. */
#ifndef PLAQ_FAMILY_SMEAR_H
#define PLAQ_FAMILY_SMEAR_H

#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* Weight of the staples in the plane of a link's direction and another one. */
typedef struct {
    double rho[4][4];
} stout_weights;

/* Most fields of links that staples are made of, and that one level of smearing makes. */
#define SMEAR_FIELDS 3

/* Staples of the link mu in the plane mu, nu: their weight, zero for none, and the numbers of two fields of links, A that
 * of both sides and B that of the link across: A_nu(x) B_mu(x + nu) A_nu(x + mu)^dagger, and the same below. */
typedef struct {
    double rho[4][4];
    unsigned char side[4][4], across[4][4];
} smear_staples;

/* Thin links, and the fields that staples are made of. */
typedef struct {
    view thin, from[SMEAR_FIELDS];
    smear_staples s;
} smear_links;

typedef struct {
    geom g;
    smear_links l;
    view out;
    int parity;
} stout_args;

typedef struct {
    geom g;
    smear_links l;
    view force, insertion;
    int parity;
} stout_back_args;

/* What a link mu of the field number `own` is to staples in the plane mu, nu: the link across in those of links mu, and
 * a side in those of links nu. Each role has the weight of the staples, zero where there are none, and the number of the
 * insertions of the links that have them. The other links of the plane's staples, of direction nu, are in the field
 * `other` for both roles. */
typedef struct {
    int own;
    double rho_across[4][4], rho_side[4][4];
    unsigned char across[4][4], side[4][4], other[4][4];
} smear_roles;

typedef struct {
    geom g;
    view from[SMEAR_FIELDS], insertion[SMEAR_FIELDS], force;
    smear_roles r;
    int parity;
} stout_gather_args;

typedef struct {
    geom g;
    smear_links l;
    view out;
    double own; /* weight of the thin link */
    int parity;
} staples_project_args;

#endif
