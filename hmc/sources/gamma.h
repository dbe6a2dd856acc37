/* Products of gamma matrices in the DeGrand-Rossi basis of kernels/site/spin.h, by their number: Gamma_n = gamma_x^b0
 * gamma_y^b1 gamma_z^b2 gamma_t^b3 with the bits of n, as in Chroma. 0 is the unit matrix, 15 gamma_5, 1 2 4 8 the vectors,
 * 14 13 11 7 gamma_mu gamma_5 up to signs, all others products of two. Local. */
#ifndef PLAQ_GAMMA_H
#define PLAQ_GAMMA_H

#include <complex.h>

enum { GAMMA_SPINS = 4, GAMMAS = 16, GAMMA_5 = 15, CHARGE_CONJUGATION = 10 };

/* Elements, one a row: gamma(s, at[s]) = value[s]. */
typedef struct {
    int at[GAMMA_SPINS];
    double complex value[GAMMA_SPINS];
} spin_matrix;

spin_matrix gamma_number(int number);
spin_matrix gamma_product(const spin_matrix *a, const spin_matrix *b);
/* gamma_t conj(Gamma) gamma_t: the diquark of conj(O), (q1^T Gamma q2)^dagger = conj(q2) gamma_t Gamma^dagger gamma_t^T conj(q1)^T, with
 * the spin of q1 first. */
spin_matrix gamma_of_source(const spin_matrix *gamma);

/* Groups of them by words, for keys whose value is a list of words: the values of such a key; and the numbers that the words
 * of a list stand for, in the order of the groups, into numbers[GAMMAS]: how many. */
#define GAMMA_WORDS "scalar|pseudoscalar|vector|axial|tensor"
int gamma_listed(const char *words, int *numbers);
/* The first word of the list that needs a quark with spin, or null. */
const char *gamma_needs_spin(const char *words);

/* Names of the gamma matrices by number, of the conserved vector currents, 17 18 20 24, behind them, and null. */
extern const char *const gamma_names[];

#endif
