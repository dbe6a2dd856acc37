#include "io/history/eigen_hdf5.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

#define RANK 6

/* ---- a time slice of one block, on all ranks ---- */

typedef struct {
    const field *like; /* block of this lattice and parity */
    int L[4], rows;    /* sites in x of the parity */
    int reals, columns;
    double *local, *all, *one; /* slice of the rank; whole, [z][y][x][column][real]; a column, [z][y][x of par][real] */
} slice;

static size_t slice_sites(const slice *s)
{
    return (size_t)s->L[0] * (size_t)s->L[1] * (size_t)s->L[2];
}

static void slice_open(slice *s, const field *f)
{
    *s = (slice){.like = f, .reals = f->reals * f->Ls, .columns = f->nrhs};
    memcpy(s->L, f->lat->size, sizeof s->L);
    s->rows = f->par == PARITY_BOTH ? s->L[0] : s->L[0] / 2;
    s->local = field_slice_buffer(f);
    const size_t n = slice_sites(s) * (size_t)s->reals;
    s->all = malloc(n * (size_t)s->columns * sizeof *s->all);
    s->one = malloc(n * sizeof *s->one);
    REQUIRE_MEMORY(s->all && s->one, "out of memory for a time slice");
}

static void slice_close(slice *s)
{
    free(s->one);
    free(s->all);
    free(s->local);
}

/* Calls copy(row of all, row of this rank, bytes) for the rows that this rank has of global time t; returns its local time, or
 * -1. */
static int slice_rows(const slice *s, int t, int into_all)
{
    const lattice *lat = s->like->lat;
    const int *l = lat->local, *o = lat->origin, here = t - o[3];
    const size_t row = (size_t)(s->reals * s->columns);
    if (here < 0 || here >= l[3]) return -1;
    for (int z = 0; z < l[2]; z++)
        for (int y = 0; y < l[1]; y++) {
            double *a = s->all + ((size_t)(o[0] + s->L[0] * (y + o[1] + s->L[1] * (z + o[2])))) * row;
            double *b = s->local + (size_t)(l[0] * (y + l[1] * z)) * row;
            memcpy(into_all ? a : b, into_all ? b : a, (size_t)l[0] * row * sizeof *a);
        }
    return here;
}

/* Gathers time slice t of f on all ranks. Collective. */
static void slice_gather(slice *s, const field *f, int t)
{
    const size_t n = slice_sites(s) * (size_t)(s->reals * s->columns);
    const int here = t - f->lat->origin[3];
    memset(s->all, 0, n * sizeof *s->all);
    if (here >= 0 && here < f->lat->local[3]) field_export(f, here, s->local);
    slice_rows(s, t, 1);
    /* Numbers are zero on all ranks but one, so the sum of their bits copies them. */
    comm_sum_u64((uint64_t *)(void *)s->all, (int)n);
}

static void slice_scatter(slice *s, field *f, int t)
{
    const int here = slice_rows(s, t, 0);
    if (here >= 0) field_import(f, here, s->local);
}

/* Column k of all, the sites of the parity alone, to `one` or from there. */
static void slice_column(slice *s, int k, int t, int out)
{
    const size_t bytes = (size_t)s->reals * sizeof *s->one;
    double *at = s->one;
    for (int z = 0; z < s->L[2]; z++)
        for (int y = 0; y < s->L[1]; y++)
            for (int x = 0; x < s->L[0]; x++) {
                if (s->like->par != PARITY_BOTH && ((x + y + z + t) & 1) != (int)s->like->par) continue;
                double *a = s->all + ((size_t)(x + s->L[0] * (y + s->L[1] * z)) * (size_t)s->columns + (size_t)k) *
                                         (size_t)s->reals;
                memcpy(out ? at : a, out ? a : at, bytes);
                at += s->reals;
            }
}

/* ---- the file, on rank 0 ---- */

/* A dataset of doubles without a date, so that the same contents are the same bytes. */
static hid_t create_dataset(hid_t file, const char *name, int rank, const hsize_t *extents)
{
    const hid_t space = H5Screate_simple(rank, extents, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(plist, 0);
    const hid_t d = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    H5Pclose(plist);
    H5Sclose(space);
    return d;
}

static int put_reals(hid_t file, const char *name, int n, const double *values)
{
    const hsize_t extent = (hsize_t)n;
    const hid_t d = create_dataset(file, name, 1, &extent);
    int bad = d < 0 || H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
    if (d >= 0) bad |= H5Dclose(d) < 0;
    return bad;
}

/* The values of a dataset of one dimension; null where there is none, or another number than *n, unless that is zero. */
static double *get_reals(hid_t file, const char *name, int *n)
{
    hsize_t extent = 0;
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return NULL;
    const hid_t d = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(d);
    double *values = NULL;
    if (H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && extent >= 1 &&
        extent < 1u << 20 && (!*n || *n == (int)extent)) {
        *n = (int)extent;
        values = malloc((size_t)extent * sizeof *values);
        if (values && H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
            free(values);
            values = NULL;
        }
    }
    H5Sclose(space);
    H5Dclose(d);
    return values;
}

static void extents(const slice *s, int n, hsize_t e[RANK])
{
    const int all[RANK] = {n, s->L[3], s->L[2], s->L[1], s->rows, s->reals};
    for (int i = 0; i < RANK; i++) e[i] = (hsize_t)all[i];
}

/* Copies one time slice of one vector between the dataset and `one`. */
static int transfer(hid_t d, slice *s, int pair, int t, int writes)
{
    hsize_t count[RANK], start[RANK] = {(hsize_t)pair, (hsize_t)t, 0, 0, 0, 0};
    extents(s, 1, count);
    count[1] = 1;
    const hid_t file = H5Dget_space(d), memory = H5Screate_simple(RANK, count, NULL);
    int bad = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) < 0;
    bad = bad || (writes ? H5Dwrite(d, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, s->one)
                         : H5Dread(d, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, s->one)) < 0;
    H5Sclose(memory);
    H5Sclose(file);
    return bad;
}

static const char *const extent_names[4] = {"size_x", "size_y", "size_z", "size_t"};

static int put_header(hid_t file, const eigen_file *f, const field *like, const char *program)
{
    int bad = values_put_text(file, VALUES_KIND, VALUES_EIGENVECTORS);
    bad = bad || put_reals(file, "values", f->n, f->values) || put_reals(file, "residuals", f->n, f->residuals);
    for (int d = 0; d < 4; d++) bad = bad || values_put_int(file, extent_names[d], like->lat->size[d]);
    bad = bad || values_put_int(file, "parity", (int)like->par);
    bad = bad || values_put_text(file, "links", f->links) || values_put_long_text(file, "quark", f->quark);
    return bad || values_put_text(file, "program", program);
}

/* Broadcasts the status and message of rank 0. */
static int agree(int bad, char *message, size_t size)
{
    comm_bcast(&bad, sizeof bad);
    comm_bcast(message, size);
    return bad;
}

int eigen_file_write(const char *path, const eigen_file *f, field *const *blocks, int block, const char *program,
                     char *message, size_t size)
{
    const int root = comm_rank() == 0;
    image *m = NULL;
    hid_t d = -1;
    int bad = 0;
    for (int first = 0; first < f->n; first += block) {
        slice s;
        slice_open(&s, blocks[first / block]);
        if (root && first == 0) {
            hsize_t e[RANK];
            values_silence();
            m = image_create();
            bad = !m || put_header(image_file(m), f, blocks[0], program);
            extents(&s, f->n, e);
            if (!bad) d = create_dataset(image_file(m), "vectors", RANK, e);
            bad = bad || d < 0;
        }
        for (int t = 0; t < s.L[3]; t++) {
            slice_gather(&s, blocks[first / block], t);
            for (int k = 0; root && k < s.columns && !bad; k++) {
                slice_column(&s, k, t, 1);
                bad = transfer(d, &s, first + k, t, 1);
            }
        }
        slice_close(&s);
    }
    if (root) {
        if (d >= 0) bad |= H5Dclose(d) < 0;
        if (bad) snprintf(message, size, "%s: the HDF5 library cannot make the file", path);
        if (!bad) bad = image_write(m, path, message, size);
        else if (m) image_close(m);
    }
    return agree(bad, message, size);
}

static int get_small(hid_t file, const char *name, int *value)
{
    int64_t found = 0;
    const int bad = values_get_int(file, name, &found) || found < 0 || found > INT_MAX;
    *value = bad ? 0 : (int)found;
    return bad;
}

static int look_here(const char *path, eigen_file *f, char *message, size_t size)
{
    int bad = 0;
    values_silence();
    f->image = image_of_kind(path, VALUES_EIGENVECTORS, &bad, message, size);
    if (bad) return bad;
    const hid_t file = image_file(f->image);
    f->values = get_reals(file, "values", &f->n);
    f->residuals = f->values ? get_reals(file, "residuals", &f->n) : NULL;
    char *quark = values_get_long_text(file, "quark");
    bad = !f->residuals || !quark || strlen(quark) >= sizeof f->quark ||
          values_get_text(file, "links", f->links, sizeof f->links);
    for (int d = 0; d < 4; d++) bad = bad || get_small(file, extent_names[d], &f->size[d]);
    bad = bad || get_small(file, "parity", &f->parity) || f->parity > PARITY_BOTH;
    if (!bad) snprintf(f->quark, sizeof f->quark, "%s", quark);
    else snprintf(message, size, "%s: " VALUES_EIGENVECTORS " without all of its values", path);
    free(quark);
    return bad;
}

void eigen_file_close(eigen_file *f)
{
    image_close(f->image);
    free(f->values);
    free(f->residuals);
    *f = (eigen_file){0};
}

int eigen_file_open(const char *path, eigen_file *f, char *message, size_t size)
{
    *f = (eigen_file){0};
    const int bad = agree(comm_rank() == 0 ? look_here(path, f, message, size) : 0, message, size);
    if (bad) {
        eigen_file_close(f);
        return bad;
    }
    comm_bcast(&f->n, sizeof f->n);
    if (comm_rank() != 0) {
        f->values = malloc((size_t)f->n * sizeof *f->values);
        f->residuals = malloc((size_t)f->n * sizeof *f->residuals);
        REQUIRE_MEMORY(f->values && f->residuals, "out of memory for %d values", f->n);
    }
    comm_bcast(f->values, (size_t)f->n * sizeof *f->values);
    comm_bcast(f->residuals, (size_t)f->n * sizeof *f->residuals);
    comm_bcast(f->links, sizeof f->links);
    comm_bcast(f->quark, sizeof f->quark);
    comm_bcast(f->size, sizeof f->size);
    comm_bcast(&f->parity, sizeof f->parity);
    return 0;
}

/* Checks the dataset: nonzero unless it has this shape and parity, and n vectors or more. */
static int check_vectors(hid_t file, hid_t d, const slice *s, int n)
{
    hsize_t e[RANK], want[RANK];
    int64_t par = -1;
    extents(s, n, want);
    if (d < 0 || values_get_int(file, "parity", &par) || par != (int64_t)s->like->par) return 1;
    const hid_t space = H5Dget_space(d);
    int bad = H5Sget_simple_extent_ndims(space) != RANK || H5Sget_simple_extent_dims(space, e, NULL) != RANK;
    H5Sclose(space);
    for (int i = 0; i < RANK; i++) bad = bad || (i ? e[i] != want[i] : e[i] < want[i]);
    return bad;
}

int eigen_file_read(const eigen_file *f, const char *path, int n, field *const *blocks, int block, char *message,
                    size_t size)
{
    const int root = comm_rank() == 0;
    int bad = 0;
    hid_t d = -1;
    for (int first = 0; first < n && !agree(bad, message, size); first += block) {
        slice s;
        slice_open(&s, blocks[first / block]);
        if (root && first == 0) {
            const hid_t file = image_file(f->image);
            if (H5Lexists(file, "vectors", H5P_DEFAULT) > 0) d = H5Dopen2(file, "vectors", H5P_DEFAULT);
            bad = check_vectors(file, d, &s, n);
            if (bad)
                snprintf(message, size, "%s: vectors of another lattice or quark, or fewer than %d of them", path, n);
        }
        for (int t = 0; t < s.L[3]; t++) {
            memset(s.all, 0, slice_sites(&s) * (size_t)(s.reals * s.columns) * sizeof *s.all);
            for (int k = 0; root && k < s.columns && !bad; k++) {
                bad = transfer(d, &s, first + k, t, 0);
                if (bad) snprintf(message, size, "%s: vector %d cannot be read", path, first + k);
                slice_column(&s, k, t, 0);
            }
            comm_bcast(s.all, slice_sites(&s) * (size_t)(s.reals * s.columns) * sizeof *s.all);
            slice_scatter(&s, blocks[first / block], t);
        }
        slice_close(&s);
    }
    if (d >= 0) H5Dclose(d);
    return agree(bad, message, size);
}
