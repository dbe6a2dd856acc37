/* plaq's own HDF5 file of links.
 *
 * Dataset `links` [t][z][y][x][mu][row][column][re, im], contiguous, 64-bit floats of either byte order (written
 * big-endian), mu = x y z t; on it the attributes
 *   format_version 1   size [x y z t]   plaquette (if known)   link_trace   sequence   sha256: the digest of the links
 *   checksum: the two words of the SciDAC checksum of the stored bytes
 *   ensemble: the label, if there is one; parameters of the ensemble and program: what wrote it, likewise
 * The user block is a seal (io/files/seal.h) over all but the links, which the checksum guards. So every byte of the file is
 * verified, and the HDF5 library meets only files that are whole.
 *
 * The library makes and reads the structure, on rank 0. The links, contiguous in the file, are read and written by all
 * ranks at their offsets like those of any other format: no parallel HDF5 is needed. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/checksum.h"
#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "io/links/links_format.h"
#include "io/files/seal.h"

#define RANK 8
#define VERSION 1

static int probe(int fd, const unsigned char *first, size_t n)
{
    (void)fd;
    return seal_present(first, n) || (n >= 8 && !memcmp(first, "\x89HDF\r\n\x1a\n", 8));
}

/* ---- attributes ---- */

static int put_attribute(hid_t where, const char *name, hid_t file_type, hid_t memory_type, hsize_t n,
                         const void *value)
{
    int bad = 1;
    const hid_t space = n > 1 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    const hid_t a = H5Aexists(where, name) > 0 ? H5Aopen(where, name, H5P_DEFAULT)
                                               : H5Acreate2(where, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a >= 0) {
        bad = H5Awrite(a, memory_type, value) < 0;
        H5Aclose(a);
    }
    H5Sclose(space);
    return bad;
}

static int get_attribute(hid_t where, const char *name, hid_t memory_type, hssize_t n, void *value)
{
    if (H5Aexists(where, name) <= 0) return 1;
    const hid_t a = H5Aopen(where, name, H5P_DEFAULT);
    if (a < 0) return 1;
    const hid_t space = H5Aget_space(a);
    const int bad = H5Sget_simple_extent_npoints(space) != n || H5Aread(a, memory_type, value) < 0;
    H5Sclose(space);
    H5Aclose(a);
    return bad;
}

static hid_t digest_type(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 64);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static int put_all(hid_t d, const links_file *f, const links_meta *meta, const links_sums *s, const char *digest)
{
    const int version = VERSION;
    char hex[64] = "";
    memcpy(hex, digest, strlen(digest) < 64 ? strlen(digest) : 64);
    const hid_t text = digest_type();
    int bad = put_attribute(d, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &version);
    bad = bad || put_attribute(d, "size", H5T_STD_I32LE, H5T_NATIVE_INT, 4, f->info.size);
    bad = bad || put_attribute(d, "sequence", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &meta->sequence);
    bad = bad || put_attribute(d, "link_trace", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &f->info.link_trace);
    bad = bad || put_attribute(d, "checksum", H5T_STD_U32LE, H5T_NATIVE_UINT32, 2, s->xored);
    bad = bad || put_attribute(d, "sha256", text, text, 1, hex);
    if (meta->has_plaquette)
        bad = bad || put_attribute(d, "plaquette", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &meta->plaquette);
    if (meta->ensemble && meta->ensemble[0]) bad = bad || values_put_text(d, "ensemble", meta->ensemble);
    if (meta->parameters) bad = bad || values_put_text(d, "parameters", meta->parameters);
    if (meta->program) bad = bad || values_put_text(d, "program", meta->program);
    H5Tclose(text);
    return bad;
}

/* ---- reading ---- */

/* Extents, reals and place of the links. */
static int take_dataset(links_file *f, hid_t d)
{
    static const hsize_t inner[4] = {4, 3, 3, 2};
    hsize_t n[RANK];
    const hid_t space = H5Dget_space(d), type = H5Dget_type(d), plist = H5Dget_create_plist(d);
    int ok = H5Sget_simple_extent_ndims(space) == RANK && H5Sget_simple_extent_dims(space, n, NULL) == RANK;
    ok = ok && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 8 && H5Pget_layout(plist) == H5D_CONTIGUOUS;
    if (ok) {
        const H5T_order_t order = H5Tget_order(type);
        f->big = order == H5T_ORDER_BE;
        ok = f->big || order == H5T_ORDER_LE;
        for (int i = 0; i < 4; i++) {
            ok = ok && n[4 + i] == inner[i] && n[i] <= LINKS_MAX_EXTENT;
            f->info.size[3 - i] = (int)n[i];
        }
    }
    const haddr_t at = H5Dget_offset(d);
    ok = ok && at != HADDR_UNDEF;
    f->data = (uint64_t)at;
    H5Pclose(plist);
    H5Tclose(type);
    H5Sclose(space);
    return ok;
}

static int take_attributes(links_file *f, hid_t d, char *message, size_t size)
{
    int version = 0, s[4];
    char hex[65] = "";
    links_info *i = &f->info;
    const hid_t text = digest_type();
    const int no_digest = get_attribute(d, "sha256", text, 1, hex);
    H5Tclose(text);
    if (get_attribute(d, "format_version", H5T_NATIVE_INT, 1, &version) || version != VERSION)
        return file_fail(message, size, "%s: /links format_version %d, %d is allowed", f->path, version, VERSION);
    if (get_attribute(d, "size", H5T_NATIVE_INT, 4, s) || memcmp(s, i->size, sizeof s))
        return file_fail(message, size, "%s: /links: attribute size is not that of the dataset", f->path);
    if (no_digest || get_attribute(d, "checksum", H5T_NATIVE_UINT32, 2, f->recorded))
        return file_fail(message, size, "%s: /links: no attribute sha256 or checksum", f->path);
    i->has_checksum = 1;
    snprintf(i->checksum, sizeof i->checksum, "%08x %08x", f->recorded[0], f->recorded[1]);
    memcpy(i->digest, hex, sizeof i->digest);
    i->has_plaquette = !get_attribute(d, "plaquette", H5T_NATIVE_DOUBLE, 1, &i->plaquette);
    i->has_link_trace = !get_attribute(d, "link_trace", H5T_NATIVE_DOUBLE, 1, &i->link_trace);
    i->has_sequence = !get_attribute(d, "sequence", H5T_NATIVE_INT, 1, &i->sequence);
    if (values_get_text(d, "ensemble", i->ensemble, sizeof i->ensemble)) i->ensemble[0] = 0;
    if (values_get_text(d, "parameters", i->parameters, sizeof i->parameters)) i->parameters[0] = 0;
    return 0;
}

static int fail_without_links(const links_file *f, hid_t file, char *message, size_t size)
{
    const char *kind = values_kind_of(file);
    return LINKS_NO_LATTICE | file_fail(message, size, "%s: %s, no lattice file; h5dump, h5py or h5ls -r show it",
                                         f->path, kind ? kind : "an HDF5 file without /links");
}

static int read_header(links_file *f, int fd, char *message, size_t size)
{
    seal_regions out;
    unsigned char first[32] = {0};
    const size_t n = f->info.file_bytes < sizeof first ? (size_t)f->info.file_bytes : sizeof first;
    if (file_pread(fd, first, n, 0)) return file_fail_read(message, size, f->path, "the header");
    if (!seal_present(first, n))
        return file_fail(message, size, "%s: an HDF5 file without the seal of plaq: its structure cannot be verified",
                          f->path);
    int bad = 0;
    image *m = image_read(f->path, &out, &bad, message, size);
    if (!m) return bad;
    f->width = 8, f->rows = 3;
    const hid_t d =
        H5Lexists(image_file(m), "links", H5P_DEFAULT) > 0 ? H5Dopen2(image_file(m), "links", H5P_DEFAULT) : -1;
    if (d < 0) bad = fail_without_links(f, image_file(m), message, size);
    else if (!take_dataset(f, d))
        bad = file_fail(message, size, "%s: /links is not contiguous doubles [t][z][y][x][4][3][3][2]", f->path);
    else bad = links_check_size(f, message, size);
    if (!bad) bad = take_attributes(f, d, message, size);
    if (d >= 0) H5Dclose(d);
    image_close(m);
    const uint64_t bytes = bad ? 0 : links_sites(f->info.size) * links_site_bytes(f);
    if (!bad && (out.n != 1 || out.start[0] != f->data || out.bytes[0] != bytes))
        bad = file_fail(message, size, "%s: the seal leaves out other bytes than those of /links", f->path);
    return bad;
}

static void sum(links_sums *s, const links_file *f, uint64_t site, const unsigned char *bytes, size_t n)
{
    scidac_add(s->xored, site, bytes, n, (size_t)links_site_bytes(f));
}

static int verify(const links_file *f, const links_sums *s, char *found, size_t size)
{
    snprintf(found, size, "%08x %08x", s->xored[0], s->xored[1]);
    return s->xored[0] == f->recorded[0] && s->xored[1] == f->recorded[1];
}

/* ---- writing ---- */

/* Structure and attributes; the links are allotted space at f->data, but not written. */
static int build(hid_t file, links_file *f, const links_meta *meta, const links_sums *s, const char *digest)
{
    const int *l = f->info.size;
    const hsize_t n[RANK] = {(hsize_t)l[3], (hsize_t)l[2], (hsize_t)l[1], (hsize_t)l[0], 4, 3, 3, 2};
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(RANK, n, NULL);
    H5Pset_layout(plist, H5D_CONTIGUOUS);
    H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
    H5Pset_obj_track_times(plist, 0);
    const hid_t d = H5Dcreate2(file, "links", H5T_IEEE_F64BE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    int bad = d < 0 || put_all(d, f, meta, s, digest);
    if (d >= 0) {
        const haddr_t at = H5Dget_offset(d);
        bad = bad || at == HADDR_UNDEF;
        f->data = (uint64_t)at;
        bad = H5Dclose(d) < 0 || bad;
    }
    H5Sclose(space);
    H5Pclose(plist);
    return bad || (meta->add && meta->add(file, f->info.link_trace, digest, meta->context));
}

/* The finished structure in memory, the links being a hole in it at f->data; NULL with a message. */
static image *build_in_memory(links_file *f, const links_meta *meta, const links_sums *s, const char *digest,
                              char *message, size_t size)
{
    image *m = image_create();
    if (m && !build(image_file(m), f, meta, s, digest) && !image_finish(m)) return m;
    image_close(m);
    file_fail(message, size, "%s: HDF5 cannot make the file in memory", f->path);
    return NULL;
}

static int prepare(links_file *f, const links_meta *meta, char *message, size_t size)
{
    const links_sums none = {{0, 0}, 0};
    image *m = build_in_memory(f, meta, &none, "", message, size);
    image_close(m);
    return m ? 0 : LINKS_UNREADABLE;
}

static int finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                  size_t size)
{
    links_file again = *f;
    const uint64_t bytes = links_sites(f->info.size) * links_site_bytes(f);
    image *m = build_in_memory(&again, meta, s, digest, message, size);
    if (!m) return LINKS_UNREADABLE;
    REQUIRE(again.data == f->data, "the links were at byte %llu, now at %llu", (unsigned long long)f->data,
            (unsigned long long)again.data);
    const int to = open(f->path, O_WRONLY | O_CLOEXEC);
    int bad = to < 0 || image_copy(m, to, f->data, bytes);
    if (to >= 0 && close(to) != 0) bad = 1;
    if (bad) file_fail(message, size, "%s: the file cannot be completed: %s", f->path, strerror(errno));
    image_close(m);
    if (bad) return LINKS_UNREADABLE;
    const seal_regions out = {1, {f->data}, {bytes}};
    return seal_write(f->path, &out, message, size);
}

const links_format links_format_hdf5 = {.name = "hdf5",
                                        .title = "plaq HDF5",
                                        .endings = ".h5 .hdf5",
                                        .probe = probe,
                                        .read_header = read_header,
                                        .sum = sum,
                                        .verify = verify,
                                        .prepare = prepare,
                                        .finish = finish,
                                        .layouts = LINKS_64,
                                        .wants_digest = 1};
