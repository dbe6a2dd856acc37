/* Arguments of the kernels on any field: vector algebra, random vectors, ghosts. The same in every precision. */
#ifndef PLAQ_FAMILY_BLAS_H
#define PLAQ_FAMILY_BLAS_H

#include "kernels/family/random.h"
#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

typedef struct {
    view y, x;
    double a, b;
} axpby_args;

typedef struct {
    view x;
    int rhs;
} norm2_args;

typedef struct {
    view x, y;
    int rhs;
} dot_args;

typedef struct {
    view y, x;
    double a, b;
    int rhs;
} axpby_norm2_args;

/* `times`, and where there is an `above`, times what it points to over `below`: a sum that may still be on its way. */
typedef struct {
    double times;
    const double *above;
    double below;
} coefficient;

typedef struct {
    view x, p, r;
    double a;
    coefficient b;
} cg_update_args;

/* Complex coefficients are pairs of re, im; the first n entries of an array count. */
#define MULTI_DOTS 16
#define MULTI_VIEWS 16
#define BICGSTAB_MOST 4
#define MULTI_PAIRS (BICGSTAB_MOST + 1)

typedef struct {
    view z[MULTI_DOTS], y;
    int n, rhs;
} multi_dot_args;

typedef struct {
    view z[MULTI_VIEWS], y;
    double c[MULTI_VIEWS][2];
    int n, rhs;
} multi_axpy_args;

typedef struct {
    view y[MULTI_PAIRS], x[MULTI_PAIRS];
    double a[MULTI_PAIRS][2], b[MULTI_PAIRS][2];
    int n;
} multi_axpby_args;

typedef struct {
    view x, r, q;
    double a[2];
} mr_update_args;

typedef struct {
    view x, shadow, r[BICGSTAB_MOST + 1], u[BICGSTAB_MOST + 1];
    double gamma[BICGSTAB_MOST][2];
    int l, rhs;
} bicgstab_update_args;

typedef struct {
    view x[MULTI_VIEWS], p[MULTI_VIEWS], r;
    double alpha[MULTI_VIEWS], zeta[MULTI_VIEWS], beta[MULTI_VIEWS];
    coefficient by;
    int n, rhs;
} multishift_update_args;

typedef struct {
    geom g;
    view in, out; /* in: the whole field; out: one message */
    const int *list;
    int dir, reals; /* the message goes along dir */
} ghost_pack_args;

typedef struct {
    view out, in;
    const int *list;
    int reals;
} ghost_unpack_args;

typedef random_args random_spinor_args;
typedef random_args random_signs_args;

#endif
