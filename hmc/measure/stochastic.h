/* Stochastic estimates of any number of quantities linear in M^-1, each a trace Tr O M^-1: noise, dilution, probing, the
 * truncated solver method, and the exact part of low modes, for all observables that are made of traces.
 *
 * Noise e has <e_i conj(e_j)> = delta_ij: z2 is +-1, z4 (+-1 +- i) / sqrt 2, gaussian complex normal. Dilution (S. Bernardson
 * et al., Comput. Phys. Commun. 78 (1993) 256; J. Foley et al., hep-lat/0505023) splits e into parts e_d that live on one time
 * slice, colour, spin or parity of sites: sum_d e_d^dagger O M^-1 e_d has no noise from elements of M^-1 between parts.
 *
 * Hierarchical probing (A. Stathopoulos et al., arXiv:1302.4018) takes n = 2^m products of e with the first n Hadamard
 * vectors h_j, h_j(x) = (-1)^(number of common bits of j and the colour of x), and the mean over them: elements between sites
 * whose colours differ in the first m bits cancel. The bits of a colour are those of nested colourings of the torus: the
 * parity of the coordinates, the lowest bits of x, y and z, the parity of the second bits of the coordinates, and so on.
 * n = 2, 32, 512, 8192 remove all distances below 2, 4, 8, 16 in the directions of the axes. A sequence may be stopped at any
 * n, and continued, without loss.
 *
 * Truncated solver (G. Bali et al., arXiv:0910.3970): many vectors are solved for by a rough solver, whose bias is corrected
 * by the difference of both solvers on other vectors. That is unbiased if the rough solution of a vector has the same
 * distribution in both; therefore vectors go to the solvers in batches of one size throughout.
 *
 * Low modes: with orthonormal vectors e_k from eigenvectors of the solver (plaq eigen; low_modes.h), Tr O M^-1 = sum_k
 * e_k^dagger O M^-1 e_k + Tr O M^-1 (1 - sum_k e_k e_k^dagger), of which the first part is solved for and the second is
 * left to the noise. */
#ifndef PLAQ_STOCHASTIC_H
#define PLAQ_STOCHASTIC_H

#include "hmc/measure/solves.h"

#define NOISES(X) X(NOISE_Z2, "z2") X(NOISE_Z4, "z4") X(NOISE_GAUSSIAN, "gaussian")
enum { NOISES(PARAM_CONSTANT) };

/* Keys of an observable with noise: the first member of the struct of its keys, named `noise`. */
typedef struct {
    int noise, low_modes;
    char rough_solver[PARAM_STRING_SIZE];
    int dilution[4]; /* PARAM_NO or PARAM_YES of NOISE_BY_TIME, ... */
    int probing, vectors, rough_vectors;
} noise_keys;

enum { NOISE_BY_TIME, NOISE_BY_COLOUR, NOISE_BY_SPIN, NOISE_BY_PARITY };

#define NOISE_KEY(keys, member) (OBSERVABLE_KEY(keys, noise) + offsetof(noise_keys, member))
/* Noise keys in the table of an observable whose struct is `keys`. */
/* clang-format off */
#define NOISE_KEYS(keys)                                                                                               \
    {"noise", PARAM_CHOICE, NOISE_KEY(keys, noise), "z4", PARAM_RANGE(NOISES), NULL,                                   \
     "numbers of the noise vectors: +-1, (+-1 +- i)/sqrt 2, or complex normal ones", 0},                               \
    {"vectors", PARAM_INT, NOISE_KEY(keys, vectors), "16", "[1,1000000]", NULL,                                        \
     "number of noise vectors; they depend on [run] seed, the configuration, their number and the site", 0},           \
    {"by_time", PARAM_CHOICE, NOISE_KEY(keys, dilution[NOISE_BY_TIME]), "no", PARAM_RANGE(PARAM_NO_YES), NULL,                   \
     "dilution: parts of a vector on one time slice each, at the price of a solve for each", 0},                       \
    {"by_colour", PARAM_CHOICE, NOISE_KEY(keys, dilution[NOISE_BY_COLOUR]), "no", PARAM_RANGE(PARAM_NO_YES), NULL,               \
     "dilution: parts of one colour", 0},                                                                              \
    {"by_spin", PARAM_CHOICE, NOISE_KEY(keys, dilution[NOISE_BY_SPIN]), "no", PARAM_RANGE(PARAM_NO_YES), NULL,                   \
     "dilution: parts of one spin", 0},                                                                                \
    {"by_parity", PARAM_CHOICE, NOISE_KEY(keys, dilution[NOISE_BY_PARITY]), "no", PARAM_RANGE(PARAM_NO_YES), NULL,               \
     "dilution: parts on even and on odd sites", 0},                                                                   \
    {"probing", PARAM_INT, NOISE_KEY(keys, probing), "1", "[1,8192]", NULL,                                            \
     "hierarchical probing: Hadamard vectors that each noise vector is multiplied with, a power of 2 (2, 32, 512, "    \
     "8192 complete a colouring), at the price of a solve for each; 1: none", 0},                                      \
    {"rough_solver", PARAM_NAME, NOISE_KEY(keys, rough_solver), "", "solver", NULL,                                      \
     "[solver.NAME] of a loose tolerance for the truncated solver method; empty: none", 0},                            \
    {"rough_vectors", PARAM_INT, NOISE_KEY(keys, rough_vectors), "0", "[0,1000000]", NULL,                             \
     "noise vectors beside the others that are solved for by the rough solver alone", 0},                              \
    {"low_modes", PARAM_CHOICE, NOISE_KEY(keys, low_modes), "no", PARAM_RANGE(PARAM_NO_YES), NULL,                               \
     "the part of the eigenvectors that the solver's section names is solved for, and taken out of the noise", 0}
/* clang-format on */

/* Checks the noise keys of an observable: the key that contradicts another or the quark, with a message, or null. */
const char *noise_check(const parameters *p, const named_measure *m, const noise_keys *k, char *message, size_t size);

typedef struct {
    quark_solves *q; /* open; its worst residual leaves the rough solver out */
    const noise_keys *keys;
    uint64_t seed;
    int values; /* real numbers that are estimated */
    /* value[i] += weight Re or Im e^dagger O_i x for each of them. x is left as it is. */
    void (*contract)(void *context, double *value, double weight, const field *e, const field *x);
    void *context;
} stochastic_call;

typedef struct {
    int values, vectors, all; /* vectors of the solver, and with those of the rough one alone */
    double *fine, *rough;     /* [vector][value] of the noise, of `vectors` and of `all` vectors; rough: null without */
    double *low;              /* [value] of the low modes */
} stochastic;

/* MEASURE_DONE, or what ended it, with the reason in r->trouble. Free with stochastic_free() whatever it returns. */
int stochastic_estimate(stochastic *s, const stochastic_call *call, measure_result *r);
void stochastic_free(stochastic *s);

/* The estimate of a value, all parts together, its error from the noise (NaN of one vector), and the part that corrects the
 * rough solver, with its error (NaN without one). */
typedef struct {
    double mean, error, correction, correction_error;
} stochastic_value;
stochastic_value stochastic_mean(const stochastic *s, int value);

#endif
