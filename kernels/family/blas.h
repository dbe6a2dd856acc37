/* Arguments of the kernels on any field: vector algebra, random vectors, ghosts. The same in every precision. */
#ifndef PLAQ_FAMILY_BLAS_H
#define PLAQ_FAMILY_BLAS_H

#include "kernels/family/random.h"
#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* `reals` is the number of components of a group: 24 of a spinor, 6 of a colour vector, or VECTOR_FLAT(precision) of a
 * field in rows order, which these kernels see as one stretch of numbers (flat). A kernel that sums does groups first to
 * first + count - 1, one right-hand side with its slices; the others do all groups of their views. */
#define VECTOR_FLAT(prec) ((prec) == 0 ? 2 : 4)

typedef struct {
    view y, x;
    double a, b;
    int reals;
} axpby_args;

typedef struct {
    view x;
    int reals, first, count;
} norm2_args;

typedef struct {
    view x, y;
    int reals, first, count;
} dot_args;

/* `times`, and where one of two sums is still on its way, times their quotient; each is what a place on the device holds, or
 * else a number. A quotient by what is not positive and finite is zero. */
typedef struct {
    double times;
    const double *above_at, *below_at;
    double above, below;
} coefficient;

typedef struct {
    view x, y;
    int reals, first, count;
} real_dot_args;

typedef struct {
    view y, x;
    coefficient a;
    double b;
    int reals, first, count;
} axpby_norm2_args;

/* Right-hand sides of a launch by their numbers, each of `slices` groups; in rows order, where a group is a stretch of its own,
 * `apart` numbers lie between the first ones of two. */
#define EACH_MOST 16

typedef struct {
    int many, slices;
    long apart; /* rows order; else 0 */
    int number[EACH_MOST];
} several;

typedef struct {
    view x;
    int reals;
    several rhs;
} norm2_each_args;

typedef struct {
    view x, y;
    int reals;
    several rhs;
} dot_each_args;

typedef struct {
    view y, x;
    double a[EACH_MOST], b[EACH_MOST];
    int reals;
    several rhs;
} axpby_norm2_each_args;

typedef struct {
    view x, p, r;
    coefficient a, b;
    int reals;
} cg_update_args;

/* Complex coefficients are pairs of re, im; the first n entries of an array count. */
#define MULTI_DOTS 16
#define MULTI_VIEWS 16
#define BICGSTAB_MOST 4
#define MULTI_PAIRS (BICGSTAB_MOST + 1)

typedef struct {
    view z[MULTI_DOTS], y;
    int n, reals;
    several rhs;
} multi_dot_args;

/* Coefficients c of right-hand side k are behind each other from k most on, of which n[k] count; followed by next = r + s y
 * where `steps`. */
#define EACH_PAIRS 128

typedef struct {
    view z[MULTI_VIEWS], y, r, next;
    double c[EACH_PAIRS][2], s[EACH_MOST][2];
    int n[EACH_MOST], most, steps, reals;
    several rhs;
} multi_axpy_each_args;

typedef struct {
    view z[MULTI_VIEWS], y;
    double c[MULTI_VIEWS][2];
    int n, reals, first, count;
} multi_axpy_args;

typedef struct {
    view y[MULTI_PAIRS], x[MULTI_PAIRS];
    double a[MULTI_PAIRS][2], b[MULTI_PAIRS][2];
    int n, reals;
} multi_axpby_args;

typedef struct {
    view x, r, q;
    double a[EACH_MOST][2];
    int reals;
    several rhs;
} mr_update_args;

typedef struct {
    view x, shadow, r[BICGSTAB_MOST + 1], u[BICGSTAB_MOST + 1];
    double gamma[BICGSTAB_MOST][2];
    int l, reals, first, count;
} bicgstab_update_args;

typedef struct {
    view x[MULTI_VIEWS], p[MULTI_VIEWS], r;
    double alpha[MULTI_VIEWS], zeta[MULTI_VIEWS], beta[MULTI_VIEWS];
    int n, reals, first, count;
} multishift_update_args;

typedef struct {
    geom g;
    view in, out; /* whole field in; one message out */
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
