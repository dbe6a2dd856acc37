/* Propagators and gauge transformations as plaq's own HDF5 files.
 *
 * Dataset `propagator` [t][z][y][x][source spin][source colour][spin][colour][re, im], contiguous, little-endian floats of 64 or 32
 * bits; without the two spins for quarks that have none. A gauge transformation is
 * the dataset `transformation` [t][z][y][x][row][column][re, im]. Its attribute `checksum` holds the two words of the SciDAC checksum of its
 * bytes. Dataset `solves` [solves][values]: how each solve went that it is made of, itself first. Attributes of the file: size, links,
 * trajectory, program; dataset `identity`.
 *
 * The user block is a seal (io/files/seal.h) over all but this dataset, which the checksum guards. The bytes do not depend on
 * ranks or time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "io/files/seal.h"
#include "io/history/propagator_format.h"
#include "io/links/links_format.h"

enum { VERSION = 1, MOST_RANK = 9 };

/* Kind of the file and name of the dataset, by is_transformation. */
static const char *const kinds[2] = {VALUES_PROPAGATOR, VALUES_TRANSFORMATION}, *const datasets[2] = {"propagator",
                                                                                                      "transformation"};

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

/* ---- writing ---- */

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
    int bad = values_put_text(file, VALUES_KIND, kinds[f->is_transformation]) ||
              values_put_int(file, "format_version", VERSION);
    for (int d = 0; d < 4; d++) bad = bad || values_put_int(file, extent_names[d], f->size[d]);
    bad = bad || values_put_text(file, "links", f->links) || values_put_int(file, "trajectory", f->trajectory);
    bad = bad || values_put_text(file, "program", program) || values_put_long_text(file, "identity", f->identity);
    bad = bad || put_solves(file, f);
    const int rank = extents_of(f, n);
    const hid_t d = create_dataset(file, datasets[f->is_transformation],
                                   f->bits == 64 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE, rank, n, 1);
    snprintf(words, sizeof words, "%08x %08x", f->checksum[0], f->checksum[1]);
    bad = bad || d < 0 || values_put_text(d, "checksum", words);
    bad = bad || values_put_text(d, "axes",
                                 f->is_transformation ? "t z y x row column complex"
                                 : f->spins > 1       ? "t z y x source_spin source_colour spin colour complex"
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

static int prepare(const char *path, propagator_file *f, const char *program, char *message, size_t size)
{
    image *m = build_in_memory(f, program, path, message, size);
    image_close(m);
    return m ? 0 : LINKS_UNREADABLE;
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

/* ---- reading ---- */

static int probe(const unsigned char *first, size_t n)
{
    return seal_present(first, n) || (n >= 8 && !memcmp(first, "\x89HDF\r\n\x1a\n", 8));
}

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
    f->has_checksum = !bad;
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
    bad = bad || H5Lexists(file, datasets[f->is_transformation], H5P_DEFAULT) <= 0;
    const hid_t d = bad ? -1 : H5Dopen2(file, datasets[f->is_transformation], H5P_DEFAULT);
    bad = bad || d < 0 || take_dataset(d, f);
    if (d >= 0) H5Dclose(d);
    f->identity = bad ? NULL : values_get_long_text(file, "identity");
    return bad || !f->identity;
}

static int look(const char *path, propagator_file *f, char *message, size_t size)
{
    char kind[VALUES_KIND_SIZE];
    seal_regions out;
    values_silence();
    int bad = 0;
    image *m = image_look(path, kind, &out, &bad, message, size);
    if (bad) return bad;
    f->is_transformation = !strcmp(kind, VALUES_TRANSFORMATION);
    if (strcmp(kind, kinds[f->is_transformation]))
        bad = LINKS_NO_LATTICE | file_fail(message, size, "%s is %s, and not " VALUES_PROPAGATOR, path, kind);
    else if (take_all(image_file(m), f)) bad = file_fail(message, size, "%s: %s without all of its values", path, kind);
    else if (out.n != 1 || out.start[0] != f->data || out.bytes[0] != propagator_file_bytes(f))
        bad = file_fail(message, size, "%s: the seal leaves out other bytes than those of the numbers", path);
    image_close(m);
    return bad;
}

const propagator_format propagator_format_hdf5 = {
    .name = "hdf5", .transformations = 1, .probe = probe, .look = look, .prepare = prepare, .finish = finish};
