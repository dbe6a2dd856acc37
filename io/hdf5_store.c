/* The driver of HDF5's virtual file layer behind image_store: a file as a list of blocks that were written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#ifdef H5FD_CLASS_VERSION
#include <H5FDdevelop.h>
#endif

#include "io/hdf5_image.h"
#include "io/links_format.h"

#define BLOCK 16384

typedef struct block {
    struct block *next;
    haddr_t start;
    unsigned char data[BLOCK];
} block;

struct image_store {
    block *first;
    haddr_t end;
};

/* The library's file: its own part first. */
typedef struct {
    H5FD_t base;
    image_store *store;
    haddr_t allotted;
} store_file;

/* What the property list carries. */
typedef struct {
    image_store *store;
} store_info;

static block *find(const image_store *s, haddr_t start)
{
    block *b = s->first;
    while (b && b->start != start) b = b->next;
    return b;
}

static block *find_or_add(image_store *s, haddr_t start)
{
    block *b = find(s, start);
    if (b || !(b = calloc(1, sizeof *b))) return b;
    b->start = start;
    b->next = s->first;
    s->first = b;
    return b;
}

static H5FD_t *store_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name, (void)flags, (void)most;
    const store_info *info = H5Pget_driver_info(access);
    store_file *f = info ? calloc(1, sizeof *f) : NULL;
    if (f) f->store = info->store;
    return (H5FD_t *)f;
}

static herr_t store_close(H5FD_t *file)
{
    store_file *f = (store_file *)file;
    f->store->end = f->allotted;
    free(f);
    return 0;
}

static herr_t store_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t store_allotted(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const store_file *)file)->allotted;
}

static herr_t store_allot(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((store_file *)file)->allotted = address;
    return 0;
}

static herr_t store_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *buffer)
{
    (void)type, (void)transfer;
    const image_store *s = ((const store_file *)file)->store;
    unsigned char *to = buffer;
    while (bytes > 0) {
        const size_t skip = (size_t)(at % BLOCK), n = bytes < BLOCK - skip ? bytes : BLOCK - skip;
        const block *b = find(s, at - skip);
        if (b) memcpy(to, b->data + skip, n);
        else memset(to, 0, n);
        to += n, at += n, bytes -= n;
    }
    return 0;
}

static herr_t store_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *buffer)
{
    (void)type, (void)transfer;
    image_store *s = ((store_file *)file)->store;
    const unsigned char *from = buffer;
    while (bytes > 0) {
        const size_t skip = (size_t)(at % BLOCK), n = bytes < BLOCK - skip ? bytes : BLOCK - skip;
        block *b = find_or_add(s, at - skip);
        if (!b) return -1;
        memcpy(b->data + skip, from, n);
        from += n, at += n, bytes -= n;
    }
    return 0;
}

static const H5FD_class_t driver_class = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* of those free for applications */
#endif
    .name = "plaq_store",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(store_info),
    .open = store_open,
    .close = store_close,
    .query = store_query,
    .get_eoa = store_allotted,
    .set_eoa = store_allot,
    .get_eof = store_allotted,
    .read = store_read,
    .write = store_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY};

image_store *image_store_create(hid_t *access)
{
    static hid_t driver = -1;
    if (driver < 0) driver = H5FDregister(&driver_class);
    image_store *s = calloc(1, sizeof *s);
    const store_info info = {s};
    *access = H5Pcreate(H5P_FILE_ACCESS);
    if (s && driver >= 0 && H5Pset_driver(*access, driver, &info) >= 0) return s;
    image_store_destroy(s, *access);
    return NULL;
}

void image_store_destroy(image_store *s, hid_t access)
{
    H5Pclose(access);
    while (s && s->first) {
        block *b = s->first;
        s->first = b->next;
        free(b);
    }
    free(s);
}

/* Of a block what lies from `from` to `to`. */
static int copy_part(const block *b, int fd, uint64_t from, uint64_t to)
{
    if (from < b->start) from = b->start;
    if (to > b->start + BLOCK) to = b->start + BLOCK;
    return from < to && links_pwrite(fd, b->data + (from - b->start), (size_t)(to - from), from);
}

int image_store_copy(const image_store *s, int fd, uint64_t hole, uint64_t hole_bytes)
{
    if (ftruncate(fd, (off_t)s->end)) return -1;
    for (const block *b = s->first; b; b = b->next)
        if (copy_part(b, fd, 0, hole) || copy_part(b, fd, hole + hole_bytes, s->end)) return -1;
    return 0;
}
