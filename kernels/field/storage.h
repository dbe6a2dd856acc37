/* Storage of a field for kernels/field/field.c and kernels/run/convert.c alone. */
#ifndef PLAQ_STORAGE_H
#define PLAQ_STORAGE_H

#include "kernels/field/field.h"

/* A field on the host with the layout of f, its contents undefined. */
field *field_host_twin(const field *f);
/* Copies all of a field to one of the same storage, in whatever place. */
void field_copy_storage(field *y, const field *x);
/* Storage unit and lane of a site, or false when the field has not its parity. */
int field_storage_of(const field *f, const int x[4], long *unit, int *lane);
/* Pairs of reals of a field in rows order that stand behind each other, one a unit, from a row of a group on: for
 * conversions these are a field of its own. */
stored_field field_row_pairs(const field *f, int group, long row);

#endif
