#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5_image.h"
#include "io/hdf5_values.h"
#include "io/history_tables.h"
#include "io/links_format.h"
#include "io/seal.h"

#define MAX_CHUNK 4096

static hid_t file_type(history_type type)
{
    return type == HISTORY_REAL ? H5T_IEEE_F64LE : type == HISTORY_INT ? H5T_STD_I64LE : H5T_STD_U8LE;
}

static hid_t memory_type(history_type type)
{
    return type == HISTORY_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
}

/* ---- writing ---- */

static int put_column(hid_t group, const history_rows_of *t, int c, history_value *buf)
{
    const history_own_column *k = &t->column[c];
    const hsize_t n = (hsize_t)t->rows, unlimited = H5S_UNLIMITED;
    const hsize_t chunk = n < 64 ? 64 : n < MAX_CHUNK ? n : MAX_CHUNK;
    for (int64_t r = 0; r < t->rows; r++) buf[r] = t->value[r * t->ncol + c];
    const hid_t space = H5Screate_simple(1, &n, &unlimited), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, 1, &chunk);
    /* No time of writing in the file: equal rows make equal bytes. */
    H5Pset_obj_track_times(plist, 0);
    const hid_t d = H5Dcreate2(group, k->name, file_type(k->type), space, H5P_DEFAULT, plist, H5P_DEFAULT);
    int bad = d < 0 || (n > 0 && H5Dwrite(d, memory_type(k->type), H5S_ALL, H5S_ALL, H5P_DEFAULT, buf) < 0);
    bad = bad || values_put_text(d, "unit", k->unit) || values_put_text(d, "description", k->description) ||
          values_put_int(d, "volatile", k->is_volatile);
    if (d >= 0) bad |= H5Dclose(d) < 0;
    H5Pclose(plist);
    H5Sclose(space);
    return bad;
}

static int put_table(hid_t file, const history_rows_of *t)
{
    param_text text = {0};
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    history_value *buf = malloc((size_t)(t->rows + 1) * sizeof *buf);
    REQUIRE_MEMORY(buf, "out of memory: %lld values", (long long)t->rows);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t group = H5Gcreate2(file, t->group, links, H5P_DEFAULT, H5P_DEFAULT);
    table_describe(&text, t);
    int bad = group < 0 || values_put_long_text(group, ".columns", text.data);
    for (int c = 0; c < t->ncol && !bad; c++) bad = put_column(group, t, c, buf);
    if (group >= 0) bad |= H5Gclose(group) < 0;
    H5Pclose(links);
    param_text_free(&text);
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
    links_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
    return -1;
}

/* ---- reading: files whose seal is intact ---- */

static int get_column(hid_t group, history_rows_of *t, int c)
{
    hsize_t n = 0;
    const hid_t d = H5Dopen2(group, t->column[c].name, H5P_DEFAULT);
    if (d < 0) return -1;
    const hid_t space = H5Dget_space(d);
    int bad = H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &n, NULL) != 1;
    if (c == 0 && !bad) {
        table_reserve(t, (int64_t)n);
        t->rows = (int64_t)n;
    }
    bad = bad || (int64_t)n != t->rows;
    history_value *buf = malloc((size_t)(n + 1) * sizeof *buf);
    REQUIRE_MEMORY(buf, "out of memory: %llu values", (unsigned long long)n);
    bad = bad || (n > 0 && H5Dread(d, memory_type(t->column[c].type), H5S_ALL, H5S_ALL, H5P_DEFAULT, buf) < 0);
    for (hsize_t r = 0; r < n && !bad; r++) t->value[(int64_t)r * t->ncol + c] = buf[r];
    free(buf);
    H5Sclose(space);
    H5Dclose(d);
    return bad ? -1 : 0;
}

static int get_table(hid_t file, const char *name, table_set *set)
{
    const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    if (group < 0) return -1;
    char *text = values_get_long_text(group, ".columns");
    history_rows_of *t = tables_add(set);
    int bad = !text || !t || table_parse(t, text);
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
    if (bad) bad = links_fail(message, size, "%s: not a history of plaq", path);
    image_close(m);
    if (bad) tables_free(set);
    return bad;
}
