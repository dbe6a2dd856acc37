/* Operations on spinor fields: vector algebra, the Wilson hop, the clover term, random sources. Vector algebra and
 * random sources are for colour vectors, too.
 *
 * All fields of a call share lattice, precision, place and right-hand sides, and spinors of one parity that parity,
 * unless said. Sums are over all ranks, exact, and the same bits everywhere. Outputs come first. Functions that sum or
 * exchange halos are collective. */
#ifndef PLAQ_SPINOR_H
#define PLAQ_SPINOR_H

#include "kernels/args.h"
#include "kernels/lattice/exact.h"
#include "kernels/lattice/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vector algebra; y may be x ---- */
void spinor_copy(field *y, const field *x);                      /* also between precisions and places */
void spinor_axpby(field *y, double a, const field *x, double b); /* y = a x + b y; b = 0 does not read y */
void spinor_add(field *y, double a, const field *x);             /* y += a x, also between precisions */
double spinor_norm2(const field *x, int rhs);
/* The same in two steps. What is started in between keeps a GPU busy while the sum travels; it must not sum itself. */
typedef struct {
    const field *like;
    int kernel;  /* that sums */
    int travels; /* else sum and value are known */
    int whole;   /* one kernel makes all of the sum, over all ranks */
    exact_sum sum;
    double value;
} spinor_sum;
void spinor_norm2_start(spinor_sum *s, const field *x, int rhs);
double spinor_sum_finish(spinor_sum *s);                                   /* also of one that is finished */
void spinor_dot(double value[2], const field *x, const field *y, int rhs); /* sum conj(x) y */
double spinor_axpy_norm2(field *y, double a, const field *x, int rhs);     /* y += a x; |y|^2 */
/* y = a x + b y; |y|^2, of y before it is rounded to fixed point */
double spinor_axpby_norm2(field *y, double a, const field *x, double b, int rhs);
void spinor_axpy_norm2_start(spinor_sum *s, field *y, double a, const field *x, int rhs);
void spinor_cg_update(field *x, field *p, double a, double b, const field *r); /* x += a p; p = r + b p */
/* The same with b = sum / below. A sum that is whole on the device is taken there, and travels on; any other is waited
 * for. */
void spinor_cg_update_by(field *x, field *p, double a, spinor_sum *sum, double below, const field *r);

/* Complex coefficients are pairs re, im. Any n, in as few passes as possible; no field is
 * written twice by a call. */
void spinor_multi_dot(double (*value)[2], int n, field *const *z, const field *y, int rhs); /* (z_j, y) */
/* y += sum_j c_j z_j; |y|^2. y is no z. */
double spinor_multi_axpy(field *y, int n, const double (*c)[2], field *const *z, int rhs);
/* y_j = a_j x_j + b_j y_j for n <= MULTI_PAIRS, in this order: x_j may be y_i of a later i. */
void spinor_multi_axpby(int n, field *const *y, const double (*a)[2], field *const *x, const double (*b)[2]);
void spinor_mr_update(field *x, field *r, const double a[2], const field *q); /* x += a r; r -= a q */
/* The polynomial step of BiCGStab(l), kernels/site/blas.h; l <= BICGSTAB_MOST, r and u have l + 1 fields. Gives
 * (shadow, r_0) and returns |r_0|^2. */
double spinor_bicgstab_update(double rho[2], field *x, field *const *r, field *const *u, int l,
                              const double (*gamma)[2], const field *shadow, int rhs);
/* x_j += alpha_j p_j; p_j = zeta_j r + beta_j p_j */
void spinor_multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, const field *r, int rhs);
/* The same with sum / below as a factor of each beta_j, as in spinor_cg_update_by(). */
void spinor_multishift_update_by(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                                 const double *beta, spinor_sum *sum, double below, const field *r, int rhs);

/* ---- the hop between parities, kernels/site/hop.h ---- */
typedef struct {
    hop_form form;
    double a, b;              /* factors of the hop and of what is added */
    int sign;                 /* +1, or -1 for the dagger */
    const field *links;       /* both parities */
    const field *clover;      /* where the form asks for one; of both parities or of that of out */
    const field *add;         /* where the form adds */
    const struct blocks *cut; /* stays in these blocks, and is not collective; or null */
} hop_call;
/* out, of parity p, from in, of the other one; out may be call->add. Fields may hold both parities. */
void spinor_hop(field *out, parity p, const field *in, const hop_call *call);

/* out = factor C in on parity p; out may be in. */
void spinor_clover(field *out, parity p, const field *clover, const field *in, double factor);
/* The same of one right-hand side, and |in|^2 on parity p, from one pass: as spinor_norm2_start() does. */
void spinor_clover_norm2_start(spinor_sum *s, field *out, parity p, const field *clover, const field *in,
                               double factor);

/* Complex normal components with <|z|^2> = 1 on all parities of f (double precision). number: the trajectory. */
void spinor_random(field *f, uint64_t seed, uint32_t purpose, uint32_t number);

/* The same with components (+-1 +- i) / sqrt 2, each as likely, from one more set of random numbers. */
void spinor_random_signs(field *f, uint64_t seed, uint32_t purpose, uint32_t number);

/* The parity that a call on a whole field means first, and whether there is a second. */
int field_first_parity(const field *f);
int field_last_parity(const field *f);
/* Arguments' geometry for the place of f. */
geom field_geom(const field *f);

#ifdef __cplusplus
}
#endif
#endif
