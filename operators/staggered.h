/* The staggered operator and its even-odd normal operator.
 *
 * M = m + D / 2 with the anti-Hermitian hop D of kernels/site/staggered.h (MILC's M is twice ours). D leads from one
 * parity to the other, so M^dagger M = m^2 - D^2 / 4 is block diagonal:
 *   A = m^2 - D_pq D_qp / 4 on parity p,  det M = det A.
 *
 * Quarks of several masses share their links, which are borrowed. */
#ifndef PLAQ_STAGGERED_OPERATOR_H
#define PLAQ_STAGGERED_OPERATOR_H

#include "operators/fermion.h"
#include "operators/staggered_links.h"

typedef struct staggered staggered;

typedef struct {
    staggered_smearing smearing;
    double mass;
    parity p; /* parity of the normal operator's vectors */
} staggered_fermion_settings;

/* Staggered quark as a fermion, on links that it makes from thin ones, or shares with one of the n others, which then has
 * to stay while it does. Others of another kind, and null ones, do not count. The thin links are borrowed. */
fermion *staggered_fermion(const field *links, const staggered_fermion_settings *s, fermion *const *others, int n);
/* Links of a staggered quark; an error for another kind of fermion. */
staggered_links *staggered_fermion_links(const fermion *f);

/* p: parity of the normal operator's vectors. */
staggered *staggered_create(staggered_links *links, double mass, parity p);
void staggered_destroy(staggered *s);

/* A in double precision where the links are; Hermitian, positive for a mass that is not zero; owned by s. */
linop *staggered_normal(staggered *s);

/* The right-hand side on parity p of A x_p = m b_p - D_pq b_q / 2 for M x = b, and x from its solution, for masses that
 * are not zero: x_q = (b_q - D_qp x_p / 2) / m. b and x hold both parities. */
void staggered_prepare(staggered *s, field *normal_source, const field *source);
void staggered_reconstruct(staggered *s, field *x, const field *normal_x, const field *source);
/* y = M x, or M^dagger x, on both parities. */
void staggered_apply(staggered *s, field *y, const field *x, int dagger);

/* ---- forces ----
 *
 * staggered_force_open(), any number of staggered_force_add(), staggered_force_close(): the derivatives by the links of
 * the operators are summed, and taken back through the smearing once, at the end. */
typedef struct staggered_force staggered_force;

/* Opens a force of operators whose links have this base; adds to momenta in the normalisation of kernels/ops/gauge.h. */
staggered_force *staggered_force_open(field *momenta, staggered_links *base);
/* The force of -sum_i weight_i x_i^dagger A x_i for fixed x_i: with x_i = (A + pole_i)^-1 phi that of sum_i weight_i
 * phi^dagger (A + pole_i)^-1 phi. n vectors of A in double precision. */
void staggered_force_add(staggered_force *f, staggered *s, int n, const double *weights, field *const *x);
void staggered_force_close(staggered_force *f);

#endif
