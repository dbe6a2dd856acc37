/* Operations of Wilson-clover quarks: the hop between parities, the clover term, and the derivatives of both.
 *
 * All fields of a call share lattice, precision, place and right-hand sides, and those of one parity that parity, unless
 * said. Outputs come first. What sums or exchanges halos is collective. */
#ifndef PLAQ_OPS_WILSON_H
#define PLAQ_OPS_WILSON_H

#include "kernels/family/domainwall.h"
#include "kernels/family/wilson.h"
#include "kernels/ops/vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the hop between parities, kernels/site/hop.h ---- */
typedef struct {
    hop_form form;
    double a, b;        /* factors of the hop and of what is added */
    double space;       /* factor of the hop's spatial directions beside a, nu / xi_0 on an anisotropic lattice; 0: 1 */
    int sign;           /* +1, or -1 for the dagger */
    const field *links; /* links on both parities */
    const field *clover; /* clover term where the form asks for one; of both parities or of that of out */
    double mu; /* twisted mass: where it is not zero, forms with a clover term C have C + i mu gamma_5 K in its place */
    const field *mu_clover; /* K, as clover; K and C are unit matrices where they are null */
    int doublet;            /* slices are the flavours of a doublet: with mu or epsilon, forms with a clover term have
                                  C + (i mu gamma_5 tau_2 + epsilon tau_3) K in place of C */
    double epsilon;
    const field *add;          /* summand where the form has one */
    const struct blocks *cut;  /* stays in these blocks, and is not collective; or null */
    const fifth_matrix *fifth; /* matrix of as many slices as the fields: multiplies D in before anything is
                                  added, in forms without clover term; or null */
    int fifth_transposed;      /* transpose of that matrix */
} wilson_hop_call;
/* out, of parity p, from in, of the other one; out may be call->add. Fields may hold both parities. */
void wilson_hop(field *out, parity p, const field *in, const wilson_hop_call *call);

/* out = factor C in on parity p; out may be in. */
void clover_apply(field *out, parity p, const field *clover, const field *in, double factor);
/* out = factor (C + i mu gamma_5 K) in on parity p, with unit matrices for C and K where they are null; out may be in. */
void twisted_apply(field *out, parity p, const field *clover, const field *mu_clover, double mu, const field *in,
                   double factor);
/* out = factor (C + (i mu gamma_5 tau_2 + epsilon tau_3) K) in, likewise, on fields of two slices, the flavours of a doublet. */
void doublet_apply(field *out, parity p, const field *clover, const field *mu_clover, double mu, double epsilon,
                   const field *in, double factor);
/* Clover term on one right-hand side, and |in|^2 on parity p, from one pass: as vector_norm2_start() does. */
void clover_apply_norm2_start(vector_sum *s, field *out, parity p, const field *clover, const field *in, double factor);

/* Coefficients of the clover term in spatial planes and in planes with time: c_sw both, or c_R / xi_0 and c_T on an
 * anisotropic lattice. inside: c_F - 1 of the lower and of the upper end, which on lattices bounded in time is added to the diagonal on the slices next to the
 * ends (M. Luescher and S. Schaefer, arXiv:1206.2809, appendix A). */
typedef struct {
    double space, time, inside[2];
    int exponential; /* exponential clover term */
} clover_coefficients;

static inline int clover_has_inside(const clover_coefficients *c)
{
    return c->inside[0] != 0 || c->inside[1] != 0;
}

static inline clover_coefficients clover_isotropic(double c_sw)
{
    const clover_coefficients c = {c_sw, c_sw, {0, 0}, 0};
    return c;
}

/* clover = diagonal + (i c / 4) sigma F, or diagonal exp((i c / 4) sigma F / diagonal) of an exponential term, on the parities that it holds, c that of the plane; the diagonal alone on the end slices of
 * lattices bounded in time. */
void clover_build(field *clover, const field *tensor, double diagonal, clover_coefficients c);
/* outer += X Y^dagger + Y X^dagger on parity p, a block of spins and colours for either chirality, as a clover term. */
void clover_outer(field *outer, parity p, const field *x, const field *y);
/* Turns H of tr [H dC] into H' of tr [H' dA] on parity p, C = diagonal exp(A / diagonal); exponent is A. h may be out. */
void clover_chain(field *out, parity p, const field *h, const field *exponent, double diagonal, clover_coefficients c);
/* inverse = clover^-1 on parity p. Returns log |det clover| there; *negatives counts negative pivots, zero for a
 * positive clover term. inverse may be clover. */
double clover_invert(field *inverse, const field *clover, parity p, double *negatives);
/* mu_inverse = K = (C^2 + square)^-1 and inverse = C K on parity p: for mu^2, (C + i mu gamma_5)^-1 = C K - i mu gamma_5 K;
 * for mu^2 - epsilon^2, (C + X)^-1 = C K - X K with the X of doublet_apply(). Returns log |det (C^2 + square)| / 2 there,
 * that of one flavour; *negatives counts negative pivots of C^2 + square. inverse may be clover. */
double twisted_invert(field *inverse, field *mu_inverse, const field *clover, parity p, double square,
                      double *negatives);
/* Insertions Z of the clover term's force: the terms of -2 Re Y^dagger dC X, summed over slices and right-hand sides, and of
 * -weight log det C, on parity p. */
void clover_insert(field *tensor, parity p, clover_coefficients c, const field *x, const field *y);
void clover_insert_det(field *tensor, parity p, clover_coefficients c, double weight, const field *inverse);
/* force += that of all insertions; those on the end slices of lattices bounded in time, where there is no clover term, become zero. */
void clover_force(field *force, const field *links, field *tensor);
/* force += that of -2 Re Y^dagger dM X through the hop of M, summed over all slices and right-hand sides; x and y hold
 * both parities. space: the factor of the hop's spatial directions, 1 on an isotropic lattice. */
void hop_force(field *force, const field *links, const field *x, const field *y, double space);

#ifdef __cplusplus
}
#endif
#endif
