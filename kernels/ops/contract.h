/* Densities of contractions of quark fields, and their sums over time slices with plane waves (kernels/site/contract.h,
 * slice_sums.h).
 *
 * Fields are in double precision and hold both parities, on one lattice and in one place. A density is a FIELD_DENSITY: a complex
 * number a site and channel, its right-hand sides. No output may be an input. Sums are this rank's part: comm_group_sum_exact()
 * adds up the others'. Their bits do not depend on the process grid, threads, lanes or the place of the fields. */
#ifndef PLAQ_OPS_CONTRACT_H
#define PLAQ_OPS_CONTRACT_H

#include "kernels/field/field.h"
#include "kernels/lattice/exact.h"

/* Waves f(x) g(y) h(z) on global coordinates: wave i has the factors number[i] of the tables factor[d], [number of them][extent
 * of the lattice](re, im). */
typedef struct {
    int n, factors[3];
    const int (*number)[3];
    const double (*factor[3])[2];
} slice_waves;

enum { SPIN_PAIRS = 16, DIQUARK_PAIRS = 4 };

/* Two spins with a factor, of a diquark's two quarks. */
typedef struct {
    int at[2];
    double factor[2];
} diquark_pair;

#ifdef __cplusplus
extern "C" {
#endif

/* A density of `channels` channels for fields like f, all zero. */
field *density_create(const field *f, int channels);
/* rho[4 k + l] = sum over colours of conj(a)(spin k) b(spin l), over columns 3 s + d of a and 3 r + d of b, d < 3, in turn;
 * a and b, which may be one, are spinors with a right-hand side for each of 12 columns, and rho has SPIN_PAIRS channels. */
void contract_spin_pairs(field *rho, const field *a, const field *b, int s, int r);
/* rho = x^dagger y over all right-hand sides and slices of spinors, or of colour vectors, which may be one field; rho has one
 * channel. */
void contract_inner(field *rho, const field *x, const field *y);
/* rho = epsilon_abc epsilon_a'b'c' a_aa' b_bb' c_cc' of colours of the sink and the source: colour vectors with a column for each of
 * three colours, of which any may be one; rho has one channel. */
void contract_colours(field *rho, const field *a, const field *b, const field *c);
/* rho[4 alpha + alpha'] += sum over the pairs (i, j) of sink[DIQUARK_PAIRS] and (k, l) of source[DIQUARK_PAIRS] of their factors times
 * epsilon_abc epsilon_a'b'c' over colours of
 *   direct:  a(i; k) b(j; l) c(alpha; alpha')
 *   crossed: a(i; alpha') b(j; k) c(alpha; l)
 * with spins of the sink; of the source. a, b and c, of which any may be one, are spinors with 12 columns, 3 spin + colour of
 * the source; rho has SPIN_PAIRS channels. */
void contract_baryon_direct(field *rho, const field *a, const field *b, const field *c, const diquark_pair *sink,
                            const diquark_pair *source);
void contract_baryon_crossed(field *rho, const field *a, const field *b, const field *c, const diquark_pair *sink,
                             const diquark_pair *source);
/* sums[t][wave][channel][re, im] += sum over the sites of this rank at global time t of wave times channel. The eight sites of a
 * cube at even coordinates are added in a fixed order, cubes exactly. Local. */
void contract_slices(exact_sum *sums, const field *rho, const slice_waves *waves);
/* Sums like those of contract_slices(), of the spin pairs of all pairs of columns, in one pass over the columns:
 * sums[t][wave][column i of a][column j of b][4 k + l][re, im], with channel conj(a_i)(spin k) b_j(spin l) over colours. a and b,
 * which may be one, are spinors with any number of columns. Local. */
void contract_column_slices(exact_sum *sums, const field *a, const field *b, const slice_waves *waves);

#ifdef __cplusplus
}
#endif
#endif
