/* Minimax rational approximation of products of powers, by the Remez algorithm in 113-bit arithmetic.
 *
 *   f(x) = prod_k (x + shift_k)^(num_k / den_k)   on [lo, hi],  x + shift_k > 0 there
 *   r(x) = scale prod_i (x + zero_i) / prod_i (x + pole_i) = constant + sum_i residue_i / (x + pole_i)
 *
 * with `degree` poles and as many zeros (degree_above = degree), or one less (then constant = 0). r is the one that
 * makes the largest |r/f - 1| smallest; that largest value is `error`, and is taken degree + degree_above + 2 times
 * with alternating sign. The best approximation of 1/f has the same error, with zeros and poles interchanged.
 *
 * Poles and zeros are real, all different, and to the left of the points where f is singular: pole_i and zero_i are
 * larger than the smallest shift (so positive for shifts that are not negative), and ascend with i. All numbers are
 * computed in 113 bits and rounded once; that the error is nowhere larger than `error` is checked between the extrema.
 *
 * remez() returns 0, or not, with the reason in `message`, and then leaves *r alone: f is constant or itself such a
 * rational function, the error asked for is too close to the rounding (below 1e-22), the arguments make no sense,
 * the range is too wide (at 1e30), or the best approximation has poles or zeros elsewhere (with a
 * single power: where its exponent is beyond 1, or for a positive one with degree_above < degree). Same arguments, same
 * bits; nothing is kept. Takes some 10 ms for degree 12. Local. */
#ifndef PLAQ_REMEZ_H
#define PLAQ_REMEZ_H

#include <stddef.h>

#define RATIONAL_MAX_DEGREE 32
#define RATIONAL_MAX_FACTORS 4

typedef struct {
    double shift;
    int num, den;
} shifted_power;

typedef struct {
    int nfactors;
    shifted_power factors[RATIONAL_MAX_FACTORS];
} power_product;

typedef struct {
    power_product f;
    double lo, hi;
    int degree, degree_above; /* degrees of the denominator and the numerator */
    double error;
    double constant, residues[RATIONAL_MAX_DEGREE], poles[RATIONAL_MAX_DEGREE];
    double scale, zeros[RATIONAL_MAX_DEGREE];
} rational;

int remez(rational *r, const power_product *f, double lo, double hi, int degree, int degree_above, char *message,
          size_t size);

#endif
