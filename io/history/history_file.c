#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/history/fold.h"
#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "io/history/history_tables.h"
#include "io/links/links_format.h"
#include "io/files/seal.h"

#define MAX_CHUNK 4096
#define LENGTHS ".lengths"

static hid_t file_type(history_type type)
{
    return type == HISTORY_REAL ? H5T_IEEE_F64LE : type == HISTORY_INT ? H5T_STD_I64LE : H5T_STD_U8LE;
}

static hid_t memory_type(history_type type)
{
    return type == HISTORY_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
}

/* ---- writing ---- */

/* A dataset of `rows` entries, of `width` numbers each where that is not 0; extensible, so that chunks are allowed. */
static hid_t put_array(hid_t group, const char *name, history_type type, int64_t rows, int64_t width, const void *data)
{
    const hsize_t n[2] = {(hsize_t)rows, (hsize_t)width}, unlimited[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    const hsize_t chunk[2] = {n[0] < 64 ? 64 : n[0] < MAX_CHUNK ? n[0] : MAX_CHUNK, n[1] < 64 ? n[1] : 64};
    const int dimensions = width > 0 ? 2 : 1;
    const hid_t space = H5Screate_simple(dimensions, n, unlimited), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, dimensions, chunk);
    /* No time of writing in the file: equal rows make equal bytes. */
    H5Pset_obj_track_times(plist, 0);
    hid_t d = H5Dcreate2(group, name, file_type(type), space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (d >= 0 && rows > 0 && H5Dwrite(d, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        H5Dclose(d);
        d = -1;
    }
    H5Pclose(plist);
    H5Sclose(space);
    return d;
}

/* The rows of a column as they are in the file. */
static hid_t put_rows(hid_t group, const history_rows_of *t, const fold *f, int c, history_value *buf)
{
    const history_own_column *k = &t->column[c];
    if (f && c < f->axis) {
        fold_label(f, c, buf);
        return put_array(group, k->name, k->type, f->rows, 0, buf);
    }
    if (f && c == f->axis && f->one_axis) {
        fold_axis(f, &buf->d);
        return put_array(group, k->name, k->type, f->width, 0, buf);
    }
    if (f) {
        fold_along(f, c, &buf->d);
        return put_array(group, k->name, k->type, f->rows, f->width, buf);
    }
    for (int64_t r = 0; r < t->rows; r++) buf[r] = t->value[r * t->ncol + c];
    return put_array(group, k->name, k->type, t->rows, 0, buf);
}

static int put_column(hid_t group, const history_rows_of *t, const fold *f, int c, history_value *buf)
{
    const history_own_column *k = &t->column[c];
    const hid_t d = put_rows(group, t, f, c, buf);
    const int bad = d < 0 || values_put_text(d, "unit", k->unit) || values_put_text(d, "description", k->description) ||
                    values_put_int(d, "volatile", k->role == HISTORY_VOLATILE);
    if (d >= 0) H5Dclose(d);
    return bad;
}

/* The length of each folded row, from which the reader unfolds. */
static int put_lengths(hid_t group, const fold *f, history_value *buf)
{
    for (long r = 0; r < f->rows; r++) buf[r].i = f->first[r + 1] - f->first[r];
    const hid_t d = put_array(group, LENGTHS, HISTORY_INT, f->rows, 0, buf);
    return d < 0 || H5Dclose(d) < 0;
}

static int put_table(hid_t file, const history_rows_of *t)
{
    param_text text = {0};
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    const int axis = table_axis(t);
    fold f = {0};
    if (axis >= 0) f = fold_rows(t->value, (long)t->rows, t->ncol, axis);
    const long most = axis >= 0 ? f.rows * f.width : (long)t->rows;
    history_value *buf = malloc((size_t)(most + 1) * sizeof *buf);
    REQUIRE_MEMORY(buf, "out of memory: %ld values", most);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t group = H5Gcreate2(file, t->group, links, H5P_DEFAULT, H5P_DEFAULT);
    table_describe(&text, t);
    int bad = group < 0 || values_put_long_text(group, ".columns", text.data);
    for (int c = 0; c < t->ncol && !bad; c++) bad = put_column(group, t, axis >= 0 ? &f : NULL, c, buf);
    if (axis >= 0 && !bad) bad = put_lengths(group, &f, buf);
    if (group >= 0) bad |= H5Gclose(group) < 0;
    H5Pclose(links);
    param_text_free(&text);
    fold_free(&f);
    free(buf);
    return bad;
}

/* Texts of names like stretches/000001 lie in groups. */
static int put_text(hid_t file, const table_note *note)
{
    char folder[HISTORY_NAME];
    const char *last = strrchr(note->name, '/');
    if (!last) return values_put_long_text(file, note->name, note->text);
    snprintf(folder, sizeof folder, "%.*s", (int)(last - note->name), note->name);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t group = H5Lexists(file, folder, H5P_DEFAULT) > 0
                            ? H5Gopen2(file, folder, H5P_DEFAULT)
                            : H5Gcreate2(file, folder, links, H5P_DEFAULT, H5P_DEFAULT);
    const int bad = group < 0 || values_put_long_text(group, last + 1, note->text);
    if (group >= 0) H5Gclose(group);
    H5Pclose(links);
    return bad;
}

static int put_all(hid_t file, const table_set *set)
{
    param_text groups = {0}, texts = {0};
    int bad = 0;
    for (int i = 0; i < set->n && !bad; i++) {
        param_text_add(&groups, "%s\n", set->table[i]->group);
        bad = put_table(file, set->table[i]);
    }
    for (int i = 0; i < set->notes && !bad; i++) {
        param_text_add(&texts, "%s\n", set->note[i].name);
        bad = put_text(file, &set->note[i]);
    }
    bad = bad || values_put_long_text(file, ".tables", groups.data ? groups.data : "") ||
          values_put_long_text(file, ".texts", texts.data ? texts.data : "");
    param_text_free(&groups);
    param_text_free(&texts);
    return bad;
}

int history_file_write(const char *path, const table_set *set, char *message, size_t size)
{
    image *m = image_create();
    if (m && !put_all(image_file(m), set)) return image_write(m, path, message, size);
    image_close(m);
    file_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
    return -1;
}

/* ---- reading: files whose seal is intact ---- */

/* A dataset of one dimension (width 0) or two: its numbers, allocated, and its extents; NULL when it cannot be read. */
static history_value *get_array(hid_t group, const char *name, history_type type, int64_t *rows, int64_t *width)
{
    hsize_t n[2] = {0, 0};
    const hid_t d = H5Dopen2(group, name, H5P_DEFAULT);
    if (d < 0) return NULL;
    const hid_t space = H5Dget_space(d);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    int bad = dimensions < 1 || dimensions > 2 || H5Sget_simple_extent_dims(space, n, NULL) != dimensions;
    const hsize_t all = dimensions == 2 ? n[0] * n[1] : n[0];
    history_value *buf = bad ? NULL : malloc((size_t)(all + 1) * sizeof *buf);
    REQUIRE_MEMORY(bad || buf, "out of memory: %llu values", (unsigned long long)all);
    if (!bad && all > 0 && H5Dread(d, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, buf) < 0) bad = 1;
    H5Sclose(space);
    H5Dclose(d);
    *rows = (int64_t)n[0];
    *width = dimensions == 2 ? (int64_t)n[1] : 0;
    if (!bad) return buf;
    free(buf);
    return NULL;
}

static int get_column(hid_t group, history_rows_of *t, int c)
{
    int64_t n = 0, width = 0;
    history_value *buf = get_array(group, t->column[c].name, t->column[c].type, &n, &width);
    if (buf && c == 0) {
        table_reserve(t, n);
        t->rows = n;
    }
    const int bad = !buf || width || n != t->rows;
    for (int64_t r = 0; r < n && !bad; r++) t->value[r * t->ncol + c] = buf[r];
    free(buf);
    return bad ? -1 : 0;
}

/* The rows of a column of a folded table, which has `rows` folded ones of these lengths. */
static int get_folded(hid_t group, history_rows_of *t, int c, int64_t rows, const history_value *length)
{
    int64_t n = 0, width = 0, at = 0;
    const history_role role = t->column[c].role;
    history_value *buf = get_array(group, t->column[c].name, t->column[c].type, &n, &width);
    int bad = !buf || (role == HISTORY_AXIS && width == 0 ? 0 : n != rows);
    for (int64_t r = 0; r < rows && !bad; r++) {
        const int64_t most = role == HISTORY_AXIS && width == 0 ? n : width;
        const int is_label = role == HISTORY_PLAIN;
        bad = !is_label && length[r].i > most;
        for (int64_t k = 0; k < length[r].i && !bad; k++, at++)
            t->value[at * t->ncol + c] = is_label ? buf[r] : width ? buf[r * width + k] : buf[k];
    }
    free(buf);
    return bad ? -1 : 0;
}

static int get_folded_columns(hid_t group, history_rows_of *t)
{
    int64_t rows = 0, width = 0, total = 0;
    history_value *length = get_array(group, LENGTHS, HISTORY_INT, &rows, &width);
    int bad = !length || width;
    for (int64_t r = 0; r < rows && !bad; r++) {
        bad = length[r].i < 1 || length[r].i > INT32_MAX;
        total += length[r].i;
    }
    if (!bad) {
        table_reserve(t, total);
        t->rows = total;
    }
    for (int c = 0; c < t->ncol && !bad; c++) bad = get_folded(group, t, c, rows, length);
    free(length);
    return bad ? -1 : 0;
}

static int get_table(hid_t file, const char *name, table_set *set)
{
    const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    if (group < 0) return -1;
    char *text = values_get_long_text(group, ".columns");
    history_rows_of *t = tables_add(set);
    int bad = !text || !t || table_parse(t, text);
    if (!bad && table_axis(t) >= 0) bad = get_folded_columns(group, t);
    else
        for (int c = 0; !bad && c < t->ncol; c++) bad = get_column(group, t, c);
    free(text);
    H5Gclose(group);
    return bad;
}

static int get_text(hid_t file, const char *name, table_set *set)
{
    char *text = strlen(name) < HISTORY_NAME ? values_get_long_text(file, name) : NULL;
    if (!text) return -1;
    tables_set_text(set, name, text);
    free(text);
    return 0;
}

/* Each line of the text `list` of the file goes to get(). */
static int get_list(hid_t file, const char *list, table_set *set, int (*get)(hid_t, const char *, table_set *))
{
    char *names = values_get_long_text(file, list), *rest = names;
    int bad = !names;
    while (!bad && *rest) {
        char *end = strchr(rest, '\n');
        bad = !end;
        if (bad) break;
        *end = 0;
        bad = get(file, rest, set);
        rest = end + 1;
    }
    free(names);
    return bad;
}

int history_file_read(const char *path, table_set *set, char *message, size_t size)
{
    seal_regions none;
    int bits = 0;
    image *m = image_read(path, &none, &bits, message, size);
    if (!m) return bits;
    int bad = get_list(image_file(m), ".tables", set, get_table);
    /* Files of earlier versions have no list of texts. */
    if (!bad && H5Lexists(image_file(m), ".texts", H5P_DEFAULT) > 0)
        bad = get_list(image_file(m), ".texts", set, get_text);
    if (bad) bad = file_fail(message, size, "%s: not a history of plaq", path);
    image_close(m);
    if (bad) tables_free(set);
    return bad;
}
