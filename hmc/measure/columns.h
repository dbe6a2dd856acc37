/* The columns of a propagator, as observables and sequential sources find them. */
#ifndef PLAQ_COLUMNS_H
#define PLAQ_COLUMNS_H

#include "hmc/measure/measure.h"

typedef struct {
    const named_propagator *of;
    int place[4];         /* origin of times and momenta, from its source */
    const field *columns; /* physical field, double, with a right-hand side for each component of the source */
} propagator;

#endif
