#include "io/table_hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <hdf5.h>

#include "io/atomic.h"
#include "io/hdf5_image.h"
#include "io/hdf5_values.h"
#include "io/links_format.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"

#define CHUNK 256
/* Others hold the lock for as long as the file takes to be copied. */
#define LOCK_SECONDS 300.0

#define CONFIGS "configs"
#define INPUTS "inputs"

static const table_column text_columns[] = {{"config", "", "the file measured"},
                                            {"digest", "", "SHA-256 of its links"},
                                            {"program", "", "version and source digest"}};
static const table_column config_columns[] = {
    {"plaquette", "", "Re tr / 3 of plaquettes, all planes"},
    {"link_trace", "", "Re tr / 3 of links"},
    {"input", "", "N of the parameters in /inputs/N"},
};

int table_is_reserved(const char *group)
{
    return !strcmp(group, CONFIGS) || !strcmp(group, INPUTS);
}

/* ---- columns ---- */

static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static hid_t create_column(hid_t group, const table_column *c, hid_t type)
{
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = CHUNK;
    const hid_t space = H5Screate_simple(1, &none, &most), p = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(p, 1, &chunk);
    H5Pset_obj_track_times(p, 0);
    hid_t d = H5Dcreate2(group, c->name, type, space, H5P_DEFAULT, p, H5P_DEFAULT);
    H5Pclose(p);
    H5Sclose(space);
    if (d >= 0 && (values_put_text(d, "unit", c->unit) || values_put_text(d, "description", c->help))) {
        H5Dclose(d);
        d = -1;
    }
    return d;
}

/* Appends n elements of `memory` type to a column. */
static int extend(hid_t group, const table_column *c, hid_t type, hid_t memory, hsize_t n, const void *data)
{
    const hid_t d = H5Lexists(group, c->name, H5P_DEFAULT) > 0 ? H5Dopen2(group, c->name, H5P_DEFAULT)
                                                               : create_column(group, c, type);
    if (d < 0) return 1;
    hid_t space = H5Dget_space(d);
    hsize_t start = 0, total;
    int bad = H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &start, NULL) < 0;
    H5Sclose(space);
    total = start + n;
    bad = bad || H5Dset_extent(d, &total) < 0;
    if (!bad) {
        space = H5Dget_space(d);
        const hid_t part = H5Screate_simple(1, &n, NULL);
        bad = H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &n, NULL) < 0 ||
              H5Dwrite(d, memory, part, space, H5P_DEFAULT, data) < 0;
        H5Sclose(part);
        H5Sclose(space);
    }
    return (H5Dclose(d) < 0) | bad;
}

static int extend_text(hid_t group, const table_column *c, const char *text, size_t bytes, long n)
{
    char *all = calloc((size_t)n, bytes);
    if (!all) return 1;
    for (long i = 0; i < n; i++) snprintf(all + (size_t)i * bytes, bytes, "%s", text);
    const hid_t type = text_type(bytes);
    const int bad = extend(group, c, type, type, (hsize_t)n, all);
    H5Tclose(type);
    free(all);
    return bad;
}

static int extend_reals(hid_t group, const table_rows *r, int column)
{
    double *all = malloc((size_t)r->nrows * sizeof *all);
    if (!all) return 1;
    for (long i = 0; i < r->nrows; i++) all[i] = r->values[i * r->ncolumns + column];
    const int bad = extend(group, &r->columns[column], H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (hsize_t)r->nrows, all);
    free(all);
    return bad;
}

/* ---- what is there ---- */

static int has(hid_t where, const char *name)
{
    return H5Lexists(where, name, H5P_DEFAULT) > 0;
}

/* A table that is there has these columns and no others. */
static int same_columns(hid_t group, const table_rows *r)
{
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0 || info.nlinks != (hsize_t)r->ncolumns + 2) return 0;
    for (int i = 0; i < r->ncolumns; i++)
        if (!has(group, r->columns[i].name)) return 0;
    return has(group, "config") && has(group, "digest");
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

/* Whether the column digest of a group has this one; negative when it cannot be read. */
static int has_digest(hid_t group, const char *digest)
{
    hsize_t n = 0;
    int found = -1;
    const hid_t d = H5Dopen2(group, "digest", H5P_DEFAULT);
    if (d < 0) return -1;
    const hid_t space = H5Dget_space(d), type = text_type(TABLE_DIGEST_SIZE);
    if (H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &n, NULL) == 1) {
        char(*all)[TABLE_DIGEST_SIZE] = calloc((size_t)n + 1, sizeof *all);
        if (all && (n == 0 || H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0)) {
            found = 0;
            for (hsize_t i = 0; i < n && !found; i++) found = !strncmp(all[i], digest, TABLE_DIGEST_SIZE);
        }
        free(all);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(d);
    return found;
}

/* Whether a table is there and may take the rows: 1 when it has rows of these links, 0, or -1 with a message. */
static int look_at(hid_t file, const table_file *f, const char *digest, const table_rows *r, char *message, size_t size)
{
    if (!has(file, r->group)) return 0;
    const hid_t group = H5Gopen2(file, r->group, H5P_DEFAULT);
    int status = -1;
    if (group < 0 || !same_columns(group, r))
        links_fail(message, size,
                   "%s: /%s is there already and has other columns; write to another file, or rename the section",
                   f->path, r->group);
    else if (same_identity(group, f, r, message, size)) status = has_digest(group, digest);
    if (group >= 0) H5Gclose(group);
    return status;
}

/* ---- the file ---- */

static image *create_file(const char *path, char *message, size_t size)
{
    image *m = image_create();
    if (m && !values_put_text(image_file(m), VALUES_KIND, VALUES_TABLES)) return m;
    image_close(m);
    links_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
    return NULL;
}

/* A copy in memory of the file, an empty one when there is none; NULL with a message. */
static image *open_file(const char *path, char *message, size_t size)
{
    struct stat st;
    seal_regions out;
    char kind[VALUES_KIND_SIZE];
    if (stat(path, &st) != 0 && errno == ENOENT) return create_file(path, message, size);
    if (values_kind(path, kind, message, size)) return NULL;
    if (!strcmp(kind, VALUES_TABLES)) return image_read(path, &out, NULL, message, size);
    links_fail(message, size, "%s: the file is %s, and rows go to files of their own; choose another name", path, kind);
    return NULL;
}

static int look_local(const table_file *f, const char *digest, const table_rows *rows, int n, int *there, char *message,
                      size_t size)
{
    atomic_file a;
    int bad = atomic_begin(&a, f->path, 0, message, size);
    image *m = bad ? NULL : open_file(f->path, message, size);
    if (!m) return -1;
    for (int i = 0; i < n && !bad; i++)
        bad = (there[i] = look_at(image_file(m), f, digest, &rows[i], message, size)) < 0;
    image_close(m);
    return bad ? -1 : 0;
}

int table_look(const table_file *f, const char *digest, const table_rows *rows, int n, int *there, char *message,
               size_t size)
{
    int bad = 0;
    if (comm_rank() == 0) bad = look_local(f, digest, rows, n, there, message, size);
    if (comm_any_bad(bad != 0, message, size)) return -1;
    comm_bcast(there, (size_t)n * sizeof *there);
    return 0;
}

/* ---- adding ---- */

static int append_rows(hid_t file, const char *path, const table_config *config, const table_rows *r, char *message,
                       size_t size)
{
    const int there = has(file, r->group);
    const hid_t group = there ? H5Gopen2(file, r->group, H5P_DEFAULT)
                              : H5Gcreate2(file, r->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int bad = group < 0 || (!there && values_put_text(group, "identity", r->identity ? r->identity : ""));
    bad = bad || extend_text(group, &text_columns[0], config->name, TABLE_CONFIG_SIZE, r->nrows) ||
          extend_text(group, &text_columns[1], config->digest, TABLE_DIGEST_SIZE, r->nrows);
    for (int i = 0; i < r->ncolumns && !bad; i++) bad = extend_reals(group, r, i);
    if (group >= 0) bad |= H5Gclose(group) < 0;
    if (bad) links_fail(message, size, "%s: HDF5 cannot add the rows of /%s", path, r->group);
    return bad;
}

/* The number of this text among /inputs, to which it is added when it is new; 0 when the library fails. */
static int input_number(hid_t file, const char *input)
{
    int number = 0, found = 0;
    char name[16];
    const hid_t group = has(file, "inputs") ? H5Gopen2(file, "inputs", H5P_DEFAULT)
                                            : H5Gcreate2(file, "inputs", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
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

static int append_config(hid_t file, const table_file *f, const table_config *config, char *message, size_t size)
{
    const int number = input_number(file, f->input);
    const double values[3] = {config->plaquette, config->link_trace, number};
    const table_rows row = {CONFIGS, config_columns, 3, 1, values, NULL};
    if (append_rows(file, f->path, config, &row, message, size)) return 1;
    const hid_t group = H5Gopen2(file, CONFIGS, H5P_DEFAULT);
    int bad = group < 0 || number == 0 || extend_text(group, &text_columns[2], f->program, TABLE_PROGRAM_SIZE, 1);
    if (group >= 0) bad |= H5Gclose(group) < 0;
    if (bad) links_fail(message, size, "%s: HDF5 cannot add the row of /" CONFIGS, f->path);
    return bad;
}

static int append_local(const table_file *f, const table_config *config, const table_rows *rows, int n, char *message,
                        size_t size)
{
    int added = 0, bad = 0;
    image *m = open_file(f->path, message, size);
    if (!m) return -1;
    const hid_t file = image_file(m);
    for (int i = 0; i < n && !bad; i++) {
        const int there = look_at(file, f, config->digest, &rows[i], message, size);
        bad = there < 0;
        if (bad || there || rows[i].nrows == 0) continue;
        bad = append_rows(file, f->path, config, &rows[i], message, size);
        added = 1;
    }
    if (!bad && added) bad = append_config(file, f, config, message, size);
    if (!bad && added) return image_write(m, f->path, message, size);
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
