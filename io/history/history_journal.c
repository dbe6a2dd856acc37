#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/files/checksum.h"
#include "io/history/history_tables.h"
#include "io/links/links_format.h"

/* A title, then records, all little-endian: u32 bytes of the payload, u32 kind (low byte) and number of the table, u32
 * CRC of the two and the payload; the payload. */
static const char title[] = "plaq history journal 1\n";
#define TITLE_BYTES (sizeof title - 1)
#define HEAD 12
#define KIND_TABLE 'T'
#define KIND_ROW 'R'
#define KIND_TEXT 'X'   /* name, zero byte, text */
#define KIND_REMOVE 'D' /* name of a text */

typedef struct {
    unsigned char *data;
    size_t length, capacity;
} bytes;

static unsigned char *grow(bytes *b, size_t n)
{
    if (b->length + n > b->capacity) {
        b->capacity = 2 * (b->length + n);
        b->data = realloc(b->data, b->capacity);
        REQUIRE_MEMORY(b->data, "out of memory: %zu bytes", b->capacity);
    }
    b->length += n;
    return b->data + b->length - n;
}

static uint32_t crc_of(const unsigned char *record, size_t payload)
{
    return crc32_of(crc32_of(0, record, 8), record + HEAD, payload);
}

static void put_record(bytes *b, char kind, int table, const void *payload, size_t n)
{
    unsigned char *p = grow(b, HEAD + n);
    store32(p, (uint32_t)n, 0);
    store32(p + 4, (uint32_t)(unsigned char)kind | (uint32_t)table << 8, 0);
    memcpy(p + HEAD, payload, n);
    store32(p + 8, crc_of(p, n), 0);
}

static void put_table(bytes *b, const table_set *set, int table)
{
    param_text text = {0};
    table_describe(&text, set->table[table]);
    put_record(b, KIND_TABLE, table, text.data, text.length);
    param_text_free(&text);
}

static void put_row(bytes *b, const table_set *set, int table, const history_value *row)
{
    unsigned char raw[8 * HISTORY_COLUMNS];
    const int n = set->table[table]->ncol;
    for (int c = 0; c < n; c++) store64(raw + 8 * c, (uint64_t)row[c].i, 0);
    put_record(b, KIND_ROW, table, raw, 8 * (size_t)n);
}

static void put_text(bytes *b, const char *name, const char *text)
{
    param_text payload = {0};
    if (!text) {
        put_record(b, KIND_REMOVE, 0, name, strlen(name));
        return;
    }
    param_text_add(&payload, "%s%c%s", name, 0, text);
    put_record(b, KIND_TEXT, 0, payload.data, payload.length);
    param_text_free(&payload);
}

/* ---- reading ---- */

static int take_table(table_set *set, int number, const unsigned char *payload, size_t n)
{
    char *text = malloc(n + 1);
    REQUIRE_MEMORY(text, "out of memory: %zu bytes", n);
    memcpy(text, payload, n);
    text[n] = 0;
    history_rows_of *t = number == set->n ? tables_add(set) : NULL;
    const int bad = !t || table_parse(t, text);
    if (t && bad) {
        free(t);
        set->n--;
    }
    free(text);
    return bad;
}

static int take_row(table_set *set, int number, const unsigned char *payload, size_t n)
{
    history_rows_of *t = number < set->n ? set->table[number] : NULL;
    if (!t || n != 8 * (size_t)t->ncol) return -1;
    table_reserve(t, t->rows + 1);
    for (int c = 0; c < t->ncol; c++) t->value[t->rows * t->ncol + c].i = (int64_t)load64(payload + 8 * c, 0);
    t->rows++;
    return 0;
}

static int take_text(table_set *set, int kind, const unsigned char *payload, size_t n)
{
    char *copy = malloc(n + 1);
    REQUIRE_MEMORY(copy, "out of memory: %zu bytes", n);
    memcpy(copy, payload, n);
    copy[n] = 0;
    const size_t name = strlen(copy);
    const int bad = name >= HISTORY_NAME || (kind == KIND_TEXT) != (name < n);
    if (!bad) tables_set_text(set, copy, kind == KIND_TEXT ? copy + name + 1 : NULL);
    free(copy);
    return bad;
}

static int take_record(table_set *set, uint32_t word, const unsigned char *payload, size_t n)
{
    const int number = (int)(word >> 8), kind = (int)(word & 255);
    if (kind == KIND_TABLE) return take_table(set, number, payload, n);
    if (kind == KIND_ROW) return take_row(set, number, payload, n);
    if (kind == KIND_TEXT || kind == KIND_REMOVE) return take_text(set, kind, payload, n);
    return -1;
}

static uint64_t take_records(table_set *set, const unsigned char *data, size_t n)
{
    size_t at = TITLE_BYTES;
    if (n < at || memcmp(data, title, at)) return 0;
    while (n - at >= HEAD) {
        const unsigned char *p = data + at;
        const size_t payload = load32(p, 0);
        if (payload > n - at - HEAD || load32(p + 8, 0) != crc_of(p, payload)) break;
        if (take_record(set, load32(p + 4, 0), p + HEAD, payload)) break;
        at += HEAD + payload;
    }
    return at;
}

int journal_read(const char *path, table_set *set, journal_found *found, char *message, size_t size)
{
    uint64_t length = 0;
    int bad = 0;
    *found = (journal_found){0, 0, access(path, F_OK) != 0 && errno == ENOENT};
    if (found->missing) return 0;
    const int fd = file_open(path, &length, &bad, message, size);
    if (fd >= 0 && length > 0) {
        const size_t n = (size_t)length;
        unsigned char *data = malloc(n);
        REQUIRE_MEMORY(data, "out of memory: %zu bytes of %s", n, path);
        if (file_pread(fd, data, n, 0)) bad = file_fail_read(message, size, path, "the journal");
        else found->good = take_records(set, data, n);
        found->lost = n - found->good;
        free(data);
    }
    if (fd >= 0) close(fd);
    found->missing = (bad & LINKS_NO_REGULAR) != 0;
    return bad && !found->missing ? -1 : 0;
}

/* ---- writing ---- */

int journal_rewrite(const char *path, const table_set *set, char *message, size_t size)
{
    bytes b = {NULL, 0, 0};
    memcpy(grow(&b, TITLE_BYTES), title, TITLE_BYTES);
    for (int i = 0; i < set->n; i++) {
        const history_rows_of *t = set->table[i];
        put_table(&b, set, i);
        for (int64_t r = 0; r < t->rows; r++) put_row(&b, set, i, t->value + r * t->ncol);
    }
    for (int i = 0; i < set->notes; i++) put_text(&b, set->note[i].name, set->note[i].text);
    const int bad = atomic_write(path, b.data, b.length, message, size);
    free(b.data);
    return bad;
}

static int append(int fd, uint64_t *end, bytes *b)
{
    const int bad = file_pwrite(fd, b->data, b->length, *end);
    const int error = errno;
    if (!bad) *end += b->length;
    else if (ftruncate(fd, (off_t)*end) != 0) errno = error; /* a torn record is cut off at the next start */
    free(b->data);
    if (bad) errno = error;
    return bad;
}

int journal_add_table(int fd, uint64_t *end, const table_set *set, int table)
{
    bytes b = {NULL, 0, 0};
    put_table(&b, set, table);
    return append(fd, end, &b);
}

int journal_add_row(int fd, uint64_t *end, const table_set *set, int table, const history_value *row)
{
    bytes b = {NULL, 0, 0};
    put_row(&b, set, table, row);
    return append(fd, end, &b);
}

int journal_add_text(int fd, uint64_t *end, const char *name, const char *text)
{
    bytes b = {NULL, 0, 0};
    put_text(&b, name, text);
    return append(fd, end, &b);
}
