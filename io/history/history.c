#include "io/history/history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/files/checksum.h"
#include "io/history/history_tables.h"
#include "io/links/links_format.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

struct history {
    char file_path[ATOMIC_PATH], journal_path[ATOMIC_PATH];
    table_set set; /* rank 0 alone, like what follows */
    int fd;
    uint64_t end; /* end of the journal's good records */
    /* The journal's end when history.h5 was last made in this session, 0 before. */
    uint64_t folded;
};

/* Making history.h5 takes time in proportion to all rows, so a long history is made anew only when its journal has
 * grown by a quarter: all makings together write some five times the final file, whatever the number of checkpoints.
 * Below this size it costs next to nothing. */
#define SHORT_JOURNAL (1 << 18)
#define GROWN(end, folded) ((end) - (folded) >= (folded) / 4)

/* ---- tables in memory ---- */

history_rows_of *tables_add(table_set *set)
{
    if (set->n == HISTORY_TABLES) return NULL;
    history_rows_of *t = calloc(1, sizeof *t);
    REQUIRE_MEMORY(t, "out of memory: %zu bytes", sizeof *t);
    set->table[set->n++] = t;
    return t;
}

history_rows_of *tables_find(const table_set *set, const char *group)
{
    for (int i = 0; i < set->n; i++)
        if (!strcmp(set->table[i]->group, group)) return set->table[i];
    return NULL;
}

void tables_free(table_set *set)
{
    for (int i = 0; i < set->n; i++) {
        free(set->table[i]->value);
        free(set->table[i]);
    }
    for (int i = 0; i < set->notes; i++) free(set->note[i].text);
    free(set->note);
    *set = (table_set){0};
}

int64_t tables_total(const table_set *set)
{
    int64_t n = 0;
    for (int i = 0; i < set->n; i++) n += set->table[i]->rows;
    return n;
}

int table_axis(const history_rows_of *t)
{
    for (int c = 0; c < t->ncol; c++)
        if (t->column[c].role == HISTORY_AXIS) return c;
    return -1;
}

void table_reserve(history_rows_of *t, int64_t rows)
{
    if (rows <= t->capacity) return;
    t->capacity = rows > 2 * t->capacity ? rows : 2 * t->capacity;
    t->value = realloc(t->value, (size_t)t->capacity * (size_t)t->ncol * sizeof *t->value);
    REQUIRE_MEMORY(t->value, "out of memory: %lld rows of %d columns", (long long)t->capacity, t->ncol);
}

/* The first text whose name is not before this one. */
static int text_place(const table_set *set, const char *name)
{
    int i = 0;
    while (i < set->notes && strcmp(set->note[i].name, name) < 0) i++;
    return i;
}

const char *tables_text(const table_set *set, const char *name)
{
    const int i = text_place(set, name);
    return i < set->notes && !strcmp(set->note[i].name, name) ? set->note[i].text : NULL;
}

static void remove_text(table_set *set, int i)
{
    free(set->note[i].text);
    memmove(set->note + i, set->note + i + 1, (size_t)(set->notes - i - 1) * sizeof *set->note);
    set->notes--;
}

void tables_set_text(table_set *set, const char *name, const char *text)
{
    const int i = text_place(set, name);
    if (tables_text(set, name)) remove_text(set, i);
    if (!text) return;
    if (set->notes == set->note_capacity) {
        set->note_capacity = 2 * set->note_capacity + 16;
        set->note = realloc(set->note, (size_t)set->note_capacity * sizeof *set->note);
        REQUIRE_MEMORY(set->note, "out of memory: %d texts", set->note_capacity);
    }
    memmove(set->note + i + 1, set->note + i, (size_t)(set->notes - i) * sizeof *set->note);
    snprintf(set->note[i].name, sizeof set->note[i].name, "%s", name);
    set->note[i].text = strdup(text);
    REQUIRE_MEMORY(set->note[i].text, "out of memory: %zu bytes", strlen(text));
    set->notes++;
}

static const char *const type_names[] = {"int", "real", "bool"};
static const char *const role_names[] = {"", "volatile", "axis", "along"};

/* The number of a name in a list, or -1. */
static int number_of(const char *const *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return i;
    return -1;
}

void table_describe(param_text *text, const history_rows_of *t)
{
    param_text_add(text, "%s\n", t->group);
    for (int c = 0; c < t->ncol; c++) {
        const history_own_column *k = &t->column[c];
        param_text_add(text, "%s\t%s\t%s\t%s\t%s\n", k->name, type_names[k->type], role_names[k->role], k->unit,
                       k->description);
    }
}

/* Copies up to the separator and returns what follows it; NULL when it is missing or the copy too long. */
static const char *take_part(const char *text, char separator, char *copy, size_t size)
{
    const char *end = text ? strchr(text, separator) : NULL;
    if (!end || (size_t)(end - text) >= size) return NULL;
    memcpy(copy, text, (size_t)(end - text));
    copy[end - text] = 0;
    return end + 1;
}

int table_parse(history_rows_of *t, const char *text)
{
    char type[8], role[16];
    t->ncol = 0;
    for (text = take_part(text, '\n', t->group, sizeof t->group); text && *text; t->ncol++) {
        if (t->ncol == HISTORY_COLUMNS) return -1;
        history_own_column *k = &t->column[t->ncol];
        text = take_part(text, '\t', k->name, sizeof k->name);
        text = take_part(text, '\t', type, sizeof type);
        text = take_part(text, '\t', role, sizeof role);
        text = take_part(text, '\t', k->unit, sizeof k->unit);
        text = take_part(text, '\n', k->description, sizeof k->description);
        if (!text) return -1;
        const int t_number = number_of(type_names, 3, type), r_number = number_of(role_names, 4, role);
        if (t_number < 0 || r_number < 0) return -1;
        k->type = (history_type)t_number;
        k->role = (history_role)r_number;
    }
    return text && t->ncol > 0 ? 0 : -1;
}

/* ---- opening ---- */

/* Opens the journal for appending, what is torn at its end cut off. */
static int open_journal(history *h, char *message, size_t size)
{
    h->fd = open(h->journal_path, O_RDWR | O_CLOEXEC);
    struct stat st;
    int bad = h->fd < 0 || fstat(h->fd, &st) != 0 || ftruncate(h->fd, (off_t)h->end) != 0;
    if (bad) file_fail(message, size, "%s: %s", h->journal_path, strerror(errno));
    return bad ? -1 : 0;
}

static int rewrite_journal(history *h, char *message, size_t size)
{
    struct stat st;
    if (h->fd >= 0) close(h->fd);
    h->fd = -1;
    const int bad = journal_rewrite(h->journal_path, &h->set, message, size);
    h->folded = 0;
    /* Also after a failure: the older journal is still there, and rows may be appended to it. */
    if (!bad && stat(h->journal_path, &st) == 0) h->end = (uint64_t)st.st_size;
    char ignored[256];
    if (bad && access(h->journal_path, F_OK) != 0) return -1;
    return open_journal(h, bad ? ignored : message, bad ? sizeof ignored : size) || bad ? -1 : 0;
}

/* Takes rows of history.h5, if it has more than the journal: 1, else 0; -1 with a message when it cannot be read. */
static int rescue(history *h, char *message, size_t size)
{
    char aside[ATOMIC_PATH + 16];
    table_set other = {0};
    if (access(h->file_path, F_OK) != 0 && errno == ENOENT) return 0;
    const int bits = history_file_read(h->file_path, &other, message, size);
    if (bits & LINKS_NO_ACCESS && !(bits & LINKS_NO_REGULAR)) return -1;
    if (bits) {
        snprintf(aside, sizeof aside, "%s.damaged", h->file_path);
        if (rename(h->file_path, aside) == 0) log_warn("%s; it is now %s", message, aside);
        return 0;
    }
    if (tables_total(&other) <= tables_total(&h->set)) {
        tables_free(&other);
        return 0;
    }
    log_warn("%s is missing or damaged: its rows are taken from %s", h->journal_path, h->file_path);
    tables_free(&h->set);
    h->set = other;
    return 1;
}

static int load(history *h, char *message, size_t size)
{
    journal_found j;
    if (journal_read(h->journal_path, &h->set, &j, message, size)) return -1;
    h->end = j.good;
    const int rescued = j.missing || j.lost || j.good == 0 ? rescue(h, message, size) : 0;
    if (rescued < 0) return -1;
    if (j.lost && !rescued)
        log_info("%s: %llu bytes at its end are dropped: a row cut off in writing, or damage", h->journal_path,
                 (unsigned long long)j.lost);
    return h->end == 0 || rescued ? rewrite_journal(h, message, size) : open_journal(h, message, size);
}

static void free_all(history *h)
{
    if (h->fd >= 0) close(h->fd);
    tables_free(&h->set);
    free(h);
}

history *history_open(const char *folder, char *message, size_t size)
{
    history *h = calloc(1, sizeof *h);
    REQUIRE_MEMORY(h, "out of memory: %zu bytes", sizeof *h);
    h->fd = -1;
    int bad = strlen(folder) + 32 > ATOMIC_PATH;
    if (bad) file_fail(message, size, "folder name longer than %d", ATOMIC_PATH - 32);
    snprintf(h->file_path, sizeof h->file_path, "%.990s/history.h5", folder);
    snprintf(h->journal_path, sizeof h->journal_path, "%.990s/history.journal", folder);
    if (!bad && comm_rank() == 0) bad = load(h, message, size);
    if (!comm_any_bad(bad, message, size)) return h;
    free_all(h);
    return NULL;
}

/* ---- tables ---- */

static void set_columns(history_rows_of *t, const char *group, const history_column *columns, int n)
{
    REQUIRE(n > 0 && n <= HISTORY_COLUMNS, "table %s has %d columns, 1 to %d are allowed", group, n, HISTORY_COLUMNS);
    REQUIRE(!strcmp(columns[0].name, "trajectory") && columns[0].type == HISTORY_INT,
            "the first column of table %s is %s, not the integer trajectory", group, columns[0].name);
    REQUIRE(strlen(group) < sizeof t->group, "the name of group %s is too long", group);
    strcpy(t->group, group);
    t->ncol = t->given = n;
    for (int c = 0; c < n; c++) {
        history_own_column *k = &t->column[c];
        t->place[c] = c;
        const char *unit = columns[c].unit ? columns[c].unit : "", *description = columns[c].description;
        if (!description) description = "";
        REQUIRE(strlen(columns[c].name) < sizeof k->name && strlen(unit) < sizeof k->unit &&
                    strlen(description) < sizeof k->description && !strpbrk(columns[c].name, "\t\n/") &&
                    !strpbrk(unit, "\t\n") && !strpbrk(description, "\t\n"),
                "column %s of table %s: a text is too long or has tabs, slashes or line ends", columns[c].name, group);
        REQUIRE(columns[c].role < HISTORY_AXIS || columns[c].type == HISTORY_REAL,
                "column %s of table %s is an axis or along one, and not real", columns[c].name, group);
        strcpy(k->name, columns[c].name);
        strcpy(k->unit, unit);
        strcpy(k->description, description);
        k->type = columns[c].type;
        k->role = columns[c].role;
    }
}

static int same_columns(const history_rows_of *a, const history_rows_of *b, char *message, size_t size)
{
    const int n = a->ncol < b->ncol ? a->ncol : b->ncol;
    int c = 0;
    while (c < n && !strcmp(a->column[c].name, b->column[c].name) && a->column[c].type == b->column[c].type &&
           (a->column[c].role == HISTORY_VOLATILE) == (b->column[c].role == HISTORY_VOLATILE))
        c++;
    if (c == n && a->ncol == b->ncol) return 1;
    file_fail(message, size,
              "the history has rows in /%s whose column %d is '%s', now it is '%s'; move history.h5 and "
              "history.journal away to start new tables",
              a->group, c + 1, c < a->ncol ? a->column[c].name : "none", c < b->ncol ? b->column[c].name : "none");
    return 0;
}

static history_value no_value(history_type type)
{
    history_value v = {0};
    if (type == HISTORY_REAL) v.d = NAN;
    return v;
}

/* Adds to t, which has rows, the columns of `fresh` that it lacks, and sets where those of `fresh` are. */
static int widen(history_rows_of *t, const history_rows_of *fresh, char *message, size_t size)
{
    const int before = t->ncol;
    t->given = fresh->ncol;
    for (int c = 0; c < fresh->ncol; c++) {
        int at = 0;
        while (at < t->ncol && strcmp(t->column[at].name, fresh->column[c].name)) at++;
        if (at == HISTORY_COLUMNS || (at < before && t->column[at].type != fresh->column[c].type)) {
            file_fail(message, size,
                      "the history has rows in /%s that leave no place for the column '%s' (another type, or more "
                      "than %d columns); move history.h5 and history.journal away to start new tables",
                      t->group, fresh->column[c].name, HISTORY_COLUMNS);
            return -1;
        }
        t->column[at] = fresh->column[c];
        t->place[c] = at;
        if (at == t->ncol) t->ncol++;
    }
    if (t->ncol == before) return 0;
    history_value *old = t->value;
    t->capacity = 0;
    t->value = NULL;
    table_reserve(t, t->rows);
    for (int64_t r = 0; r < t->rows; r++)
        for (int c = 0; c < t->ncol; c++)
            t->value[r * t->ncol + c] = c < before ? old[r * before + c] : no_value(t->column[c].type);
    free(old);
    return 0;
}

enum { SAME_COLUMNS, ANY_COLUMNS };

static int declare(history *h, const char *group, const history_column *columns, int n, int which, char *message,
                   size_t size)
{
    history_rows_of *fresh = calloc(1, sizeof *fresh), *old = tables_find(&h->set, group);
    REQUIRE_MEMORY(fresh, "out of memory: %zu bytes", sizeof *fresh);
    set_columns(fresh, group, columns, n);
    int bad = 0;
    if (old && same_columns(old, fresh, message, size)) {
        memcpy(old->column, fresh->column, sizeof old->column);
        memcpy(old->place, fresh->place, sizeof old->place);
        old->given = fresh->given;
    } else if (old && old->rows > 0) {
        bad = which != ANY_COLUMNS || widen(old, fresh, message, size) || rewrite_journal(h, message, size);
    } else if (old) {
        /* Tables without rows may change their columns, but their records in the journal must too. */
        free(old->value);
        *old = *fresh;
        bad = rewrite_journal(h, message, size);
    } else {
        old = tables_add(&h->set);
        REQUIRE(old, "more than %d tables", HISTORY_TABLES);
        *old = *fresh;
        bad = journal_add_table(h->fd, &h->end, &h->set, h->set.n - 1);
        if (bad) {
            file_fail(message, size, "%s: %s", h->journal_path, strerror(errno));
            free(old);
            h->set.n--;
        }
    }
    free(fresh);
    for (int i = 0; i < h->set.n && !bad; i++)
        if (h->set.table[i] == old) return i;
    return -1;
}

static int declare_everywhere(history *h, const char *group, const history_column *columns, int n, int which,
                              char *message, size_t size)
{
    int table = comm_rank() == 0 ? declare(h, group, columns, n, which, message, size) : 0;
    if (comm_any_bad(table < 0, message, size)) return -1;
    comm_bcast(&table, sizeof table);
    return table;
}

int history_table(history *h, const char *group, const history_column *columns, int n, char *message, size_t size)
{
    return declare_everywhere(h, group, columns, n, SAME_COLUMNS, message, size);
}

int history_table_widened(history *h, const char *group, const history_column *columns, int n, char *message,
                          size_t size)
{
    return declare_everywhere(h, group, columns, n, ANY_COLUMNS, message, size);
}

static int append(history *h, int table, const history_value *row, char *message, size_t size)
{
    REQUIRE(table >= 0 && table < h->set.n, "table %d of %d", table, h->set.n);
    history_rows_of *t = h->set.table[table];
    history_value whole[HISTORY_COLUMNS];
    for (int c = 0; c < t->ncol; c++) whole[c] = no_value(t->column[c].type);
    for (int c = 0; c < t->given; c++) whole[t->place[c]] = row[c];
    const int64_t last = t->rows ? t->value[(t->rows - 1) * t->ncol].i : row[0].i;
    REQUIRE(row[0].i >= last, "table %s: trajectory %lld after %lld", t->group, (long long)row[0].i, (long long)last);
    if (h->fd < 0 || journal_add_row(h->fd, &h->end, &h->set, table, whole)) {
        file_fail(message, size, "%s: a row cannot be written: %s", h->journal_path,
                  h->fd < 0 ? "it could not be opened before" : strerror(errno));
        return -1;
    }
    table_reserve(t, t->rows + 1);
    memcpy(t->value + t->rows * t->ncol, whole, (size_t)t->ncol * sizeof *whole);
    t->rows++;
    return 0;
}

int history_append(history *h, int table, const history_value *row, char *message, size_t size)
{
    const int bad = comm_rank() == 0 ? append(h, table, row, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

/* ---- files ---- */

/* Syncs the journal, and renews history.h5: with `fold`, else only while the journal is short or when it has GROWN. */
static int sync_files(history *h, int fold, char *message, size_t size)
{
    if (h->fd >= 0 && fsync(h->fd) != 0) {
        file_fail(message, size, "%s: %s", h->journal_path, strerror(errno));
        return -1;
    }
    if (h->folded == h->end || (!fold && h->end > SHORT_JOURNAL && !GROWN(h->end, h->folded))) return 0;
    if (history_file_write(h->file_path, &h->set, message, size)) return -1;
    h->folded = h->end;
    return 0;
}

static int truncate_after(history *h, int64_t trajectory, char *message, size_t size)
{
    int dropped = 0;
    for (int i = 0; i < h->set.n; i++) {
        history_rows_of *t = h->set.table[i];
        for (; t->rows > 0 && t->value[(t->rows - 1) * t->ncol].i > trajectory; t->rows--) dropped = 1;
    }
    if (dropped && rewrite_journal(h, message, size)) return -1;
    return sync_files(h, 1, message, size);
}

int history_truncate_after(history *h, int64_t trajectory, char *message, size_t size)
{
    const int bad = comm_rank() == 0 ? truncate_after(h, trajectory, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

static int truncate_group(history *h, const char *group, int64_t trajectory, char *message, size_t size)
{
    history_rows_of *t = tables_find(&h->set, group);
    const int64_t before = t ? t->rows : 0;
    if (!t) return 0;
    while (t->rows > 0 && t->value[(t->rows - 1) * t->ncol].i > trajectory) t->rows--;
    return t->rows < before ? rewrite_journal(h, message, size) : 0;
}

int history_truncate_group(history *h, const char *group, int64_t trajectory, char *message, size_t size)
{
    const int bad = comm_rank() == 0 ? truncate_group(h, group, trajectory, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

static int set_text(history *h, const char *name, const char *text, char *message, size_t size)
{
    const char *before = tables_text(&h->set, name);
    REQUIRE(strlen(name) < HISTORY_NAME, "name of a text too long: %s", name);
    if (before && text ? !strcmp(before, text) : before == text) return 0;
    if (h->fd < 0 || journal_add_text(h->fd, &h->end, name, text)) {
        file_fail(message, size, "%s: a text cannot be written: %s", h->journal_path,
                  h->fd < 0 ? "it could not be opened before" : strerror(errno));
        return -1;
    }
    tables_set_text(&h->set, name, text);
    return 0;
}

int history_text(history *h, const char *name, const char *text, char *message, size_t size)
{
    const int bad = comm_rank() == 0 ? set_text(h, name, text, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

char *history_get_text(const history *h, const char *name)
{
    const char *text = comm_rank() == 0 ? tables_text(&h->set, name) : NULL;
    int64_t n = text ? (int64_t)strlen(text) + 1 : 0;
    comm_bcast(&n, sizeof n);
    if (n == 0) return NULL;
    char *copy = malloc((size_t)n);
    REQUIRE_MEMORY(copy, "out of memory: %lld bytes", (long long)n);
    if (comm_rank() == 0) memcpy(copy, text, (size_t)n);
    comm_bcast(copy, (size_t)n);
    return copy;
}

int history_texts(const history *h, int i, char name[HISTORY_NAME])
{
    int there = comm_rank() == 0 && i < h->set.notes;
    name[0] = 0;
    if (there) snprintf(name, HISTORY_NAME, "%s", h->set.note[i].name);
    comm_bcast(&there, sizeof there);
    comm_bcast(name, HISTORY_NAME);
    return there;
}

static int sync_everywhere(history *h, int fold, char *message, size_t size)
{
    const int bad = comm_rank() == 0 ? sync_files(h, fold, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

int history_sync(history *h, char *message, size_t size)
{
    return sync_everywhere(h, 0, message, size);
}

int history_close(history *h, char *message, size_t size)
{
    const int bad = sync_everywhere(h, 1, message, size);
    free_all(h);
    return bad;
}

/* ---- looking ---- */

int64_t history_rows(const history *h, int table)
{
    int64_t n = comm_rank() == 0 ? h->set.table[table]->rows : 0;
    comm_bcast(&n, sizeof n);
    return n;
}

history_value history_get(const history *h, int table, int64_t row, int column)
{
    history_value v = {0};
    if (comm_rank() == 0) {
        const history_rows_of *t = h->set.table[table];
        REQUIRE(row >= 0 && row < t->rows && column >= 0 && column < t->given, "row %lld of %lld, column %d of %d",
                (long long)row, (long long)t->rows, column, t->given);
        v = t->value[row * t->ncol + t->place[column]];
    }
    comm_bcast(&v, sizeof v);
    return v;
}

int64_t history_last(const history *h, const char *group)
{
    int64_t last = -1;
    const history_rows_of *t = comm_rank() == 0 ? tables_find(&h->set, group) : NULL;
    if (t && t->rows > 0) last = t->value[(t->rows - 1) * t->ncol].i;
    comm_bcast(&last, sizeof last);
    return last;
}

static int by_group(const void *a, const void *b)
{
    return strcmp((*(history_rows_of *const *)a)->group, (*(history_rows_of *const *)b)->group);
}

void history_digest(const history *h, char hex[65])
{
    sha256 s;
    sha256_start(&s);
    table_set sorted = h->set;
    qsort(sorted.table, (size_t)sorted.n, sizeof sorted.table[0], by_group);
    for (int i = 0; i < sorted.n; i++) {
        const history_rows_of *t = sorted.table[i];
        if (t->rows > 0) sha256_add(&s, t->group, strlen(t->group) + 1);
        for (int c = 0; c < t->ncol && t->rows > 0; c++) {
            if (t->column[c].role == HISTORY_VOLATILE) continue;
            sha256_add(&s, t->column[c].name, strlen(t->column[c].name) + 1);
            for (int64_t r = 0; r < t->rows; r++) {
                unsigned char raw[8];
                store64(raw, (uint64_t)t->value[r * t->ncol + c].i, 0);
                sha256_add(&s, raw, sizeof raw);
            }
        }
    }
    sha256_end(&s, hex);
    comm_bcast(hex, 65);
}
