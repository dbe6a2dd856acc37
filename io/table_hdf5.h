/* Tables of measurements in an HDF5 file, for plaq measure --output.
 *
 * A table is a group, /flow; each of its columns is an extensible dataset of one dimension in it, with attributes unit
 * and description: /flow/t, /flow/e_clover. Two columns of text come first, config (the file measured) and digest (of
 * its links). With h5py: f["flow/t"][:].
 *
 * The file is changed as a copy under a temporary name that takes its place when it is complete (io/atomic.h), so it is
 * whole at any instant. Collective; rank 0 alone touches files, and all ranks get the same result and message. */
#ifndef PLAQ_IO_TABLE_HDF5_H
#define PLAQ_IO_TABLE_HDF5_H

#include <stddef.h>

#define TABLE_CONFIG_SIZE 256
#define TABLE_DIGEST_SIZE 65

typedef struct {
    const char *name, *unit, *help;
} table_column;

/* Rows for one table; what has no value is NaN. */
typedef struct {
    const char *group;
    const table_column *columns;
    int ncolumns;
    long nrows;
    const double *values; /* [row][column] */
} table_rows;

/* Appends rows to tables of the file, which are made when they are not there, as is the file. 0, or -1 with a message;
 * then the file is as before. Fails on a file that is not HDF5, and on a table that has other columns. */
int table_append(const char *path, const char *config, const char *digest, const table_rows *rows, int n, char *message,
                 size_t size);

#endif
