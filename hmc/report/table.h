/* Tables of reports: arrays of numbers, cells of text, points of charts. Local. */
#ifndef PLAQ_TABLE_H
#define PLAQ_TABLE_H

#include <stddef.h>

#include "kernels/base/param.h"

/* n zeros, to be freed. */
double *table_numbers(size_t n);
/* A column of 16 characters with the number, by a format such as "%.8f"; "-" where it is not finite. */
void table_cell(param_text *out, double x, const char *format);
/* Points with a finite value out of T, at x = first + t, and their errors, 0 where these are not finite: how many. */
long table_points(int T, int first, const double *value, const double *error, double *x, double *y, double *dy);

#endif
