/* Folding of tables: rows that differ only along an axis, times of a correlator, say, become one row with arrays.
 *
 * A table has columns of eight bytes each, [row][column]. The columns before its axis are labels, the axis is real, and
 * the columns behind it are values along it. Consecutive rows of equal labels (bit for bit), between which the axis
 * rises, are one folded row. Rows may differ in length; what a shorter one lacks is NaN. Local; for io/ only. */
#ifndef PLAQ_IO_FOLD_H
#define PLAQ_IO_FOLD_H

#include <stdint.h>

typedef struct {
    const unsigned char *values; /* not owned */
    long columns, axis;
    long rows, width, longest; /* folded rows, the length of the longest, and its number */
    long *first;               /* first row of each folded row, and the end */
    int one_axis;              /* every row has the beginning of the longest one's axis */
} fold;

/* nrows rows of `columns` values, of which number `axis` is the axis. Free with fold_free(). */
fold fold_rows(const void *values, long nrows, long columns, long axis);
void fold_free(fold *f);

/* A label of each folded row: `rows` values. */
void fold_label(const fold *f, long column, void *out);
/* A column along the axis, [rows][width]; fold_axis(): the axis of the longest row, [width]. */
void fold_along(const fold *f, long column, double *out);
void fold_axis(const fold *f, double *out);

#endif
