/* Reversibility of the integration: a trajectory forwards, the momenta turned, and the same back should lead to the
 * start. What is left is rounding, and the errors of solves whose first guesses and set-ups differ on the way back
 * (openQCD's measure; C. Urbach, K. Jansen, A. Shindler and U. Wenger, hep-lat/0506011, section 5). */
#ifndef PLAQ_REVERSAL_H
#define PLAQ_REVERSAL_H

#include "hmc/integrate/trajectory.h"

typedef struct {
    int status;            /* EVOLVE_DONE, or why there is no result */
    const action *failed;  /* action whose `trouble` says so, or null */
    double links, momenta; /* root mean square differences per real number */
    double energy, dh;     /* H at the start, and what it has changed by */
} reversal;

/* Measures reversibility with momenta and pseudofermions drawn for `key`. Links and records of forces are as before, so
 * that a run that measures it has the same bits. Collective. */
reversal reversal_measure(evolution *e, random_key key, double length);

#endif
