/* Correlators in a file of measurements (io/history/table_hdf5.h) or in the history of a run: all columns along times t in units of
 * the lattice spacing, or along another axis. Local. */
#ifndef PLAQ_IO_CORRELATORS_HDF5_H
#define PLAQ_IO_CORRELATORS_HDF5_H

#include <stddef.h>

/* Correlator: a column of a table, of rows with the same labels. */
typedef struct {
    char table[96], column[64]; /* NAME of /measure/NAME, and the column */
    char labels[256];           /* "nx = 0 ny = 0 ...", or empty */
    int T;
    int periodic;   /* times are those of the lattice, from 0 on; else they go from `first` to the last with a value */
    int first;      /* first time: t = first, first + 1, ..., first + T - 1 */
    long n;         /* configurations */
    double *values; /* [configuration][t] */
} correlator;

typedef struct {
    correlator *all;
    int n;
} correlators;

/* Reads those of the table NAME, or of every table (null), along times or, unless that is null, along the axis of this name. 0, or -1 with a message: the file cannot be read, is damaged or of
 * another kind, or has no such table, of which it names those that are there. Free with correlators_free() in any case. */
int correlators_read(correlators *c, const char *path, const char *table, const char *axis, char *message, size_t size);
void correlators_free(correlators *c);

#endif
