#include "io/history/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"

static const unsigned char *place_of(const fold *f, long row, long column)
{
    return f->values + 8 * (row * f->columns + column);
}

static double real_at(const fold *f, long row, long column)
{
    double x;
    memcpy(&x, place_of(f, row, column), sizeof x);
    return x;
}

/* True if a row continues the folded row before it: equal labels, and the axis rises. */
static int goes_on(const fold *f, long row)
{
    return !memcmp(place_of(f, row, 0), place_of(f, row - 1, 0), 8 * (size_t)f->axis) &&
           real_at(f, row, f->axis) > real_at(f, row - 1, f->axis);
}

static int has_one_axis(const fold *f)
{
    const long longest = f->rows ? f->first[f->longest] : 0;
    for (long r = 0; r < f->rows; r++)
        for (long i = f->first[r]; i < f->first[r + 1]; i++)
            if (memcmp(place_of(f, i, f->axis), place_of(f, longest + i - f->first[r], f->axis), 8)) return 0;
    return 1;
}

fold fold_rows(const void *values, long nrows, long columns, long axis)
{
    fold f = {.values = values, .columns = columns, .axis = axis};
    f.first = malloc(((size_t)nrows + 1) * sizeof *f.first);
    REQUIRE_MEMORY(f.first, "out of memory for %ld rows", nrows);
    for (long i = 0; i < nrows; i++)
        if (i == 0 || !goes_on(&f, i)) f.first[f.rows++] = i;
    f.first[f.rows] = nrows;
    for (long r = 0; r < f.rows; r++)
        if (f.first[r + 1] - f.first[r] > f.width) {
            f.width = f.first[r + 1] - f.first[r];
            f.longest = r;
        }
    f.one_axis = has_one_axis(&f);
    return f;
}

void fold_free(fold *f)
{
    free(f->first);
    *f = (fold){0};
}

void fold_label(const fold *f, long column, void *out)
{
    for (long r = 0; r < f->rows; r++) memcpy((unsigned char *)out + 8 * r, place_of(f, f->first[r], column), 8);
}

void fold_along(const fold *f, long column, double *out)
{
    for (long r = 0; r < f->rows; r++)
        for (long k = 0; k < f->width; k++)
            out[r * f->width + k] = f->first[r] + k < f->first[r + 1] ? real_at(f, f->first[r] + k, column) : NAN;
}

void fold_axis(const fold *f, double *out)
{
    for (long k = 0; k < f->width; k++) out[k] = real_at(f, f->first[f->longest] + k, f->axis);
}
