/* Vector algebra and random sources, for spinors, colour vectors and coarse vectors, in both orders of storage.
 *
 * All fields of a call share lattice, shape, precision and place, and those of one parity that parity, unless said;
 * anything else stops the program. Sums are over all ranks, exact, and the same bits everywhere. Outputs come first.
 * Functions that sum are collective. */
#ifndef PLAQ_OPS_VECTOR_H
#define PLAQ_OPS_VECTOR_H

#include "kernels/family/blas.h"
#include "kernels/field/field.h"
#include "kernels/lattice/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vector algebra; y may be x ---- */
void vector_copy(field *y, const field *x);                      /* also between precisions and places */
void vector_axpby(field *y, double a, const field *x, double b); /* y = a x + b y; b = 0 does not read y */
void vector_add(field *y, double a, const field *x);             /* y += a x, also between precisions */
/* Sums are of one right-hand side with all its slices. */
double vector_norm2(const field *x, int rhs);
/* Sum in two steps. What is started in between keeps a GPU busy while the sum travels. At most eight sums travel at a time; each is
 * finished once, before seven more have been started. */
typedef struct {
    const lattice *lat;
    int kernel;         /* kernel that sums */
    int travels;        /* else sum and value are known */
    int sum_over_ranks; /* global sum by the kernel itself */
    unsigned ticket;
    exact_sum sum;
    double value;
} vector_sum;
vector_sum vector_sum_known(double value);
/* times above / below, or zero where the sum below is not positive and finite. Global sums that kernels make are taken on the
 * device, and travel on; any others are waited for. */
typedef struct {
    double times;
    vector_sum *above, *below;
} vector_ratio;
void vector_norm2_start(vector_sum *s, const field *x, int rhs);
double vector_sum_finish(vector_sum *s);                                   /* also of one that is finished */
void vector_dot(double value[2], const field *x, const field *y, int rhs); /* sum conj(x) y */
double vector_axpy_norm2(field *y, double a, const field *x, int rhs);     /* y += a x; |y|^2 */
/* y = a x + b y; |y|^2, of y before it is rounded to fixed point */
double vector_axpby_norm2(field *y, double a, const field *x, double b, int rhs);
void vector_real_dot_start(vector_sum *s, const field *x, const field *y, int rhs); /* Re (x, y) */
void vector_axpy_norm2_start(vector_sum *s, field *y, double a, const field *x, int rhs);
void vector_axpy_by_norm2_start(vector_sum *s, field *y, vector_ratio a, const field *x, int rhs);
/* Sums of each right-hand side as above, in one pass over memory: value[nrhs], coefficients a[nrhs] and b[nrhs]. */
void vector_norm2_each(double *value, const field *x);
void vector_dot_each(double (*value)[2], const field *x, const field *y);
void vector_axpby_norm2_each(double *value, field *y, const double *a, const field *x, const double *b);
void vector_cg_update(field *x, field *p, double a, double b, const field *r); /* x += a p; p = r + b p */
void vector_cg_update_by(field *x, field *p, vector_ratio a, vector_ratio b, const field *r);

/* Complex coefficients are pairs re, im. Any n, in as few passes as possible; no field is
 * written twice by a call. */
void vector_multi_dot(double (*value)[2], int n, field *const *z, const field *y, int rhs); /* (z_j, y) */
/* y += sum_j c_j z_j; |y|^2. y is no z. */
double vector_multi_axpy(field *y, int n, const double (*c)[2], field *const *z, int rhs);
/* Multi-BLAS of each right-hand side r that has going[r], with coefficients of its own: value[nrhs][n], c[nrhs][n]. Right-hand
 * sides that have not are left alone, and their values, too. All sums travel over ranks together; a device takes many right-hand
 * sides in a launch. */
void vector_multi_dot_each(double (*value)[2], const char *going, int n, field *const *z, const field *y);
/* (z_i, z_j) for i <= j, at j (j + 1) / 2 + i: value[nrhs][n (n + 1) / 2]. */
void vector_gram_each(double (*value)[2], const char *going, int n, field *const *z);
/* y += sum_j c_j z_j over n[r] <= MULTI_VIEWS vectors, c[nrhs][step]; without sums. */
void vector_multi_axpy_each(const char *going, field *y, const int *n, int step, const double (*c)[2], field *const *z);
/* y += sum_j c_j z_j over n <= MULTI_VIEWS vectors, and then next = r + s y: c[nrhs][n], s[nrhs]; next may be r. */
void vector_gcr_step_each(const char *going, field *next, const field *r, const double (*s)[2], field *y, int n,
                          const double (*c)[2], field *const *z);
/* y_j = a_j x_j + b_j y_j for n <= MULTI_PAIRS, in this order: x_j may be y_i of a later i. */
void vector_multi_axpby(int n, field *const *y, const double (*a)[2], field *const *x, const double (*b)[2]);
/* x += a r; r -= a q: a[nrhs] */
void vector_mr_update_each(const char *going, field *x, field *r, const double (*a)[2], const field *q);
/* The polynomial step of BiCGStab(l), kernels/site/blas.h; l <= BICGSTAB_MOST, r and u have l + 1 fields. Gives
 * (shadow, r_0) and returns |r_0|^2. */
double vector_bicgstab_update(double rho[2], field *x, field *const *r, field *const *u, int l,
                              const double (*gamma)[2], const field *shadow, int rhs);
/* x_j += alpha_j p_j; p_j = zeta_j r + beta_j p_j */
void vector_multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, const field *r, int rhs);

/* ---- random sources ---- */
/* Complex normal components with <|z|^2> = 1 in all groups of f (double precision), each with numbers of its own: slice s
 * of right-hand side r has the same in every shape. purpose: of kernels/lattice/purpose.h; number: the trajectory. */
void vector_random(field *f, uint64_t seed, uint32_t purpose, uint32_t number);

/* Random components (+-1 +- i) / sqrt 2, each as likely, from one more set of random numbers; else as vector_random(). */
void vector_random_signs(field *f, uint64_t seed, uint32_t purpose, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
