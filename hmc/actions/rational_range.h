/* The range on which rational functions of an operator K have to be good: given, or measured at the start of each
 * trajectory, from the links alone.
 *
 * That the spectrum is inside is measured before anything is drawn and again before the action of the accept step. Where
 * it is not, there is no result; or, if that is wanted, the trajectory is repeated from the same links and random numbers
 * with functions on a wider range, which is forgotten after it. A range stays as it is from heat bath to accept step. A
 * measured or widened one may be another one on the way back, so that such a trajectory is reversible to the precision
 * of the approximation of its force; only where the quark bounds its spectrum from below, that end is always the same. */
#ifndef PLAQ_RATIONAL_RANGE_H
#define PLAQ_RATIONAL_RANGE_H

#include "hmc/actions/action.h"

typedef struct {
    linop *op;        /* K; borrowed */
    const char *key;  /* key of the range in the input */
    double bound;     /* lower bound of the spectrum; 0: it has to be measured */
    double given[2];  /* the range of the input; 0: it is measured */
    int widen;        /* see above; else such a trajectory fails */
    int recorded;     /* the spectrum is that which the action records */
    double low, high; /* the range in use */
    double found[2];  /* the spectrum that was not inside, else 0 */
    int widened;      /* low, high hold for all attempts at this trajectory that are to come */
} rational_range;

/* Sets low and high at the start of an attempt at a trajectory. Nonzero, with the story in the action's `trouble`, if the
 * spectrum is not found or not inside a range that is fixed. Collective. */
int rational_range_begin(rational_range *r, action *a);
/* Nonzero, likewise, when the spectrum is not inside. Collective. */
int rational_range_check(rational_range *r, action *a);
/* After that: whether the trajectory may be begun again, on a wider range. */
int rational_range_widen(rational_range *r, const action *a);
/* The range on which functions have to be good for a spectrum that lies in [low, high]: with room on both sides for what
 * moves in a trajectory, rounded outwards to powers of 2^(1/4). */
void rational_range_margin(double *low, double *high);
/* The range before the spectrum is measured. */
void rational_range_planned(const rational_range *r, double *low, double *high);

#endif
