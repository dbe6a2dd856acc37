/* Gauge fixing by over-relaxation: the gauge transformation that makes the functional of kernels/ops/fixing.h largest.
 *
 * Its gradient vanishes in the gauge: sum_mu (A_mu(x) - A_mu(x-mu)) = 0, A the antihermitian traceless part of a link, over
 * three directions in Coulomb gauge and four in Landau gauge. Coulomb gauge leaves one rotation a time slice free, so the
 * trace of links in time depends on the iteration; the functional does not. Results are the same bits on any process grid. */
#ifndef PLAQ_GAUGE_FIXING_H
#define PLAQ_GAUGE_FIXING_H

#include "kernels/ops/fixing.h"

typedef struct {
    int directions;         /* 3: Coulomb gauge, 4: Landau gauge */
    double over_relaxation; /* factor in [1, 2) */
    double tolerance;       /* largest theta */
    int max_iterations;     /* each over even and odd sites */
    int interval;           /* iterations from one look at theta to the next */
} gauge_fixing_settings;

/* Called with functional and gradient after so many iterations; context is the caller's. */
typedef void gauge_fixing_tell(void *context, int iteration, const gauge_gradient *now);

/* Iterates on g, a FIELD_COLOUR_MATRIX that holds the first transformation, until theta of the links after g is at most
 * the tolerance; looks at theta before the first iteration, after every `interval` and after the last. tell may be null.
 * Returns 0, or 1 where max_iterations did not suffice. Collective. */
int gauge_fixing(field *g, const field *links, const gauge_fixing_settings *s, gauge_fixing_tell *tell, void *context);

#endif
