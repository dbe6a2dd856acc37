/* Rational approximations for use: evaluated, measured, and found for a tolerance.
 *
 * A store keeps the approximations that were made through it, so that equal requests cost nothing; what it returns it
 * owns. Functions that return NULL say why in `message`. Local; the same on every rank. */
#ifndef PLAQ_RATIONAL_H
#define PLAQ_RATIONAL_H

#include "solvers/remez.h"

typedef struct rational_store rational_store;

rational_store *rational_store_create(void);
void rational_store_destroy(rational_store *s);

/* x^(num/den) */
power_product power_of_x(int num, int den);
/* f and r by their partial fractions, as a solver forms them. */
double power_product_value(const power_product *f, double x);
double rational_value(const rational *r, double x);

/* The largest |r/f - 1| on a grid much finer than the extrema of the error, with r in double: the error of the
 * approximation and the rounding of r together. */
double rational_measured_error(const rational *r);

/* The best approximation of a degree, with as many zeros as poles, or, of an f that falls like 1/x, one less. */
const rational *rational_of_degree(rational_store *s, const power_product *f, double lo, double hi, int degree,
                                   char *message, size_t size);
/* Approximation of the smallest degree whose measured error is at most `tolerance`. Where coefficients alternate in sign, as
 * for positive exponents, rounding limits r to about 1e-16 constant / f(lo); a tolerance below is refused. */
const rational *rational_for(rational_store *s, const power_product *f, double lo, double hi, double tolerance,
                             char *message, size_t size);
/* Approximation of 1/f on the range and with the degree of r: zeros and poles interchanged and the same error, unless one of
 * the two functions falls like 1/x. */
const rational *rational_inverse(rational_store *s, const rational *r, char *message, size_t size);

#endif
