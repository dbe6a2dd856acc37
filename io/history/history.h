/* The history of a run: tables that grow by rows, for plots and for proofs of equal bits.
 *
 * In the output folder are two files.
 *   history.h5       for readers (h5py, h5dump): each table a group, each column an extensible dataset,
 * /trajectories/plaquette, /measure/NAME/t, with attributes unit, description, volatile; the texts of
 *                    history_text() in /parameters, /stretches/000001, ...
 *   history.journal  for the program: every row and text as soon as it is there, each record with a CRC
 *
 * The journal is what counts. A row goes there in one write at the end of the file; what a killed run wrote of a row is
 * cut off at the next start. history_sync(), which belongs before each checkpoint, brings it to disk, at a cost that
 * does not depend on the rows before.
 *
 * history.h5 is made anew from all rows, under a temporary name, and renamed: at history_truncate_after(), with which a
 * run starts, at history_close(), and at history_sync() while the journal is short or when it has grown by a quarter
 * since. So it is whole at any instant and readable while the run goes on, though a killed run may leave it up to a
 * fifth of the rows behind the journal, until the next start. It is sealed (io/files/seal.h), and should the journal be lost
 * or damaged, the rows come from it.
 *
 * On restart history_truncate_after() drops what lies beyond the checkpoint. Then the rows of a broken run are bit by
 * bit those of an unbroken one, volatile columns (seconds) aside; history_digest() tells.
 *
 * The first column of each table is the integer `trajectory`, which never falls from row to row.
 *
 * All functions are collective and give the same result and message on all ranks; only rank 0 holds rows and touches
 * files, and only its rows and texts count. Those that return int: 0 (or what they say), or -1 with a message. */
#ifndef PLAQ_IO_HISTORY_H
#define PLAQ_IO_HISTORY_H

#include <stddef.h>
#include <stdint.h>

typedef enum { HISTORY_INT, HISTORY_REAL, HISTORY_BOOL } history_type;

/* A table of correlators has one column that is its axis, a real one, the time, say; the columns before it are labels,
 * those behind it go along it and are real. In history.h5 rows of one trajectory and equal labels are one row there
 * (io/history/fold.h): labels have one dimension, what goes along the axis has two, [row][axis], and the axis has one, or two
 * where rows differ in it. */
typedef enum { HISTORY_PLAIN, HISTORY_VOLATILE, HISTORY_AXIS, HISTORY_ALONG } history_role;

/* No tabs or line ends in the texts. HISTORY_VOLATILE: differs from run to run, as times do. */
typedef struct {
    const char *name;
    history_type type;
    const char *unit, *description;
    history_role role;
} history_column;

typedef union {
    int64_t i; /* HISTORY_INT, HISTORY_BOOL */
    double d;  /* HISTORY_REAL */
} history_value;

typedef struct history history;

/* Opens the history in a folder, or starts one, with all rows found there. NULL with a message. */
history *history_open(const char *folder, char *message, size_t size);

/* Declares a table; returns its number. `group` is a path without leading slash, "trajectories", "measure/flow". Fails
 * when the rows there have other columns. */
int history_table(history *h, const char *group, const history_column *columns, int n, char *message, size_t size);

/* Declares a table that may have other columns: it then has those of both, and what a row has no value for is NaN, zero
 * or false. Columns are still numbered as in this call. Fails when a column of that name has another type. */
int history_table_widened(history *h, const char *group, const history_column *columns, int n, char *message,
                          size_t size);

/* Adds a row, one value a column. When it fails (disk full) the row is not there and the history is as before. */
int history_append(history *h, int table, const history_value *row, char *message, size_t size);

/* Drops the rows of all tables, declared or not, with a trajectory number above this one. */
int history_truncate_after(history *h, int64_t trajectory, char *message, size_t size);

/* The trajectory number of the last row of this group's table, declared or not; -1 when there is none. */
int64_t history_last(const history *h, const char *group);
/* Drops the rows of this group's table above a trajectory number. */
int history_truncate_group(history *h, const char *group, int64_t trajectory, char *message, size_t size);

/* Texts beside the tables: "parameters", "stretches/000001"; a new one takes the place of the one before, and NULL
 * removes it. As durable as rows; when it fails (disk full) the texts are as before. */
#define HISTORY_NAME 64
int history_text(history *h, const char *name, const char *text, char *message, size_t size);
/* A copy of a text, NULL when there is none; free() it. */
char *history_get_text(const history *h, const char *name);
/* The name of text number i, in the order of strcmp(); 0 beyond the last. */
int history_texts(const history *h, int i, char name[HISTORY_NAME]);

/* Brings all rows so far to disk. */
int history_sync(history *h, char *message, size_t size);

/* Syncs both files, and frees h in any case. */
int history_close(history *h, char *message, size_t size);

int64_t history_rows(const history *h, int table);
/* A value, on all ranks. */
history_value history_get(const history *h, int table, int64_t row, int column);

/* SHA-256 of group names, column names and values of all tables that have rows, in order of group name, volatile
 * columns left out. */
void history_digest(const history *h, char hex[65]);

#endif
