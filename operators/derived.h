/* Operators made of one other operator: how they are made again in another precision or place, inside blocks, and on
 * other numbers of slices. */
#ifndef PLAQ_DERIVED_H
#define PLAQ_DERIVED_H

#include "operators/linop.h"

/* The first member of the operator's struct. */
typedef struct derived {
    linop base;
    linop *inner; /* borrowed */
    linop *others[PREC_COUNT][2];
    linop *(*again)(const struct derived *d, linop *inner); /* makes the same of another one */
} derived;

/* The shape of `inner`, without what belongs to it. */
void derived_open(derived *d, const linop_table *table, linop *inner, linop *(*again)(const derived *d, linop *inner));

/* Entries of the table. */
linop *derived_at(linop *op, precision prec, place where);
linop *derived_slices(linop *op, int Ls, char *message, size_t bytes);
linop *derived_local(linop *op, const block_shape *s, char *message, size_t bytes);
void derived_refresh(linop *op);
void derived_destroy(linop *op); /* struct on the heap that owns nothing more */

#endif
