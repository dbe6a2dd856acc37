/* The inside of a lattice file format.
 *
 * A format is one file with a `const links_format links_format_NAME` and one line in links_formats.def. Headers are
 * read and written by rank 0 alone, so a format knows nothing of ranks; links_file is then sent to all. The links of a
 * file lie at `data`, sites with x fastest, mu = x y z t, `rows` rows of 3 complex numbers of `width` bytes; a format
 * that orders them differently brings its own read_slice(). */
#ifndef PLAQ_IO_LINKS_FORMAT_H
#define PLAQ_IO_LINKS_FORMAT_H

#include <string.h>

#include "io/files/atomic.h"
#include "io/files/file_io.h"
#include "io/links/links_info.h"
#include "kernels/base/error.h"
#include "kernels/field/field.h"

/* Checksums in the making: each rank adds its sites in any order; then the words are combined over ranks. */
typedef struct {
    uint32_t xored[2]; /* combined by exclusive or */
    uint64_t summed;   /* combined by addition */
} links_sums;

static inline void links_sums_add(links_sums *to, const links_sums *from)
{
    for (int i = 0; i < 2; i++) to->xored[i] ^= from->xored[i];
    to->summed += from->summed;
}

/* Plain data, sent between ranks as it is. */
typedef struct {
    char path[ATOMIC_PATH + 40];
    uint64_t data; /* byte offset of the links */
    int width, rows, big;
    uint32_t recorded[2]; /* checksums as recorded */
    links_info info;
} links_file;

/* Layouts that a format is written in: width of numbers, and with two rows of a link instead of three. */
enum { LINKS_64 = 1, LINKS_32 = 2, LINKS_TWO_ROWS = 4 };

typedef struct {
    const char *name, *title;
    const char *endings; /* endings of file names to write, ".lime .ildg"; NULL when the format is only read */
    /* True if the first n bytes are of the format; formats are asked in the order of the list. -1 with errno when the
     * file cannot be read. */
    int (*probe)(int fd, const unsigned char *first, size_t n);
    /* Fills f, of which path and info.file_bytes are set; 0, or the value of file_fail(). */
    int (*read_header)(links_file *f, int fd, char *message, size_t size);
    /* Links of local time slice t into buf[z][y][x][mu][18]; 0 or the value of file_fail(). NULL: the order above. */
    int (*read_slice)(const links_file *f, int fd, const lattice *lat, int t, double *buf, char *message, size_t size);
    /* Adds the bytes of n sites from global site number `site` to the sums; threads do so side by side. NULL: the format has
     * no checksum. */
    void (*sum)(links_sums *s, const links_file *f, uint64_t site, const unsigned char *bytes, size_t n);
    /* True if the combined sums are those recorded; else prints the computed ones into found. */
    int (*verify)(const links_file *f, const links_sums *s, char *found, size_t size);
    /* Writing, NULL when the format is only read. prepare() sets place and byte order of the links (big-endian unless
     * it says otherwise) before they are written; finish() writes or completes headers and trailers when the sums, and
     * in f->info the link trace, are known. `digest` is given when wants_digest, a plaquette always when wants_plaquette.
     * Both return 0 or the value of file_fail(). */
    int (*prepare)(links_file *f, const links_meta *meta, char *message, size_t size);
    int (*finish)(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                  size_t size);
    /* Links of local time slice t from buf[z][y][x][mu][18] to their places; 0, or -1 with errno. NULL: the order above. */
    int (*write_slice)(const links_file *f, int fd, const lattice *lat, int t, const double *buf);
    int layouts; /* LINKS_64 and so on */
    int wants_digest, wants_plaquette;
    int nameless; /* no place for trajectory number, label and parameters */
    int has_lfn;  /* a place for a logical file name */
} links_format;

/* links_write() without its end: the whole file under its temporary name, which is rank 0's to commit or to abandon.
 * Collective. */
int links_write_temporary(const field *u, atomic_file *a, const char *path, const char *format, const links_meta *meta,
                          char *message, size_t size);

/* Reads a file of u that was just written, and compares the checksum of its links with the one that it records; of
 * formats without one, the digest of its links with that of u. Collective. */
int links_verify(const field *u, const char *path, char *message, size_t size);

/* True for a lattice file whose header can be read; else there is a message. Local. */
int links_probe_local(const char *path, char *message, size_t size);

/* Notes an oddity, the first being kept. */
void links_odd(links_info *info, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Notes a remark, the first being kept. */
void links_remark(links_info *info, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The header at the beginning of a file that is there; not 0 with a message. */
int links_write_header(const links_file *f, const void *header, size_t n, char *message, size_t size);

uint64_t links_sites(const int size[4]);
uint64_t links_site_bytes(const links_file *f);
/* Extents within bounds; else a message. */
int links_check_size(const links_file *f, char *message, size_t size);
/* The file has exactly `expected` bytes; else a message. */
int links_check_length(const links_file *f, uint64_t expected, char *message, size_t size);

/* A decimal number that is all of `text`; the worth of its last digit goes to unit. */
int links_number(const char *text, double *value, double *unit);
/* A hexadecimal number of 1 to 8 digits that is all of `text`, its letters of one case. */
int links_hex32(const char *text, uint32_t *value);
/* A whole number from 0 to 10^9 that is all of `text`; else -1. */
long links_whole(const char *text);

/* Words of either byte order; inline, for every number of a file passes here. */
#define LINKS_HOST_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint32_t load32(const unsigned char *p, int big)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return !big == !LINKS_HOST_BIG ? x : __builtin_bswap32(x);
}

static inline uint64_t load64(const unsigned char *p, int big)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return !big == !LINKS_HOST_BIG ? x : __builtin_bswap64(x);
}

static inline void store32(unsigned char *p, uint32_t x, int big)
{
    if (!big != !LINKS_HOST_BIG) x = __builtin_bswap32(x);
    memcpy(p, &x, sizeof x);
}

static inline void store64(unsigned char *p, uint64_t x, int big)
{
    if (!big != !LINKS_HOST_BIG) x = __builtin_bswap64(x);
    memcpy(p, &x, sizeof x);
}

#endif
