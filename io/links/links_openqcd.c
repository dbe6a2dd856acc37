/* Configurations exported by openQCD; no magic, either byte order (the code writes little-endian).
 *
 * int32 nt nx ny nz, double 3 P, then for every odd site, t slowest, then x y z, eight 3x3 complex doubles: the links
 * U_mu(x) and U_mu(x - mu) for mu = t x y z. The average plaquette is the only guard of the links beside unitarity.
 * Written is little-endian. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/links_format.h"

enum { HEADER = 24, RECORD = 8 * 144 };
/* The average is of one large sum in double precision, whose last digits depend on the order. */
#define SUM_NOISE 4e-12

static int sizes_of(const unsigned char *first, int big, int size[4])
{
    static const int place[4] = {1, 2, 3, 0};
    for (int d = 0; d < 4; d++) {
        const uint32_t w = load32(first + 4 * place[d], big);
        if (w < 1 || w > LINKS_MAX_EXTENT) return 0;
        size[d] = (int)w;
    }
    return 1;
}

static int probe(int fd, const unsigned char *first, size_t n)
{
    int size[4];
    (void)fd;
    return n >= HEADER && (sizes_of(first, 0, size) || sizes_of(first, 1, size));
}

static int read_header(links_file *f, int fd, char *message, size_t size)
{
    unsigned char first[HEADER];
    if (file_pread(fd, first, HEADER, 0)) return file_fail_read(message, size, f->path, "the header");
    f->width = 8, f->rows = 3, f->data = HEADER;
    f->big = !sizes_of(first, 0, f->info.size) && sizes_of(first, 1, f->info.size);
    int bad = links_check_size(f, message, size);
    for (int d = 0; d < 4 && !bad; d++)
        if (f->info.size[d] % 2)
            bad = file_fail(message, size, "%s: extent %d in the first 16 bytes, openQCD's are even", f->path,
                             f->info.size[d]);
    if (!bad) bad = links_check_length(f, HEADER + links_sites(f->info.size) * links_site_bytes(f), message, size);
    if (bad) return bad;
    const uint64_t w = load64(first + 16, f->big);
    double p;
    memcpy(&p, &w, 8);
    if (!isfinite(p) || fabs(p) > 3.0001)
        return file_fail(message, size, "%s: plaquette %g at byte 16, -3 to 3 is allowed", f->path, p);
    f->info.has_plaquette = 1;
    f->info.plaquette = p / 3;
    f->info.plaquette_unit = SUM_NOISE;
    return 0;
}

/* The links of one odd site x that belong to this rank's time slice T: its own upward ones, and the downward ones of
 * the sites below it. */
static void scatter(const links_file *f, const lattice *lat, int slice, const int x[4], const unsigned char *record,
                    double *buf)
{
    static const int direction[4] = {3, 0, 1, 2};
    for (int k = 0; k < 8; k++) {
        const int mu = direction[k / 2];
        int y[4] = {x[0], x[1], x[2], x[3]};
        if (k % 2) y[mu] = (y[mu] + lat->size[mu] - 1) % lat->size[mu];
        int in = y[3] == slice;
        for (int d = 0; d < 3; d++) {
            y[d] -= lat->origin[d];
            in = in && y[d] >= 0 && y[d] < lat->local[d];
        }
        if (!in) continue;
        double *link =
            buf +
            18 * (4 * (((size_t)y[2] * (size_t)lat->local[1] + (size_t)y[1]) * (size_t)lat->local[0] + (size_t)y[0]) +
                  (size_t)mu);
        for (int i = 0; i < 18; i++) {
            const uint64_t w = load64(record + 144 * k + 8 * i, f->big);
            memcpy(link + i, &w, 8);
        }
    }
}

/* Odd sites among n along z from z0, at fixed t x y. */
static int read_line(const links_file *f, int fd, const lattice *lat, int slice, const int at[4], int n,
                     unsigned char *raw, double *buf)
{
    const int *g = lat->size;
    const uint64_t line = (((uint64_t)at[3] * (uint64_t)g[0] + (uint64_t)at[0]) * (uint64_t)g[1] + (uint64_t)at[1]);
    const int z0 = at[2] + (at[0] + at[1] + at[2] + at[3] + 1) % 2, count = (at[2] + n - z0 + 1) / 2;
    if (count <= 0) return 0;
    const uint64_t number = (line * (uint64_t)g[2] + (uint64_t)z0) / 2;
    if (file_pread(fd, raw, (size_t)count * RECORD, f->data + number * RECORD)) return -1;
    for (int i = 0; i < count; i++) {
        const int x[4] = {at[0], at[1], z0 + 2 * i, at[3]};
        scatter(f, lat, slice, x, raw + (size_t)i * RECORD, buf);
    }
    return 0;
}

/* A slice takes its records from the box extended by one site upwards in each direction. */
static int read_slice(const links_file *f, int fd, const lattice *lat, int t, double *buf, char *message, size_t size)
{
    const int *l = lat->local, *o = lat->origin, *g = lat->size;
    const int slice = t + o[3];
    unsigned char *raw = malloc((size_t)(l[2] / 2 + 1) * RECORD);
    REQUIRE_MEMORY(raw, "out of memory: %d records", l[2]);
    int bad = 0;
    for (int up_t = 0; up_t < 2 && !bad; up_t++)
        for (int x = 0; x <= l[0] - up_t && !bad; x++)
            for (int y = 0; y <= l[1] - up_t && !bad; y++) {
                int at[4] = {(o[0] + x) % g[0], (o[1] + y) % g[1], o[2], (slice + up_t) % g[3]};
                bad = read_line(f, fd, lat, slice, at, l[2], raw, buf);
                at[2] = (o[2] + l[2]) % g[2];
                if (!bad) bad = read_line(f, fd, lat, slice, at, 1, raw, buf);
            }
    const int why = errno;
    free(raw);
    if (!bad) return 0;
    char what[64];
    snprintf(what, sizeof what, "the links of time slice %d", slice);
    errno = why;
    return file_fail_read(message, size, f->path, what);
}

/* ---- writing ---- */

static int prepare(links_file *f, const links_meta *meta, char *message, size_t size)
{
    (void)meta, (void)message, (void)size;
    f->data = HEADER;
    f->big = 0;
    return 0;
}

/* Byte offset of U_mu(x): in the record of x where x is odd, else in that of x + mu. */
static uint64_t place_of(const links_file *f, const int *g, const int x[4], int mu)
{
    static const int number[4] = {1, 2, 3, 0}; /* link pairs of a record: t x y z */
    int y[4] = {x[0], x[1], x[2], x[3]};
    const int even = (x[0] + x[1] + x[2] + x[3]) % 2 == 0;
    if (even) y[mu] = (y[mu] + 1) % g[mu];
    const uint64_t site =
        ((((uint64_t)y[3] * (uint64_t)g[0] + (uint64_t)y[0]) * (uint64_t)g[1] + (uint64_t)y[1]) * (uint64_t)g[2] +
         (uint64_t)y[2]);
    return f->data + site / 2 * RECORD + (uint64_t)(2 * number[mu] + even) * 144;
}

static int write_slice(const links_file *f, int fd, const lattice *lat, int t, const double *buf)
{
    const int *l = lat->local, *o = lat->origin;
    unsigned char link[144];
    for (int z = 0; z < l[2]; z++)
        for (int y = 0; y < l[1]; y++)
            for (int x = 0; x < l[0]; x++)
                for (int mu = 0; mu < 4; mu++, buf += 18) {
                    const int at[4] = {x + o[0], y + o[1], z + o[2], t + o[3]};
                    for (int i = 0; i < 18; i++) {
                        uint64_t w;
                        memcpy(&w, buf + i, 8);
                        store64(link + 8 * i, w, f->big);
                    }
                    if (file_pwrite(fd, link, sizeof link, place_of(f, lat->size, at, mu))) return -1;
                }
    return 0;
}

static int finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                  size_t size)
{
    static const int place[4] = {3, 0, 1, 2};
    (void)s, (void)digest;
    unsigned char header[HEADER];
    const double p = 3 * meta->plaquette;
    uint64_t w;
    for (int i = 0; i < 4; i++) store32(header + 4 * i, (uint32_t)f->info.size[place[i]], f->big);
    memcpy(&w, &p, 8);
    store64(header + 16, w, f->big);
    return links_write_header(f, header, sizeof header, message, size);
}

const links_format links_format_openqcd = {.name = "openqcd",
                                           .title = "openQCD",
                                           .endings = ".openqcd",
                                           .probe = probe,
                                           .read_header = read_header,
                                           .read_slice = read_slice,
                                           .prepare = prepare,
                                           .finish = finish,
                                           .write_slice = write_slice,
                                           .layouts = LINKS_64,
                                           .wants_plaquette = 1,
                                           .nameless = 1};
