#include "io/history/propagator_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "io/links/links_format.h"
#include "io/links/links_rows.h"
#include "kernels/lattice/comm.h"

enum { VERSION = 1, MOST_RANK = 9 };

static int agree(int bad, char *message, size_t size)
{
    double worst = bad;
    comm_max(&worst, 1);
    comm_any_bad(bad, message, size);
    return (int)worst;
}

/* ---- the shape ---- */

static size_t reals_of(const propagator_file *f)
{
    return (size_t)(6 * f->spins * f->columns);
}

static size_t site_bytes(const propagator_file *f)
{
    return reals_of(f) * (size_t)f->bits / 8;
}

uint64_t propagator_file_bytes(const propagator_file *f)
{
    return links_sites(f->size) * site_bytes(f);
}

static int extents_of(const propagator_file *f, hsize_t n[MOST_RANK])
{
    int rank = 0;
    for (int d = 3; d >= 0; d--) n[rank++] = (hsize_t)f->size[d];
    if (f->spins > 1) n[rank++] = (hsize_t)f->columns / 3;
    n[rank++] = f->spins > 1 ? 3 : (hsize_t)f->columns;
    if (f->spins > 1) n[rank++] = (hsize_t)f->spins;
    n[rank++] = 3;
    n[rank++] = 2;
    return rank;
}

/* ---- numbers ---- */

static void encode(const double *x, size_t n, int bits, unsigned char *to)
{
    for (size_t i = 0; i < n; i++, to += bits / 8) {
        uint64_t w;
        uint32_t v;
        const float single = (float)x[i];
        memcpy(&w, x + i, sizeof w);
        memcpy(&v, &single, sizeof v);
        if (bits == 64) store64(to, w, 0);
        else store32(to, v, 0);
    }
}

static void decode(const unsigned char *from, size_t n, int bits, double *x)
{
    for (size_t i = 0; i < n; i++, from += bits / 8) {
        const uint64_t w = bits == 64 ? load64(from, 0) : 0;
        const uint32_t v = bits == 64 ? 0 : load32(from, 0);
        float single;
        memcpy(&single, &v, sizeof single);
        if (bits == 64) memcpy(x + i, &w, sizeof w);
        else x[i] = single;
    }
}

void propagator_round(field *columns)
{
    const lattice *lat = columns->lat;
    const size_t n = (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2] *
                     (size_t)(columns->groups * columns->reals);
    double *slice = field_slice_buffer(columns);
    for (int t = 0; t < field_slices(columns); t++) {
        field_export(columns, t, slice);
        for (size_t i = 0; i < n; i++) slice[i] = (float)slice[i];
        field_import(columns, t, slice);
    }
    free(slice);
}

/* ---- structure, on rank 0 ---- */

static const char *const extent_names[4] = {"size_x", "size_y", "size_z", "size_t"};

static hid_t create_dataset(hid_t file, const char *name, hid_t type, int rank, const hsize_t *n, int hole)
{
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, n, NULL);
    H5Pset_layout(plist, H5D_CONTIGUOUS);
    H5Pset_obj_track_times(plist, 0);
    if (hole) {
        H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
    }
    const hid_t d = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(plist);
    return d;
}

static int put_solves(hid_t file, const propagator_file *f)
{
    const hsize_t n[2] = {(hsize_t)f->nsolves, PROPAGATOR_VALUES};
    if (f->nsolves == 0) return 0;
    const hid_t d = create_dataset(file, "solves", H5T_IEEE_F64LE, 2, n, 0);
    int bad = d < 0 || H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->solves) < 0;
    if (d >= 0) bad |= H5Dclose(d) < 0;
    return bad;
}

/* The structure with the checksum of *f; the numbers are allotted space at f->data, but not written. */
static int build(hid_t file, propagator_file *f, const char *program)
{
    hsize_t n[MOST_RANK];
    char words[32];
    int bad = values_put_text(file, VALUES_KIND, VALUES_PROPAGATOR) || values_put_int(file, "format_version", VERSION);
    for (int d = 0; d < 4; d++) bad = bad || values_put_int(file, extent_names[d], f->size[d]);
    bad = bad || values_put_text(file, "links", f->links) || values_put_int(file, "trajectory", f->trajectory);
    bad = bad || values_put_text(file, "program", program) || values_put_long_text(file, "identity", f->identity);
    bad = bad || put_solves(file, f);
    const int rank = extents_of(f, n);
    const hid_t d = create_dataset(file, "propagator", f->bits == 64 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE, rank, n, 1);
    snprintf(words, sizeof words, "%08x %08x", f->checksum[0], f->checksum[1]);
    bad = bad || d < 0 || values_put_text(d, "checksum", words);
    bad = bad || values_put_text(d, "axes",
                                 f->spins > 1 ? "t z y x source_spin source_colour spin colour complex"
                                              : "t z y x source_colour colour complex");
    if (d >= 0) {
        const haddr_t at = H5Dget_offset(d);
        bad = bad || at == HADDR_UNDEF;
        f->data = (uint64_t)at;
        bad = H5Dclose(d) < 0 || bad;
    }
    return bad;
}

static image *build_in_memory(propagator_file *f, const char *program, const char *path, char *message, size_t size)
{
    values_silence();
    image *m = image_create();
    if (m && !build(image_file(m), f, program) && !image_finish(m)) return m;
    image_close(m);
    file_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
    return NULL;
}

/* Structure, checksum and seal around the numbers that are in the file. */
static int finish(const char *path, const propagator_file *f, const char *program, char *message, size_t size)
{
    propagator_file again = *f;
    const seal_regions out = {1, {f->data}, {propagator_file_bytes(f)}};
    image *m = build_in_memory(&again, program, path, message, size);
    if (!m) return LINKS_UNREADABLE;
    REQUIRE(again.data == f->data, "the numbers were at byte %llu, now at %llu", (unsigned long long)f->data,
            (unsigned long long)again.data);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int bad = fd < 0 || image_copy(m, fd, f->data, out.bytes[0]);
    if (fd >= 0 && close(fd) != 0) bad = 1;
    if (bad) file_fail(message, size, "%s: the file cannot be completed: %s", path, strerror(errno));
    image_close(m);
    return bad ? LINKS_UNREADABLE : seal_write(path, &out, message, size);
}

/* ---- the numbers, on all ranks ---- */

static void pass_checksum(uint32_t to[2], const uint32_t from[2])
{
    memcpy(to, from, 2 * sizeof *to);
    comm_xor_u32(to, 2);
}

/* Writes this rank's sites to their places, and adds up their checksum. */
static int write_sites(const char *path, const field *columns, propagator_file *f, char *message, size_t size)
{
    const lattice *lat = columns->lat;
    const size_t site = site_bytes(f), reals = reals_of(f), bytes = rows_get(lat, 0, 0).n * site;
    uint32_t sums[2] = {0, 0};
    double *slice = field_slice_buffer(columns);
    unsigned char *raw = malloc(bytes);
    REQUIRE_MEMORY(raw, "out of memory: %zu bytes", bytes);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int bad = fd < 0;
    for (int t = 0; t < lat->local[3] && !bad; t++) {
        field_export(columns, t, slice);
        for (int i = 0; i < rows_count(lat) && !bad; i++) {
            const rows_run r = rows_get(lat, t, i);
            encode(slice + reals * r.start, reals * r.n, f->bits, raw);
            scidac_add(sums, r.site, raw, r.n, site);
            bad = file_pwrite(fd, raw, bytes, f->data + r.site * site) != 0;
        }
    }
    if (!bad) bad = fsync(fd) != 0;
    if (bad) file_fail(message, size, "%s: writing the propagator: %s (rank %d)", path, strerror(errno), comm_rank());
    if (fd >= 0 && close(fd) != 0 && !bad)
        bad = file_fail(message, size, "%s: writing the propagator: %s (rank %d)", path, strerror(errno), comm_rank());
    free(raw);
    free(slice);
    bad = agree(bad ? LINKS_UNREADABLE : 0, message, size);
    pass_checksum(f->checksum, sums);
    return bad;
}

int propagator_file_read(const char *path, const propagator_file *f, const lattice *lat, field *columns, char *message,
                         size_t size)
{
    const size_t site = site_bytes(f), reals = reals_of(f), bytes = rows_get(lat, 0, 0).n * site,
                 sites = (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    uint32_t sums[2] = {0, 0}, found[2];
    double *slice = malloc((columns ? sites * reals : 1) * sizeof *slice);
    unsigned char *raw = malloc(bytes);
    REQUIRE_MEMORY(slice && raw, "out of memory: %zu bytes", sites * reals * sizeof *slice + bytes);
    int bad = 0;
    const int fd = file_open(path, NULL, &bad, message, size);
    for (int t = 0; t < lat->local[3] && !bad; t++) {
        for (int i = 0; i < rows_count(lat) && !bad; i++) {
            const rows_run r = rows_get(lat, t, i);
            if (file_pread(fd, raw, bytes, f->data + r.site * site))
                bad = file_fail_read(message, size, path, "the propagator");
            else scidac_add(sums, r.site, raw, r.n, site);
            if (columns && !bad) decode(raw, reals * r.n, f->bits, slice + reals * r.start);
        }
        if (columns && !bad) field_import(columns, t, slice);
    }
    if (fd >= 0) close(fd);
    free(raw);
    free(slice);
    bad = agree(bad, message, size);
    pass_checksum(found, sums);
    if (bad || !memcmp(found, f->checksum, sizeof found)) return bad;
    file_fail(message, size, "%s: the propagator is damaged: its checksum is %08x %08x, the file says %08x %08x", path,
              found[0], found[1], f->checksum[0], f->checksum[1]);
    return LINKS_BAD_CHECKSUM;
}

/* ---- writing ---- */

/* The temporary file, and the place of the numbers in it. Rank 0. */
static int begin(atomic_file *a, const char *path, propagator_file *f, const char *program, char *message, size_t size)
{
    image *m = build_in_memory(f, program, path, message, size);
    image_close(m);
    if (!m) return LINKS_UNREADABLE;
    const int fd =
        atomic_begin(a, path, propagator_file_bytes(f), message, size) ? -1 : atomic_create(a, message, size);
    if (fd < 0) return LINKS_UNREADABLE;
    if (close(fd) == 0) return 0;
    atomic_abandon(a);
    return file_fail(message, size, "%s: cannot be created: %s", path, strerror(errno));
}

/* The file is read from disk, not from memory of the system. */
static void forget(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

int propagator_file_write(const char *path, const field *columns, const propagator_file *of, const char *program,
                          char *message, size_t size)
{
    const int root = comm_rank() == 0;
    propagator_file f = *of;
    atomic_file a;
    REQUIRE(columns->par == PARITY_BOTH && columns->prec == PREC_DOUBLE && columns->Ls == 1, "a %s of %d slices",
            field_kinds[columns->kind].name, columns->Ls);
    memcpy(f.size, columns->lat->size, sizeof f.size);
    f.columns = columns->nrhs;
    f.spins = columns->reals / 6;
    f.checksum[0] = f.checksum[1] = 0;
    int bad = agree(root ? begin(&a, path, &f, program, message, size) : 0, message, size);
    if (bad) return bad;
    comm_bcast(&a, sizeof a);
    comm_bcast(&f.data, sizeof f.data);
    bad = write_sites(a.temporary, columns, &f, message, size);
    if (!bad) bad = agree(root ? finish(a.temporary, &f, program, message, size) : 0, message, size);
    if (!bad) {
        if (root) bad = atomic_sync(a.temporary, message, size) ? LINKS_UNREADABLE : 0;
        forget(a.temporary);
        bad = agree(bad, message, size);
        if (!bad) bad = propagator_file_read(a.temporary, &f, columns->lat, NULL, message, size);
    }
    if (root && bad) atomic_abandon(&a);
    else if (root) bad = atomic_commit(&a, message, size) ? LINKS_UNREADABLE : 0;
    return agree(bad, message, size);
}

/* ---- reading ---- */

static int get_small(hid_t where, const char *name, int *value)
{
    int64_t found = 0;
    const int bad = values_get_int(where, name, &found) || found < 1 || found > LINKS_MAX_EXTENT;
    *value = bad ? 0 : (int)found;
    return bad;
}

/* Shape, bits, place and checksum of the numbers; nonzero where they are none that is written here. */
static int take_dataset(hid_t d, propagator_file *f)
{
    hsize_t n[MOST_RANK], want[MOST_RANK];
    char words[32];
    unsigned checksum[2];
    const hid_t space = H5Dget_space(d), type = H5Dget_type(d), plist = H5Dget_create_plist(d);
    const int rank = H5Sget_simple_extent_ndims(space);
    int bad = (rank != 9 && rank != 7) || H5Sget_simple_extent_dims(space, n, NULL) != rank;
    bad = bad || H5Tget_class(type) != H5T_FLOAT || H5Tget_order(type) != H5T_ORDER_LE ||
          H5Pget_layout(plist) != H5D_CONTIGUOUS;
    f->bits = bad ? 0 : 8 * (int)H5Tget_size(type);
    f->spins = rank == 9 ? 4 : 1;
    for (int i = 0; i < rank && !bad; i++) bad = n[i] > LINKS_MAX_EXTENT;
    if (!bad) f->columns = rank == 9 ? 3 * (int)n[4] : (int)n[4];
    bad = bad || (f->bits != 64 && f->bits != 32) || extents_of(f, want) != rank || f->columns < 1 ||
          memcmp(n, want, (size_t)rank * sizeof *n) != 0;
    f->data = (uint64_t)H5Dget_offset(d);
    bad = bad || f->data == (uint64_t)HADDR_UNDEF || values_get_text(d, "checksum", words, sizeof words) ||
          sscanf(words, "%8x %8x", &checksum[0], &checksum[1]) != 2;
    for (int i = 0; i < 2 && !bad; i++) f->checksum[i] = checksum[i];
    H5Pclose(plist);
    H5Tclose(type);
    H5Sclose(space);
    return bad;
}

static int take_solves(hid_t file, propagator_file *f)
{
    hsize_t n[2] = {0, 0};
    if (H5Lexists(file, "solves", H5P_DEFAULT) <= 0) return 0;
    const hid_t d = H5Dopen2(file, "solves", H5P_DEFAULT), space = H5Dget_space(d);
    int bad = H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, n, NULL) != 2 ||
              n[0] > PROPAGATOR_SOLVES || n[1] != PROPAGATOR_VALUES;
    bad = bad || H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->solves) < 0;
    f->nsolves = bad ? 0 : (int)n[0];
    H5Sclose(space);
    H5Dclose(d);
    return bad;
}

static int take_all(hid_t file, propagator_file *f)
{
    int64_t version = 0;
    int bad = values_get_int(file, "format_version", &version) || version != VERSION;
    for (int d = 0; d < 4; d++) bad = bad || get_small(file, extent_names[d], &f->size[d]);
    bad = bad || values_get_text(file, "links", f->links, sizeof f->links) ||
          values_get_int(file, "trajectory", &f->trajectory) || take_solves(file, f);
    bad = bad || H5Lexists(file, "propagator", H5P_DEFAULT) <= 0;
    const hid_t d = bad ? -1 : H5Dopen2(file, "propagator", H5P_DEFAULT);
    bad = bad || d < 0 || take_dataset(d, f);
    if (d >= 0) H5Dclose(d);
    f->identity = bad ? NULL : values_get_long_text(file, "identity");
    return bad || !f->identity;
}

static int look_here(const char *path, propagator_file *f, char *message, size_t size)
{
    char kind[VALUES_KIND_SIZE];
    seal_regions out;
    values_silence();
    int bad = values_kind(path, kind, message, size);
    if (bad) return bad;
    if (strcmp(kind, VALUES_PROPAGATOR))
        return LINKS_NO_LATTICE | file_fail(message, size, "%s is %s, and not " VALUES_PROPAGATOR, path, kind);
    image *m = image_read(path, &out, &bad, message, size);
    if (!m) return bad;
    if (take_all(image_file(m), f))
        bad = file_fail(message, size, "%s: " VALUES_PROPAGATOR " without all of its values", path);
    else if (out.n != 1 || out.start[0] != f->data || out.bytes[0] != propagator_file_bytes(f))
        bad = file_fail(message, size, "%s: the seal leaves out other bytes than those of the propagator", path);
    image_close(m);
    return bad;
}

int propagator_file_look(const char *path, propagator_file *f, char *message, size_t size)
{
    *f = (propagator_file){0};
    const int root = comm_rank() == 0, bad = agree(root ? look_here(path, f, message, size) : 0, message, size);
    if (bad) {
        propagator_file_free(f);
        return bad;
    }
    char *identity = f->identity;
    size_t n = identity ? strlen(identity) + 1 : 0;
    comm_bcast(f, sizeof *f);
    comm_bcast(&n, sizeof n);
    f->identity = root ? identity : malloc(n);
    REQUIRE_MEMORY(f->identity, "out of memory: %zu bytes", n);
    comm_bcast(f->identity, n);
    return 0;
}

void propagator_file_free(propagator_file *f)
{
    free(f->identity);
    *f = (propagator_file){0};
}
