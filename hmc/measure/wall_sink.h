/* Propagators that end on a whole time slice, for configurations in a smooth gauge: the sum over the slice, put on one of its sites
 * with zeros on the others, so that observables at momentum 0 contract it as any other. Collective; the bits are the same on any
 * grid. */
#ifndef PLAQ_WALL_SINK_H
#define PLAQ_WALL_SINK_H

#include "kernels/field/field.h"

/* Columns in place, of both parities in double precision; the site is the one at x0 in space. */
void wall_sink(field *columns, const int x0[3]);

#endif
