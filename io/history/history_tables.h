/* The inside of a history: tables in memory, the journal, and the HDF5 file. Rank 0 only. */
#ifndef PLAQ_IO_HISTORY_TABLES_H
#define PLAQ_IO_HISTORY_TABLES_H

#include "io/history/history.h"
#include "kernels/base/param.h"

#define HISTORY_TABLES 64
#define HISTORY_COLUMNS 128

typedef struct {
    char name[64], unit[48], description[200];
    history_type type;
    history_role role;
} history_own_column;

typedef struct {
    char group[128];
    int ncol;
    history_own_column column[HISTORY_COLUMNS];
    history_value *value; /* [row][column] */
    int64_t rows, capacity;
    /* The columns that the program gives, in its order, by their number here; the others get no value. */
    int given, place[HISTORY_COLUMNS];
} history_rows_of;

typedef struct {
    char name[HISTORY_NAME];
    char *text;
} table_note;

/* Tables, and texts in order of their names. */
typedef struct {
    int n;
    history_rows_of *table[HISTORY_TABLES];
    int notes, note_capacity;
    table_note *note;
} table_set;

/* A new table of the set, or NULL when there are too many. */
history_rows_of *tables_add(table_set *set);
history_rows_of *tables_find(const table_set *set, const char *group);
void tables_free(table_set *set);
int64_t tables_total(const table_set *set);
/* The text of a name, or NULL. */
const char *tables_text(const table_set *set, const char *name);
/* Takes a copy of a text in place of the one of that name; NULL removes that one. */
void tables_set_text(table_set *set, const char *name, const char *text);
/* The column that is the axis; -1: none. */
int table_axis(const history_rows_of *t);
/* Room for `rows` rows. */
void table_reserve(history_rows_of *t, int64_t rows);

/* The description of a table as text, the group in its first line and a column a line; and back, 0 or -1. */
void table_describe(param_text *text, const history_rows_of *t);
int table_parse(history_rows_of *t, const char *text);

/* ---- history.journal ---- */

typedef struct {
    uint64_t good, lost; /* bytes of whole records, and what follows them */
    int missing;         /* no journal is there, or no regular file */
} journal_found;

/* Reads all whole records into the empty set; -1 with a message when the journal is there and cannot be read. */
int journal_read(const char *path, table_set *set, journal_found *found, char *message, size_t size);
/* The whole journal anew, under a temporary name; -1 with a message. */
int journal_rewrite(const char *path, const table_set *set, char *message, size_t size);
/* Appends one record at `end` and moves it. When it fails the file ends at `end` as before. */
int journal_add_table(int fd, uint64_t *end, const table_set *set, int table);
int journal_add_row(int fd, uint64_t *end, const table_set *set, int table, const history_value *row);
/* The record of a text, or with NULL of its removal. */
int journal_add_text(int fd, uint64_t *end, const char *name, const char *text);

/* ---- history.h5 ---- */

int history_file_write(const char *path, const table_set *set, char *message, size_t size);
/* Reads a whole file into the empty set; 0, or bits as of links_read() with a message. */
int history_file_read(const char *path, table_set *set, char *message, size_t size);

#endif
