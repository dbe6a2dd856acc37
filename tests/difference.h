#ifndef PLAQ_TESTS_DIFFERENCE_H
#define PLAQ_TESTS_DIFFERENCE_H

#include <math.h>
#include <stdlib.h>

#include "kernels/field/field.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

/* Largest difference of two fields' numbers. */
CHECK_UNUSED static double largest_difference(const field *x, const field *y)
{
    const int *l = x->lat->local;
    const long n = (long)l[0] * l[1] * l[2] * x->groups * x->reals;
    double *a = field_slice_buffer(x), *b = field_slice_buffer(y), largest = 0;
    for (int t = 0; t < l[3]; t++) {
        field_export(x, t, a);
        field_export(y, t, b);
        for (long i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    }
    free(a);
    free(b);
    comm_max(&largest, 1);
    return largest;
}

#endif
