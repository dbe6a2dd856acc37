/* A read-only view of the history in a folder, also of a run that goes on: the rows and texts of its journal, or those
 * of history.h5 where the journal is missing or damaged and the file has more. Nothing in the folder is changed, and
 * no lock is taken; a row that is being written is not seen yet. Local: any rank may look, alone. */
#ifndef PLAQ_IO_HISTORY_VIEW_H
#define PLAQ_IO_HISTORY_VIEW_H

#include <stddef.h>
#include <stdint.h>

typedef struct history_view history_view;

/* NULL with a message when the folder cannot be read, or holds no history. Free with history_view_close(). */
history_view *history_view_open(const char *folder, char *message, size_t size);
void history_view_close(history_view *v);

/* Missing or damaged files of the two, as a clause; "" when the journal is whole. A row that is being written
 * counts as damaged. */
const char *history_view_trouble(const history_view *v);

/* The group of table number i, "trajectories", "measure/flow"; NULL beyond the last. */
const char *history_view_group(const history_view *v, int i);
/* The number of a group's table, -1 when there is none; its rows, 0 of table -1. */
int history_view_table(const history_view *v, const char *group);
int64_t history_view_rows(const history_view *v, int table);
/* The name of a column, and its unit unless that is NULL; NULL beyond the last. */
const char *history_view_column_name(const history_view *v, int table, int column, const char **unit);
/* The number of a column, -1 when there is none. */
int history_view_column(const history_view *v, int table, const char *name);
/* A value, integers and truth values as reals. */
double history_view_value(const history_view *v, int table, int64_t row, int column);

/* The text of a name, NULL when there is none; the name of text number i, NULL beyond the last. */
const char *history_view_text(const history_view *v, const char *name);
const char *history_view_text_name(const history_view *v, int i);

#endif
