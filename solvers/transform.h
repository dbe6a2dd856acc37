/* Transforms between numbers of slices of domain wall quarks: T^dagger K T + mu, with K near the inverse of an operator on
 * fewer slices, is near the inverse of the operator on all of them (J. Tu et al., arXiv:2104.05615, section 3.3).
 *
 * T is one real matrix a chirality. The average over an ensemble leaves no other form: rotations of the lattice keep the
 * chiralities apart and act alike on the spins of one, and charge conjugation makes T real. */
#ifndef PLAQ_TRANSFORM_H
#define PLAQ_TRANSFORM_H

#include "kernels/ops/domainwall.h"
#include "solvers/solver.h"

typedef struct fifth_transform {
    fifth_matrix T; /* map from all slices to fewer */
    double mu;
} fifth_transform;

/* A first T from `from` slices to Ls: those next to the two walls, each half to its own. */
fifth_transform transform_first(int Ls, int from, double mu);

/* Samples that a transform is trained on. */
typedef struct {
    linop *a;       /* M, the operator of all slices that the preconditioner is to be the inverse of */
    solver *inside; /* K, on the operator of fewer slices; up to date */
    int n;
    field *const *v; /* vectors in the precision of a */
} transform_samples;

/* chi^2 = sum_i |M (T^dagger K T + mu) v_i - v_i|^2 / sum_i |v_i|^2, eq. (22), which is 1 where the transform and mu are
 * zero; and unless that is null its gradient d chi^2 / d T, exact where K is linear. Collective. */
double transform_loss(const transform_samples *s, const fifth_transform *t, fifth_matrix *gradient);

/* Minimises it at fixed mu from t on, by the quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno with a line
 * search, in at most `steps` searches; returns the loss at the new t. Collective. */
double transform_train(const transform_samples *s, fifth_transform *t, int steps);

#endif
