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

/* Staples A_nu(x) B_mu(x + nu) A_nu(x + mu)^dagger of the link mu in the plane mu, nu, and the same below. rho is their
 * weight, zero for none; side is the number of the field of links A, and across that of B. */
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

/* Roles of the links mu of the field number `own` in the staples of the plane mu, nu: such a link is the link across in
 * staples of links mu, and a side in staples of links nu. Each role has the weight of its staples, zero where there are
 * none, and the number of the insertions that belong to it. The field `other` has the links nu of the staples of both
 * roles. */
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
