#include "io/history/table_hdf5.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <hdf5.h>

#include "io/files/atomic.h"
#include "io/history/fold.h"
#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "io/links/links_format.h"
#include "io/history/output_file.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"

#define CHUNK 256
/* The lock is held for as long as the file takes to be copied. */
#define LOCK_SECONDS 300.0

#define CONFIGS "configs"
#define INPUTS "inputs"
#define SUMMARY "summary"

static const table_column key_columns[] = {{"config", "", "row of /" CONFIGS ", from 0"},
                                           {"trajectory", "", "number that the configuration bears; -1: none"}};
enum { KEYS = sizeof key_columns / sizeof key_columns[0] };

enum { FILE_NAME, DIGEST, SIZE, TRAJECTORY = SIZE + 4, PLAQUETTE, LINK_TRACE, PROGRAM, INPUT };
static const table_column config_columns[] = {
    [FILE_NAME] = {"file", "", "the file measured"},
    [DIGEST] = {"digest", "", "SHA-256 of its links"},
    [SIZE] = {"size_x", "sites", "extent of the lattice"},
    [SIZE + 1] = {"size_y", "sites", "extent of the lattice"},
    [SIZE + 2] = {"size_z", "sites", "extent of the lattice"},
    [SIZE + 3] = {"size_t", "sites", "extent of the lattice"},
    [TRAJECTORY] = {"trajectory", "", "number that the file bears; -1: none"},
    [PLAQUETTE] = {"plaquette", "", "Re tr / 3 of plaquettes, all planes"},
    [LINK_TRACE] = {"link_trace", "", "Re tr / 3 of links"},
    [PROGRAM] = {"program", "", "version and source digest"},
    [INPUT] = {"input", "", "N of the parameters in /" INPUTS "/N"},
};

/* ---- columns ---- */

static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* An extensible dataset without rows, of one dimension, or of two, whose second has no extent yet. */
static hid_t create_column(hid_t group, const table_column *c, hid_t type, int dimensions)
{
    const hsize_t none[2] = {0, 0}, most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    const hsize_t chunk[2] = {dimensions == 2 ? CHUNK / 8 : CHUNK, 64};
    const double nan = NAN;
    const hid_t space = H5Screate_simple(dimensions, none, most), p = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(p, dimensions, chunk);
    H5Pset_obj_track_times(p, 0);
    if (dimensions == 2) H5Pset_fill_value(p, H5T_NATIVE_DOUBLE, &nan);
    hid_t d = H5Dcreate2(group, c->name, type, space, H5P_DEFAULT, p, H5P_DEFAULT);
    H5Pclose(p);
    H5Sclose(space);
    if (d >= 0 && (values_put_text(d, "unit", c->unit) || values_put_text(d, "description", c->help))) {
        H5Dclose(d);
        d = -1;
    }
    return d;
}

/* Appends n elements of `memory` type to a column; with a width, n rows of so many in a column of two dimensions. */
static int extend(hid_t group, const table_column *c, hid_t type, hid_t memory, hsize_t n, hsize_t width,
                  const void *data)
{
    const int dimensions = width ? 2 : 1;
    const hid_t d = H5Lexists(group, c->name, H5P_DEFAULT) > 0 ? H5Dopen2(group, c->name, H5P_DEFAULT)
                                                               : create_column(group, c, type, dimensions);
    if (d < 0) return 1;
    hid_t space = H5Dget_space(d);
    hsize_t before[2] = {0, 0};
    int bad = H5Sget_simple_extent_ndims(space) != dimensions || H5Sget_simple_extent_dims(space, before, NULL) < 0;
    H5Sclose(space);
    const hsize_t total[2] = {before[0] + n, before[1] > width ? before[1] : width};
    const hsize_t start[2] = {before[0], 0}, count[2] = {n, width};
    bad = bad || H5Dset_extent(d, total) < 0;
    if (!bad) {
        space = H5Dget_space(d);
        const hid_t part = H5Screate_simple(dimensions, count, NULL);
        bad = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
              H5Dwrite(d, memory, part, space, H5P_DEFAULT, data) < 0;
        H5Sclose(part);
        H5Sclose(space);
    }
    return (H5Dclose(d) < 0) | bad;
}

static int extend_text(hid_t group, const table_column *c, const char *text, size_t bytes)
{
    char *all = calloc(1, bytes);
    if (!all) return 1;
    snprintf(all, bytes, "%s", text);
    const hid_t type = text_type(bytes);
    const int bad = extend(group, c, type, type, 1, 0, all);
    H5Tclose(type);
    free(all);
    return bad;
}

static int extend_integer(hid_t group, const table_column *c, int64_t value, long n)
{
    int64_t *all = malloc((size_t)n * sizeof *all);
    if (!all) return 1;
    for (long i = 0; i < n; i++) all[i] = value;
    const int bad = extend(group, c, H5T_STD_I64LE, H5T_NATIVE_INT64, (hsize_t)n, 0, all);
    free(all);
    return bad;
}

static int extend_reals(hid_t group, const table_column *c, long n, long width, const double *values)
{
    return extend(group, c, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (hsize_t)n, (hsize_t)width, values);
}

/* Reads a column of one dimension: its elements, `bytes` each, allocated, and how many; NULL when it cannot be read. */
static void *read_column(hid_t group, const char *name, hid_t type, size_t bytes, long *n)
{
    hsize_t rows = 0;
    const hid_t d = H5Dopen2(group, name, H5P_DEFAULT);
    if (d < 0) return NULL;
    const hid_t space = H5Dget_space(d);
    int bad = H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &rows, NULL) != 1;
    void *all = bad ? NULL : calloc((size_t)rows + 1, bytes);
    bad = !all || (rows && H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0);
    H5Sclose(space);
    H5Dclose(d);
    *n = (long)rows;
    if (!bad) return all;
    free(all);
    return NULL;
}

/* Appends to the axis what it lacks of these numbers; nonzero when it has others. */
static int extend_axis(hid_t group, const table_column *c, long width, const double *axis)
{
    long there = 0;
    double *before = NULL;
    if (H5Lexists(group, c->name, H5P_DEFAULT) > 0) {
        before = read_column(group, c->name, H5T_NATIVE_DOUBLE, sizeof *before, &there);
        if (!before) return 1;
    }
    const long both = there < width ? there : width;
    const int differ = both && memcmp(before, axis, (size_t)both * sizeof *axis);
    free(before);
    return differ || (width > there && extend_reals(group, c, width - there, 0, axis + there));
}

/* ---- what is there ---- */

static int has(hid_t where, const char *name)
{
    return H5Lexists(where, name, H5P_DEFAULT) > 0;
}

/* A table that is there has these columns and no others, beside the table of its summary. */
static int same_columns(hid_t group, const table_rows *r)
{
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0 || info.nlinks != (hsize_t)(r->ncolumns + KEYS + has(group, SUMMARY))) return 0;
    for (int i = 0; i < r->ncolumns; i++)
        if (!has(group, r->columns[i].name)) return 0;
    for (int i = 0; i < KEYS; i++)
        if (!has(group, key_columns[i].name)) return 0;
    return 1;
}

/* A file's /configs is of this layout, or not there. */
static int known_layout(hid_t file)
{
    char path[64];
    if (!has(file, CONFIGS)) return 1;
    for (size_t i = 0; i < sizeof config_columns / sizeof config_columns[0]; i++) {
        snprintf(path, sizeof path, CONFIGS "/%s", config_columns[i].name);
        if (!has(file, path)) return 0;
    }
    return 1;
}

/* Each difference between the identity of a table and that of new rows. */
static int same_identity(hid_t group, const table_file *f, const table_rows *r, char *message, size_t size)
{
    char *there = values_get_attribute_text(group, "identity");
    param_text differences = {0};
    const char *before = there ? there : "", *now = r->identity ? r->identity : "";
    const int differ =
        f->differ ? f->differ(before, now, &differences) : params_compare(before, now, NULL, 0, &differences);
    if (differ)
        snprintf(message, size,
                 "%s: the rows of /%s were made with other parameters:\n%s  Write to another file, or give the "
                 "section another name",
                 f->path, r->group, differences.data);
    param_text_free(&differences);
    free(there);
    return !differ;
}

/* Rows of /configs with the digest and extents of `config`: a byte for each, allocated, and their number; NULL when they
 * cannot be read. */
static char *same_links(hid_t file, const table_config *config, long *n)
{
    const hid_t type = text_type(TABLE_DIGEST_SIZE);
    char path[64], *same = NULL;
    char(*digests)[TABLE_DIGEST_SIZE] = read_column(file, CONFIGS "/digest", type, TABLE_DIGEST_SIZE, n);
    H5Tclose(type);
    if (digests) same = malloc((size_t)*n + 1);
    for (long i = 0; same && i < *n; i++) same[i] = !strncmp(digests[i], config->digest, TABLE_DIGEST_SIZE);
    free(digests);
    for (int d = 0; d < 4 && same; d++) {
        long rows = 0;
        snprintf(path, sizeof path, CONFIGS "/%s", config_columns[SIZE + d].name);
        int64_t *extents = read_column(file, path, H5T_NATIVE_INT64, sizeof *extents, &rows);
        for (long i = 0; extents && i < *n && i < rows; i++) same[i] &= extents[i] == config->size[d];
        if (!extents || rows != *n) {
            free(same);
            same = NULL;
        }
        free(extents);
    }
    return same;
}

/* 1 if a table has rows of these links, 0 if not, negative when it cannot be read. */
static int has_links(hid_t file, hid_t group, const table_config *config)
{
    long rows = 0, configs = 0;
    int found = -1;
    int64_t *numbers = read_column(group, key_columns[0].name, H5T_NATIVE_INT64, sizeof *numbers, &rows);
    char *same = same_links(file, config, &configs);
    if (numbers && same) {
        found = 0;
        for (long i = 0; i < rows && !found; i++) found = numbers[i] >= 0 && numbers[i] < configs && same[numbers[i]];
    }
    free(numbers);
    free(same);
    return found;
}

/* Checks that a table may take the rows: 1 when it has rows of these links already, 0, or -1 with a message. */
static int look_at(hid_t file, const table_file *f, const table_config *config, const table_rows *r, char *message,
                   size_t size)
{
    if (!known_layout(file)) {
        file_fail(message, size,
                  "%s: the tables are those of an earlier version of plaq, which rows of this one cannot join; write "
                  "to another file",
                  f->path);
        return -1;
    }
    if (!has(file, r->group)) return 0;
    const hid_t group = H5Gopen2(file, r->group, H5P_DEFAULT);
    int status = -1;
    if (group < 0 || !same_columns(group, r))
        file_fail(message, size,
                  "%s: /%s is there already and has other columns; write to another file, or rename the section",
                  f->path, r->group);
    else if (same_identity(group, f, r, message, size)) {
        status = has_links(file, group, config);
        if (status < 0)
            file_fail(message, size,
                      "%s: the configurations of /%s cannot be read: the file is damaged; write to another file",
                      f->path, r->group);
    }
    if (group >= 0) H5Gclose(group);
    return status;
}

/* ---- the file ---- */

static image *create_file(const char *path, char *message, size_t size)
{
    image *m = image_create();
    if (m && !values_put_text(image_file(m), VALUES_KIND, VALUES_TABLES)) return m;
    image_close(m);
    file_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
    return NULL;
}

/* A copy in memory of the file, an empty one when there is none; NULL with a message. */
static image *open_file(const char *path, char *message, size_t size)
{
    struct stat st;
    seal_regions out;
    if (output_file_allowed(path, OUTPUT_TABLES, NULL, message, size)) return NULL;
    if (stat(path, &st) != 0 && errno == ENOENT) return create_file(path, message, size);
    return image_read(path, &out, NULL, message, size);
}

static int look_local(const table_file *f, const table_config *config, const table_rows *rows, int n, int *there,
                      char *message, size_t size)
{
    int bad = 0;
    image *m = open_file(f->path, message, size);
    if (!m) return -1;
    for (int i = 0; i < n && !bad; i++)
        bad = (there[i] = look_at(image_file(m), f, config, &rows[i], message, size)) < 0;
    image_close(m);
    return bad ? -1 : 0;
}

int table_look(const table_file *f, const table_config *config, const table_rows *rows, int n, int *there,
               char *message, size_t size)
{
    int bad = 0;
    if (comm_rank() == 0) bad = look_local(f, config, rows, n, there, message, size);
    if (comm_any_bad(bad != 0, message, size)) return -1;
    comm_bcast(there, (size_t)n * sizeof *there);
    return 0;
}

/* ---- adding ---- */

static int axis_of(const table_rows *r)
{
    for (int i = 0; r->axis && i < r->ncolumns; i++)
        if (!strcmp(r->columns[i].name, r->axis)) return i;
    return -1;
}

/* The columns of a table without an axis. */
static int append_flat(hid_t group, const table_rows *r)
{
    int bad = 0;
    double *all = malloc((size_t)r->nrows * sizeof *all);
    if (!all) return 1;
    for (int c = 0; c < r->ncolumns && !bad; c++) {
        for (long i = 0; i < r->nrows; i++) all[i] = r->values[i * r->ncolumns + c];
        bad = extend_reals(group, &r->columns[c], r->nrows, 0, all);
    }
    free(all);
    return bad;
}

static int append_folded(hid_t group, const table_rows *r, const fold *f)
{
    int bad = !f->one_axis;
    double *all = malloc((size_t)(f->rows * f->width) * sizeof *all);
    if (!all) return 1;
    for (int c = 0; c < r->ncolumns && !bad; c++) {
        const table_column *column = &r->columns[c];
        if (c < f->axis) {
            fold_label(f, c, all);
            bad = extend_reals(group, column, f->rows, 0, all);
        } else if (c == f->axis) {
            fold_axis(f, all);
            bad = extend_axis(group, column, f->width, all);
        } else {
            fold_along(f, c, all);
            bad = extend_reals(group, column, f->rows, f->width, all);
        }
    }
    free(all);
    return bad;
}

/* The attribute `names` of the columns that have some. */
static int put_names(hid_t group, const table_names *n)
{
    int bad = 0;
    for (; n && n->column && !bad; n++) {
        const hid_t d = H5Dopen2(group, n->column, H5P_DEFAULT), type = text_type(H5T_VARIABLE);
        hsize_t count = 0;
        while (n->names[count]) count++;
        const hid_t space = H5Screate_simple(1, &count, NULL),
                    a = H5Acreate2(d, "names", type, space, H5P_DEFAULT, H5P_DEFAULT);
        bad = d < 0 || a < 0 || H5Awrite(a, type, n->names) < 0;
        if (a >= 0) bad |= H5Aclose(a) < 0;
        H5Sclose(space);
        H5Tclose(type);
        if (d >= 0) bad |= H5Dclose(d) < 0;
    }
    return bad;
}

/* The rows of configuration number `number`. */
static int append_rows(hid_t file, const char *path, int64_t number, int64_t trajectory, const table_rows *r,
                       char *message, size_t size)
{
    const int there = has(file, r->group), axis = axis_of(r);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t group =
        there ? H5Gopen2(file, r->group, H5P_DEFAULT) : H5Gcreate2(file, r->group, links, H5P_DEFAULT, H5P_DEFAULT);
    fold f = {0};
    if (axis >= 0) f = fold_rows(r->values, r->nrows, r->ncolumns, axis);
    const long rows = axis >= 0 ? f.rows : r->nrows;
    int bad = group < 0 || (!there && values_put_text(group, "identity", r->identity ? r->identity : ""));
    bad = bad || extend_integer(group, &key_columns[0], number, rows) ||
          extend_integer(group, &key_columns[1], trajectory, rows);
    bad = bad || (axis >= 0 ? append_folded(group, r, &f) : append_flat(group, r));
    bad = bad || (!there && put_names(group, r->names));
    if (group >= 0) bad |= H5Gclose(group) < 0;
    H5Pclose(links);
    fold_free(&f);
    if (bad) file_fail(message, size, "%s: HDF5 cannot add the rows of /%s", path, r->group);
    return bad;
}

/* The number of this text among /inputs, to which it is added when it is new; 0 when the library fails. */
static int input_number(hid_t file, const char *input)
{
    int number = 0, found = 0;
    char name[16];
    const hid_t group = has(file, INPUTS) ? H5Gopen2(file, INPUTS, H5P_DEFAULT)
                                          : H5Gcreate2(file, INPUTS, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return 0;
    do {
        snprintf(name, sizeof name, "%d", ++number);
        char *text = values_get_long_text(group, name);
        found = text && !strcmp(text, input);
        free(text);
    } while (!found && has(group, name));
    const int bad = !found && values_put_long_text(group, name, input);
    H5Gclose(group);
    return bad ? 0 : number;
}

/* A row of /configs; its number, or -1 with a message. */
static int64_t append_config(hid_t file, const table_file *f, const table_config *config, char *message, size_t size)
{
    const int input = input_number(file, f->input);
    const hid_t group = has(file, CONFIGS) ? H5Gopen2(file, CONFIGS, H5P_DEFAULT)
                                           : H5Gcreate2(file, CONFIGS, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const table_column *c = config_columns;
    long number = 0;
    if (group >= 0 && has(group, c[INPUT].name))
        free(read_column(group, c[INPUT].name, H5T_NATIVE_INT64, sizeof(int64_t), &number));
    int bad = group < 0 || input == 0 || extend_text(group, &c[FILE_NAME], config->name, TABLE_CONFIG_SIZE) ||
              extend_text(group, &c[DIGEST], config->digest, TABLE_DIGEST_SIZE) ||
              extend_integer(group, &c[TRAJECTORY], config->trajectory, 1) ||
              extend_reals(group, &c[PLAQUETTE], 1, 0, &config->plaquette) ||
              extend_reals(group, &c[LINK_TRACE], 1, 0, &config->link_trace) ||
              extend_text(group, &c[PROGRAM], f->program, TABLE_PROGRAM_SIZE) ||
              extend_integer(group, &c[INPUT], input, 1);
    for (int d = 0; d < 4; d++) bad = bad || extend_integer(group, &c[SIZE + d], config->size[d], 1);
    if (group >= 0) bad |= H5Gclose(group) < 0;
    if (bad) file_fail(message, size, "%s: HDF5 cannot add the row of /" CONFIGS, f->path);
    return bad ? -1 : number;
}

static int append_local(const table_file *f, const table_config *config, const table_rows *rows, int n, char *message,
                        size_t size)
{
    int bad = 0;
    int64_t number = -1;
    image *m = open_file(f->path, message, size);
    if (!m) return -1;
    const hid_t file = image_file(m);
    for (int i = 0; i < n && !bad; i++) {
        const int there = look_at(file, f, config, &rows[i], message, size);
        bad = there < 0;
        if (bad || there || rows[i].nrows == 0) continue;
        if (number < 0) number = append_config(file, f, config, message, size);
        bad = number < 0 || append_rows(file, f->path, number, config->trajectory, &rows[i], message, size);
    }
    if (!bad && number >= 0) return image_write(m, f->path, message, size);
    image_close(m);
    return bad;
}

int table_append(const table_file *f, const table_config *config, const table_rows *rows, int n, char *message,
                 size_t size)
{
    int bad = 0;
    if (comm_rank() == 0) {
        atomic_lock lock;
        bad = atomic_lock_file(&lock, f->path, LOCK_SECONDS, message, size);
        if (!bad) bad = append_local(f, config, rows, n, message, size);
        atomic_release(&lock);
    }
    return comm_any_bad(bad != 0, message, size) ? -1 : 0;
}
