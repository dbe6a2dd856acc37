/* Tables of measurements in an HDF5 file, for plaq measure --output and plaq solve --output.
 *
 * A table is a group, /measure/flow, laid out as in the history of a run (io/history/history.h); each of its columns is an
 * extensible dataset, with attributes unit and description: /measure/flow/t, /measure/flow/e_clover. Two columns of
 * integers come first: config, the row of /configs, from 0, and trajectory, the number that the configuration bears, or
 * -1. A table with an axis has one row for each set of labels, the columns before the axis; what goes along the axis has
 * two dimensions, [row][axis], and the axis one. A row that is shorter than the longest ends in NaN. With h5py:
 * f["measure/flow/e_clover"][row, :] belongs to f["measure/flow/t"][:]. The attribute `identity` of a group holds all
 * parameters that decide what its numbers are, and a table takes rows of no others.
 *
 * The table /configs has one row for each configuration and command: file, digest (of its links), the extents size_x,
 * size_y, size_z, size_t, trajectory, plaquette, link_trace, program (version and source digest), and input, the number
 * N of the text /inputs/N, which holds all parameters of that command.
 *
 * Rows of links that a table has already are not added again. The file is sealed (io/files/seal.h). It is changed under a
 * lock, as a copy that takes its place when it is complete (io/files/atomic.h): it is whole at any instant, and several
 * programs may add to it. Collective; rank 0 alone touches files, and all ranks get the same result and message. */
#ifndef PLAQ_IO_TABLE_HDF5_H
#define PLAQ_IO_TABLE_HDF5_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/param.h"

#define TABLE_CONFIG_SIZE 256
#define TABLE_DIGEST_SIZE 65
#define TABLE_PROGRAM_SIZE 128

typedef struct {
    const char *name, *unit, *help;
} table_column;

/* Names of the numbers 0, 1, ... in a column, null after the last, "" of numbers that do not occur: its attribute `names`, by which h5py
 * reads f["measure/m/source"].attrs["names"][15]. */
typedef struct {
    const char *column;
    const char *const *names;
} table_names;

/* Rows for one table, whose group is a path without leading slash; what has no value is NaN. */
typedef struct {
    const char *group;
    const table_column *columns;
    int ncolumns;
    const char *axis;         /* the column along which those behind it go, in rising order; NULL: none */
    const table_names *names; /* names of columns, a null one after the last; NULL: none */
    long nrows;
    const double *values; /* [row][column] */
    const char *identity; /* lines "key = value"; NULL: none */
} table_rows;

/* The file, and what writes there: lines "key = value" of all parameters. differ() appends each difference of two
 * identities and returns how many there are; NULL: all of their lines count, as params_compare() does without sections. */
typedef struct {
    const char *path, *program, *input;
    int (*differ)(const char *before, const char *now, param_text *differences);
} table_file;

/* A configuration: name of its file, digest and averages of its links, extents, its trajectory number or -1. Digest and
 * extents tell configurations apart: a digest is that of the links in their order, which lattices of the same volume
 * may share. */
typedef struct {
    const char *name, *digest;
    int size[4];
    int64_t trajectory;
    double plaquette, link_trace;
} table_config;

/* Checks that the rows could be added, of which only group, columns and identity count: there[i] is 1 when table i has
 * rows of the links of that digest and those extents (the rest of `config` does not count). A file that is not there is
 * an empty one. 0, or -1 with a message: the file is no file of tables (it says what it is), is of another layout, is
 * damaged or cannot be read or written, or a table has other columns or another identity (each difference is named). */
int table_look(const table_file *f, const table_config *config, const table_rows *rows, int n, int *there,
               char *message, size_t size);

/* Adds the rows of one configuration to their tables, and a row to /configs if any were new. 0, or -1 with a message as
 * of table_look(); then the file is as before. */
int table_append(const table_file *f, const table_config *config, const table_rows *rows, int n, char *message,
                 size_t size);

#endif
