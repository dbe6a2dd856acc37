/* The two binary formats of MILC, in either byte order.
 *
 *   v5   int32 magic 20103, nx ny nz nt, char[64] time stamp, int32 order (0: x fastest), uint32 sum29, sum31
 *   old  int32 magic 59354, nx ny nz nt, two float32 (beta, mass)
 *
 * Then sites with x fastest, mu = x y z t, 3x3 complex float32. sum29 is the exclusive or of all 32-bit words of the
 * links, each rotated left by its number mod 29, and sum31 likewise. The old format has no checksum: nothing guards its
 * two parameters, and the last bits of its links only as far as unitarity does.
 *
 * Written is v5 in little-endian, as MILC does on the machines of today. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/files/checksum.h"
#include "io/links/links_format.h"

enum { MAGIC_V5 = 20103, MAGIC_OLD = 59354, V5_HEADER = 96, OLD_HEADER = 28, STAMP = 64 };

/* The time stamp of files that plaq writes: a date of DATE letters, then the CRC-32 of the header with zeros in place of its
 * digits. */
#define CRC_WORD " crc32 "
enum { DATE = 24, CRC_PLACE = 20 + DATE + sizeof CRC_WORD - 1, OWN_STAMP = DATE + sizeof CRC_WORD - 1 + 8 };

static void put_crc(unsigned char header[V5_HEADER])
{
    char text[9];
    memset(header + CRC_PLACE, '0', 8);
    snprintf(text, sizeof text, "%08x", crc32_of(0, header, V5_HEADER));
    memcpy(header + CRC_PLACE, text, 8);
}

/* A stamp of that length, or with that word, is plaq's, and its checksum has to be right: a flipped bit leaves one of the
 * two. */
static void check_crc(links_file *f, const unsigned char header[V5_HEADER], size_t end)
{
    const unsigned char *word = header + 20 + DATE;
    unsigned char right[V5_HEADER];
    if (end != OWN_STAMP && (end < OWN_STAMP || memcmp(word, CRC_WORD, strlen(CRC_WORD)))) return;
    memcpy(right, header, V5_HEADER);
    memcpy(right + 20 + DATE, CRC_WORD, strlen(CRC_WORD));
    memset(right + 20 + OWN_STAMP, 0, STAMP - OWN_STAMP);
    put_crc(right);
    if (memcmp(right, header, V5_HEADER))
        links_odd(&f->info, "the CRC-32 of the header is %.8s, and not the one in its time stamp",
                  (char *)right + CRC_PLACE);
}

static int has_magic(const unsigned char *first, size_t n, uint32_t magic)
{
    return n >= 4 && (load32(first, 0) == magic || load32(first, 1) == magic);
}

static int probe_v5(int fd, const unsigned char *first, size_t n)
{
    (void)fd;
    return has_magic(first, n, MAGIC_V5);
}

static int probe_old(int fd, const unsigned char *first, size_t n)
{
    (void)fd;
    return has_magic(first, n, MAGIC_OLD);
}

static int read_common(links_file *f, int fd, uint32_t magic, unsigned char *header, size_t bytes, char *message,
                       size_t size)
{
    f->width = 4, f->rows = 3, f->data = bytes;
    if (f->info.file_bytes < bytes)
        return file_fail(message, size, "%s: %llu bytes are less than the header of %zu", f->path,
                          (unsigned long long)f->info.file_bytes, bytes);
    if (file_pread(fd, header, bytes, 0)) return file_fail_read(message, size, f->path, "the header");
    f->big = load32(header, 1) == magic;
    for (int d = 0; d < 4; d++) f->info.size[d] = (int)load32(header + 4 + 4 * d, f->big);
    const int bad = links_check_size(f, message, size);
    return bad ? bad : links_check_length(f, bytes + links_sites(f->info.size) * links_site_bytes(f), message, size);
}

static int read_v5(links_file *f, int fd, char *message, size_t size)
{
    unsigned char header[V5_HEADER];
    const int bad = read_common(f, fd, MAGIC_V5, header, sizeof header, message, size);
    if (bad) return bad;
    const unsigned char *stamp = header + 20, *order = stamp + STAMP;
    size_t end = 0;
    while (end < STAMP && isprint(stamp[end])) end++;
    if (end < STAMP && stamp[end] == '\n') end++;
    check_crc(f, header, end);
    for (size_t i = end; i < STAMP; i++)
        if (stamp[i]) links_odd(&f->info, "time stamp: byte %zu is %02x, after its end", 20 + i, stamp[i]);
    if (load32(order, f->big))
        return file_fail(message, size, "%s: site order %u at byte 84, only 0 (x fastest) is allowed", f->path,
                          load32(order, f->big));
    for (int i = 0; i < 2; i++) f->recorded[i] = load32(order + 4 + 4 * i, f->big);
    f->info.has_checksum = 1;
    snprintf(f->info.checksum, sizeof f->info.checksum, "%08x %08x", f->recorded[0], f->recorded[1]);
    return 0;
}

static int read_old(links_file *f, int fd, char *message, size_t size)
{
    unsigned char header[OLD_HEADER];
    const int bad = read_common(f, fd, MAGIC_OLD, header, sizeof header, message, size);
    for (int i = 0; i < 2 && !bad; i++) {
        const uint32_t w = load32(header + 20 + 4 * i, f->big);
        float x;
        memcpy(&x, &w, 4);
        /* Couplings and masses: a flipped exponent bit makes them absurd. */
        if (!isfinite(x) || (x != 0 && (fabsf(x) < 1e-6f || fabsf(x) > 1e3f)))
            links_odd(&f->info, "parameter %d at byte %d is %g", i + 1, 20 + 4 * i, (double)x);
    }
    return bad;
}

static void sum_v5(links_sums *s, const links_file *f, uint64_t site, const unsigned char *bytes, size_t n)
{
    unsigned r29 = (unsigned)(site * 72 % 29), r31 = (unsigned)(site * 72 % 31);
    for (size_t i = 0; i < 72 * n; i++) {
        const uint32_t w = load32(bytes + 4 * i, f->big);
        s->xored[0] ^= rotate_left32(w, r29);
        s->xored[1] ^= rotate_left32(w, r31);
        if (++r29 == 29) r29 = 0;
        if (++r31 == 31) r31 = 0;
    }
}

static int verify_v5(const links_file *f, const links_sums *s, char *found, size_t size)
{
    snprintf(found, size, "%08x %08x", s->xored[0], s->xored[1]);
    return s->xored[0] == f->recorded[0] && s->xored[1] == f->recorded[1];
}

/* ---- writing ---- */

static int prepare_v5(links_file *f, const links_meta *meta, char *message, size_t size)
{
    (void)meta, (void)message, (void)size;
    f->data = V5_HEADER;
    f->big = 0;
    return 0;
}

static int finish_v5(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest,
                     char *message, size_t size)
{
    (void)meta, (void)digest;
    unsigned char header[V5_HEADER] = {0};
    const time_t now = time(NULL);
    struct tm utc;
    store32(header, MAGIC_V5, f->big);
    for (int d = 0; d < 4; d++) store32(header + 4 + 4 * d, (uint32_t)f->info.size[d], f->big);
    if (gmtime_r(&now, &utc)) strftime((char *)header + 20, STAMP, "%a %b %d %H:%M:%S %Y", &utc);
    for (int i = 0; i < 2; i++) store32(header + 20 + STAMP + 4 + 4 * i, s->xored[i], f->big);
    memcpy(header + 20 + DATE, CRC_WORD, strlen(CRC_WORD));
    put_crc(header);
    return links_write_header(f, header, sizeof header, message, size);
}

const links_format links_format_milc = {.name = "milc",
                                        .title = "MILC v5",
                                        .endings = ".milc",
                                        .probe = probe_v5,
                                        .read_header = read_v5,
                                        .sum = sum_v5,
                                        .verify = verify_v5,
                                        .prepare = prepare_v5,
                                        .finish = finish_v5,
                                        .layouts = LINKS_32,
                                        .nameless = 1};

const links_format links_format_milc_old = {
    .name = "milc-old", .title = "MILC old", .probe = probe_old, .read_header = read_old};
