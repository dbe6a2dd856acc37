/* Two-point functions of baryons of three light or strange quarks with interpolators
 *
 *   O_alpha = sum of terms weight epsilon_abc (q1_a^T Gamma q2_b) q3_(c alpha),
 *   G_(alpha alpha')(p, t) = sum_x exp(-i p.(x - x_0)) < O_alpha(x) conj(O)_alpha'(x_0) >,  conj(O) = O^dagger gamma_t,
 *
 * with all Wick contractions of quarks of one flavour, in a gauge field, from point-like or smeared sources at x_0. Gamma is
 * C gamma_5 for the octet and C gamma_i for the decuplet, C = gamma_y gamma_t. They are made where the fields are, with the same
 * bits on any grid and place (kernels/ops/contract.h). */
#ifndef PLAQ_BARYON_CONTRACTION_H
#define PLAQ_BARYON_CONTRACTION_H

#include "hmc/sources/gamma.h"
#include "hmc/measure/momentum.h"
#include "kernels/ops/contract.h"

enum { BARYON_FLAVOURS = 3, BARYON_TERMS = 3 };
enum { FLAVOUR_U, FLAVOUR_D, FLAVOUR_S };

typedef struct {
    const char *name;
    int decuplet; /* averaged over C gamma_x, C gamma_y and C gamma_z; else C gamma_5 */
    int terms;
    struct {
        double weight;
        int flavour[3]; /* quarks q1, q2, q3 */
    } term[BARYON_TERMS];
} baryon_kind;

/* Kinds by their numbers, null after the last: nucleon, sigma, xi, lambda, delta, sigma_star, xi_star, omega. */
const baryon_kind *baryon_kind_number(int i);

/* Quark lines by flavour, of which any may be one; those of flavours that a kind lacks may be null. With an insertion the sum of
 * correlators in each of which it takes the place of one line of the flavour `inserted`. */
typedef struct {
    const field *quark[BARYON_FLAVOURS], *insertion;
    int inserted;
} baryon_lines;

/* True if the kind has a quark of this flavour. */
int baryon_has_flavour(const baryon_kind *kind, int flavour);

typedef struct {
    const lattice *lat;
    const momenta *p;
    int start;       /* time of the source */
    exact_sum *sums; /* [global time][momentum][alpha, alpha'][re, im] */
} baryon;

/* Correlators of a kind: lines are spinor fields of both parities in double precision, with a right-hand side for each column,
 * 3 spin + colour, of the source at x0.
 * `components`: 0, or 1 or -1 for Gamma (1 + components gamma_t) / 2, the components of quarks that do not vanish at rest.
 * Collective. */
void baryon_open(baryon *b, const momenta *p, const baryon_kind *kind, const baryon_lines *lines, int components,
                 const int x0[4]);
void baryon_close(baryon *b);

/* Projectors T of the open spins, T[row][column]: (1 + gamma_t) / 2 and (1 - gamma_t) / 2 of the two parities, and those times
 * 1 + Sigma_z, Sigma_z = -i gamma_x gamma_y, for spins up. */
typedef struct {
    double complex at[GAMMA_SPINS][GAMMA_SPINS];
} spin_projector;
spin_projector baryon_projector(int parity, int polarised);

/* tr T G of momentum number i, t after the source; with the sign of three quarks that have crossed an antiperiodic edge. */
double complex baryon_trace(const baryon *b, const spin_projector *T, int i, int t);

#endif
