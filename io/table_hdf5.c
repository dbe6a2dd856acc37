#include "io/table_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/atomic.h"
#include "io/hdf5_values.h"
#include "io/links_format.h"
#include "io/regular.h"
#include "kernels/lattice/comm.h"

/* What the tables of one file may take beyond its present size, for the check of free space. */
#define ROOM (1 << 20)
#define CHUNK 256

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

/* A table that is there has these columns and no others. */
static int same_columns(hid_t group, const table_rows *r)
{
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0 || info.nlinks != (hsize_t)r->ncolumns + 2) return 0;
    for (int i = 0; i < r->ncolumns; i++)
        if (H5Lexists(group, r->columns[i].name, H5P_DEFAULT) <= 0) return 0;
    return H5Lexists(group, "config", H5P_DEFAULT) > 0 && H5Lexists(group, "digest", H5P_DEFAULT) > 0;
}

static int append_one(hid_t file, const char *path, const char *config, const char *digest, const table_rows *r,
                      char *message, size_t size)
{
    static const table_column texts[2] = {{"config", "", "the file measured"}, {"digest", "", "SHA-256 of its links"}};
    if (r->nrows == 0) return 0;
    const int there = H5Lexists(file, r->group, H5P_DEFAULT) > 0;
    const hid_t group = there ? H5Gopen2(file, r->group, H5P_DEFAULT)
                              : H5Gcreate2(file, r->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0 || (there && !same_columns(group, r))) {
        snprintf(message, size,
                 "%s: /%s is there already and has other columns; write to another file, or rename the section", path,
                 r->group);
        if (group >= 0) H5Gclose(group);
        return -1;
    }
    int bad = extend_text(group, &texts[0], config, TABLE_CONFIG_SIZE, r->nrows) ||
              extend_text(group, &texts[1], digest, TABLE_DIGEST_SIZE, r->nrows);
    for (int i = 0; i < r->ncolumns && !bad; i++) bad = extend_reals(group, r, i);
    bad |= H5Gclose(group) < 0;
    if (bad) snprintf(message, size, "%s: the rows of /%s cannot be written (disk full?)", path, r->group);
    return bad ? -1 : 0;
}

/* The first `bytes` of one file to the start of the other. */
static int copy_bytes(int to, int from, uint64_t bytes)
{
    static char buffer[1 << 16];
    for (uint64_t at = 0; at < bytes;) {
        const size_t n = bytes - at < sizeof buffer ? (size_t)(bytes - at) : sizeof buffer;
        if (links_pread(from, buffer, n, at) || links_pwrite(to, buffer, n, at)) return -1;
        at += n;
    }
    return 0;
}

/* The temporary file: empty, or a copy of the older one, `from`. */
static int begin_copy(atomic_file *a, int from, uint64_t bytes, char *message, size_t size)
{
    const int to = open(a->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int bad = to < 0;
    if (bad) links_fail(message, size, "%s: cannot be created: %s", a->path, strerror(errno));
    else if (from >= 0 && (bad = copy_bytes(to, from, bytes)) != 0)
        links_fail(message, size, "%s: cannot be copied to %s: %s", a->path, a->temporary, strerror(errno));
    if (to >= 0 && close(to) != 0 && !bad)
        bad = links_fail(message, size, "%s: cannot be written: %s", a->path, strerror(errno));
    if (bad) atomic_abandon(a);
    return bad;
}

/* The temporary file, ready for rows; -1 with a message. */
static hid_t open_tables(atomic_file *a, const char *path, char *message, size_t size)
{
    struct stat st;
    uint64_t bytes = 0;
    const char *why;
    int from = -1;
    const int there = stat(path, &st) == 0;
    if (there && (from = regular_open(path, &bytes, &why)) < 0) {
        links_fail(message, size, "%s: %s", path, why);
        return -1;
    }
    hid_t file = -1;
    if (!atomic_begin(a, path, bytes + ROOM, message, size) && !begin_copy(a, from, bytes, message, size)) {
        file = there ? H5Fopen(a->temporary, H5F_ACC_RDWR, H5P_DEFAULT)
                     : H5Fcreate(a->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        if (file < 0)
            links_fail(message, size, there ? "%s: not an HDF5 file, or damaged" : "%s: HDF5 cannot create it", path);
        if (file < 0) atomic_abandon(a);
    }
    if (from >= 0) close(from);
    return file;
}

static int append_local(const char *path, const char *config, const char *digest, const table_rows *rows, int n,
                        char *message, size_t size)
{
    atomic_file a;
    int bad = 0;
    values_silence();
    const hid_t file = open_tables(&a, path, message, size);
    if (file < 0) return -1;
    for (int i = 0; i < n && !bad; i++) bad = append_one(file, path, config, digest, &rows[i], message, size);
    if (H5Fclose(file) < 0 && !bad) {
        snprintf(message, size, "%s: cannot be written (disk full?)", path);
        bad = 1;
    }
    if (!bad) return atomic_commit(&a, message, size);
    atomic_abandon(&a);
    return -1;
}

int table_append(const char *path, const char *config, const char *digest, const table_rows *rows, int n, char *message,
                 size_t size)
{
    int bad = 0;
    if (comm_rank() == 0) bad = append_local(path, config, digest, rows, n, message, size);
    return comm_any_bad(bad != 0, message, size) ? -1 : 0;
}
