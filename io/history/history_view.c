#include "io/history/history_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/history/history_tables.h"
#include "io/links/links_format.h"

struct history_view {
    table_set set;
    char trouble[1024];
};

static int is_folder(const char *folder, char *message, size_t size)
{
    struct stat st;
    const int missing = stat(folder, &st) != 0;
    if (!missing && S_ISDIR(st.st_mode)) return 1;
    file_fail(message, size, "%s: %s; give the output folder of a run", folder,
              missing ? strerror(errno) : "not a folder");
    return 0;
}

/* Rows of history.h5, where it has more than the journal. */
static int look_at_file(history_view *v, const char *path, char *message, size_t size)
{
    table_set other = {0};
    if (access(path, F_OK) != 0 && errno == ENOENT) return 0;
    if (history_file_read(path, &other, message, size)) return -1;
    if (tables_total(&other) > tables_total(&v->set)) {
        tables_free(&v->set);
        v->set = other;
    } else {
        tables_free(&other);
    }
    return 0;
}

static int load(history_view *v, const char *folder, char *message, size_t size)
{
    char journal[ATOMIC_PATH], file[ATOMIC_PATH];
    journal_found found;
    if (strlen(folder) + 32 > ATOMIC_PATH) {
        file_fail(message, size, "folder name longer than %d", ATOMIC_PATH - 32);
        return -1;
    }
    snprintf(journal, sizeof journal, "%.990s/history.journal", folder);
    snprintf(file, sizeof file, "%.990s/history.h5", folder);
    if (!is_folder(folder, message, size) || journal_read(journal, &v->set, &found, message, size)) return -1;
    const int doubtful = found.missing || found.lost || found.good == 0;
    if (doubtful)
        file_fail(v->trouble, sizeof v->trouble,
                  found.missing ? "history.journal is missing"
                                : "history.journal is "
                                  "damaged from byte %llu on",
                  (unsigned long long)found.good);
    /* Rows of a damaged file are not missed where the journal has rows. */
    if (doubtful && look_at_file(v, file, message, size)) {
        if (tables_total(&v->set) == 0) return -1;
        const size_t used = strlen(v->trouble);
        snprintf(v->trouble + used, sizeof v->trouble - used, ", and %s", message);
    }
    if (v->set.n > 0) return 0;
    file_fail(message, size, "%s: no run has left a history here (history.journal, history.h5)", folder);
    return -1;
}

history_view *history_view_open(const char *folder, char *message, size_t size)
{
    history_view *v = calloc(1, sizeof *v);
    REQUIRE_MEMORY(v, "out of memory: %zu bytes", sizeof *v);
    if (!load(v, folder, message, size)) return v;
    history_view_close(v);
    return NULL;
}

void history_view_close(history_view *v)
{
    if (!v) return;
    tables_free(&v->set);
    free(v);
}

const char *history_view_trouble(const history_view *v)
{
    return v->trouble;
}

const char *history_view_group(const history_view *v, int i)
{
    return i < v->set.n ? v->set.table[i]->group : NULL;
}

int history_view_table(const history_view *v, const char *group)
{
    for (int i = 0; i < v->set.n; i++)
        if (!strcmp(v->set.table[i]->group, group)) return i;
    return -1;
}

int64_t history_view_rows(const history_view *v, int table)
{
    return table < 0 ? 0 : v->set.table[table]->rows;
}

const char *history_view_column_name(const history_view *v, int table, int column, const char **unit)
{
    if (table < 0 || column >= v->set.table[table]->ncol) return NULL;
    if (unit) *unit = v->set.table[table]->column[column].unit;
    return v->set.table[table]->column[column].name;
}

int history_view_column(const history_view *v, int table, const char *name)
{
    for (int c = 0; table >= 0 && c < v->set.table[table]->ncol; c++)
        if (!strcmp(v->set.table[table]->column[c].name, name)) return c;
    return -1;
}

double history_view_value(const history_view *v, int table, int64_t row, int column)
{
    REQUIRE(table >= 0 && table < v->set.n, "table %d of %d", table, v->set.n);
    const history_rows_of *t = v->set.table[table];
    REQUIRE(row >= 0 && row < t->rows && column >= 0 && column < t->ncol, "row %lld of %lld, column %d of %d",
            (long long)row, (long long)t->rows, column, t->ncol);
    const history_value x = t->value[row * t->ncol + column];
    return t->column[column].type == HISTORY_REAL ? x.d : (double)x.i;
}

const char *history_view_text(const history_view *v, const char *name)
{
    return tables_text(&v->set, name);
}

const char *history_view_text_name(const history_view *v, int i)
{
    return i < v->set.notes ? v->set.note[i].name : NULL;
}
