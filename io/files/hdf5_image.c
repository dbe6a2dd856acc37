#include "io/files/hdf5_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef H5FD_CLASS_VERSION
#include <H5FDdevelop.h>
#endif

#include "io/files/atomic.h"
#include "io/files/file_io.h"

#define BLOCK 65536

struct image {
    unsigned char **block; /* number n holds the bytes from n * BLOCK; NULL where nothing was written */
    uint64_t blocks;
    uint64_t length, end; /* bytes up to the last written; bytes that the library has allotted, where the file ends */
    hid_t file;
};

/* ---- the bytes ---- */

static unsigned char *block_of(image *m, uint64_t number)
{
    if (number >= m->blocks) {
        const uint64_t n = number + 1 + number / 2;
        unsigned char **more = realloc(m->block, n * sizeof *more);
        if (!more) return NULL;
        memset(more + m->blocks, 0, (n - m->blocks) * sizeof *more);
        m->block = more;
        m->blocks = n;
    }
    if (!m->block[number]) m->block[number] = calloc(1, BLOCK);
    return m->block[number];
}

static int put(image *m, uint64_t at, const unsigned char *from, size_t bytes)
{
    if (m->length < at + bytes) m->length = at + bytes;
    while (bytes > 0) {
        const size_t skip = (size_t)(at % BLOCK), n = bytes < BLOCK - skip ? bytes : BLOCK - skip;
        unsigned char *b = block_of(m, at / BLOCK);
        if (!b) return -1;
        memcpy(b + skip, from, n);
        from += n, at += n, bytes -= n;
    }
    return 0;
}

static void get(const image *m, uint64_t at, unsigned char *to, size_t bytes)
{
    while (bytes > 0) {
        const size_t skip = (size_t)(at % BLOCK), n = bytes < BLOCK - skip ? bytes : BLOCK - skip;
        const unsigned char *b = at / BLOCK < m->blocks ? m->block[at / BLOCK] : NULL;
        if (b) memcpy(to, b + skip, n);
        else memset(to, 0, n);
        to += n, at += n, bytes -= n;
    }
}

/* ---- a driver of the library's virtual file layer ---- */

/* The library's file: its own part first. */
typedef struct {
    H5FD_t base;
    image *m;
} driver_file;

/* Driver information in a property list. */
typedef struct {
    image *m;
} driver_info;

static image *image_of(const H5FD_t *file)
{
    return ((const driver_file *)file)->m;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name, (void)flags, (void)most;
    const driver_info *info = H5Pget_driver_info(access);
    driver_file *f = info ? calloc(1, sizeof *f) : NULL;
    if (f) f->m = info->m;
    return (H5FD_t *)f;
}

static herr_t driver_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return image_of(file)->end;
}

static haddr_t driver_length(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return image_of(file)->length;
}

static herr_t driver_set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    image_of(file)->end = end;
    return 0;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *to)
{
    (void)type, (void)transfer;
    get(image_of(file), at, to, bytes);
    return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *from)
{
    (void)type, (void)transfer;
    return put(image_of(file), at, from, bytes);
}

static const H5FD_class_t driver_class = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* number from the range for applications */
#endif
    .name = "plaq_image",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(driver_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_end,
    .set_eoa = driver_set_end,
    .get_eof = driver_length,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY};

/* The property list that opens this image; negative when the library fails. */
static hid_t access_to(image *m)
{
    static hid_t driver = -1;
    const driver_info info = {m};
    values_silence();
    if (driver < 0) driver = H5FDregister(&driver_class);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (driver >= 0 && H5Pset_driver(access, driver, &info) >= 0) return access;
    H5Pclose(access);
    return -1;
}

/* ---- files ---- */

image *image_create(void)
{
    image *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    const hid_t access = access_to(m), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, SEAL_BYTES);
    m->file = access < 0 ? -1 : H5Fcreate("plaq", H5F_ACC_TRUNC, creation, access);
    H5Pclose(creation);
    if (access >= 0) H5Pclose(access);
    if (m->file >= 0) return m;
    image_close(m);
    return NULL;
}

/* The bytes of an open file but for the regions; -1 with errno. */
static int read_bytes(image *m, int fd, uint64_t bytes, const seal_regions *out)
{
    static unsigned char buffer[BLOCK];
    m->length = bytes;
    for (uint64_t at = 0, i = 0; at < bytes;) {
        const int more = i < (uint64_t)out->n;
        const uint64_t stop = more ? out->start[i] : bytes;
        const size_t n = stop - at < sizeof buffer ? (size_t)(stop - at) : sizeof buffer;
        if (file_pread(fd, buffer, n, at) || put(m, at, buffer, n)) return -1;
        at += n;
        if (more && at == stop) at += out->bytes[i++];
    }
    return 0;
}

image *image_read(const char *path, seal_regions *out, int *status, char *message, size_t size)
{
    int ignored;
    uint64_t bytes = 0;
    if (!status) status = &ignored;
    *status = seal_check(path, out, message, size);
    if (*status) return NULL;
    image *m = calloc(1, sizeof *m);
    REQUIRE_MEMORY(m, "out of memory: %zu bytes", sizeof *m);
    m->file = -1;
    const int fd = file_open(path, &bytes, status, message, size);
    if (fd >= 0 && read_bytes(m, fd, bytes, out)) *status = file_fail_read(message, size, path, "the HDF5 structure");
    if (fd >= 0) close(fd);
    const hid_t access = *status ? -1 : access_to(m);
    if (access >= 0) {
        m->file = H5Fopen("plaq", H5F_ACC_RDWR, access);
        H5Pclose(access);
    }
    if (m->file >= 0) return m;
    if (!*status) *status = file_fail(message, size, "%s: HDF5 cannot open the file", path);
    image_close(m);
    return NULL;
}

hid_t image_file(const image *m)
{
    return m->file;
}

int image_finish(image *m)
{
    const int bad = m->file >= 0 && H5Fclose(m->file) < 0;
    m->file = -1;
    return bad;
}

void image_close(image *m)
{
    if (!m) return;
    image_finish(m);
    for (uint64_t i = 0; i < m->blocks; i++) free(m->block[i]);
    free(m->block);
    free(m);
}

/* Writes the bytes of one block that lie between `from` and `to`. */
static int copy_part(const image *m, uint64_t number, int fd, uint64_t from, uint64_t to)
{
    const uint64_t start = number * BLOCK;
    if (from < start) from = start;
    if (to > start + BLOCK) to = start + BLOCK;
    return from < to && file_pwrite(fd, m->block[number] + (from - start), (size_t)(to - from), from);
}

int image_copy(const image *m, int fd, uint64_t hole, uint64_t hole_bytes)
{
    if (ftruncate(fd, (off_t)m->end)) return -1;
    for (uint64_t i = 0; i < m->blocks; i++)
        if (m->block[i] && (copy_part(m, i, fd, 0, hole) || copy_part(m, i, fd, hole + hole_bytes, m->end))) return -1;
    return 0;
}

/* Fills the temporary file with the finished image, and seals it. */
static int fill(const image *m, atomic_file *a, char *message, size_t size)
{
    const seal_regions none = {0, {0}, {0}};
    const int fd = atomic_create(a, message, size);
    if (fd < 0) return -1;
    int bad = image_copy(m, fd, m->end, 0);
    if (close(fd) != 0) bad = -1;
    if (bad) file_fail(message, size, "%s: cannot be written: %s", a->path, strerror(errno));
    bad = bad || seal_write(a->temporary, &none, message, size);
    if (bad) atomic_abandon(a);
    return bad;
}

int image_write(image *m, const char *path, char *message, size_t size)
{
    atomic_file a;
    int bad = image_finish(m);
    if (bad) file_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
    bad = bad || atomic_begin(&a, path, m->end, message, size) || fill(m, &a, message, size);
    image_close(m);
    return bad || atomic_commit(&a, message, size) ? -1 : 0;
}

image *image_look(const char *path, char kind[VALUES_KIND_SIZE], seal_regions *out, int *status, char *message,
                  size_t size)
{
    static const unsigned char magic[8] = "\x89HDF\r\n\x1a\n";
    unsigned char first[64] = {0};
    uint64_t bytes = 0;
    *status = 0;
    const int fd = file_open(path, &bytes, status, message, size);
    if (fd < 0) return NULL;
    const size_t n = bytes < sizeof first ? (size_t)bytes : sizeof first;
    if (file_pread(fd, first, n, 0)) *status = file_fail_read(message, size, path, "the first bytes");
    close(fd);
    if (*status) return NULL;
    if (!seal_present(first, n)) {
        const int foreign = !memcmp(first, magic, sizeof magic);
        strcpy(kind, foreign ? "an HDF5 file that plaq did not make" : VALUES_NOT_HDF5);
        return NULL;
    }
    image *m = image_read(path, out, status, message, size);
    const char *found = m ? values_kind_of(image_file(m)) : NULL;
    strcpy(kind, found ? found : "an HDF5 file of a kind unknown to this version");
    return m;
}

image *image_of_kind(const char *path, const char *kind, int *status, char *message, size_t size)
{
    char found[VALUES_KIND_SIZE];
    image *m = image_look(path, found, &(seal_regions){0}, status, message, size);
    if (*status || !strcmp(found, kind)) return m;
    snprintf(message, size, "%s is %s, and not %s", path, found, kind);
    *status = 1;
    image_close(m);
    return NULL;
}

int image_kind(const char *path, char kind[VALUES_KIND_SIZE], char *message, size_t size)
{
    seal_regions out;
    int bad;
    image_close(image_look(path, kind, &out, &bad, message, size));
    return bad;
}
