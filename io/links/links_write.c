#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/hdf5_values.h"
#include "io/links/links.h"
#include "io/links/links_format.h"
#include "io/links/links_registry.h"
#include "io/links/links_rows.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

/* Checksums, link trace and hash of the links that this rank has written. */
typedef struct {
    links_sums sums;
    exact_sum trace;
    sha256 hash; /* SHA-256 of the bytes in the order of writing */
    int hashed;
} written;

/* Links of a local time slice on their way to the file: in the order of a run of sites, as numbers and as bytes. */
typedef struct {
    const links_file *f;
    const links_format *format;
    const lattice *lat;
    int fd;
    size_t sites;
    double *numbers;
    unsigned char *raw[2]; /* bytes of the slice in hand and of the one before */
} slice_writer;

static void encode_piece(const slice_writer *s, int t, int k, unsigned char *raw, written *w)
{
    const rows_run r = rows_piece(s->lat, t, k);
    const double *numbers = s->numbers + 72 * r.start;
    links_sums sums = {{0, 0}, 0};
    exact_sum trace = exact_zero();
    rows_trace(numbers, 4 * r.n, &trace);
    if (!s->format->write_slice) {
        raw += r.start * links_site_bytes(s->f);
        rows_encode(s->f, numbers, 4 * r.n, raw);
        if (s->format->sum) s->format->sum(&sums, s->f, r.site, raw, r.n);
    }
#pragma omp critical(links_written)
    {
        exact_merge(&w->trace, &trace);
        links_sums_add(&w->sums, &sums);
    }
}

/* 0, or the errno of what failed. The disk begins with the bytes at once, lest all of them wait for the sync. */
static int write_runs(const slice_writer *s, int t, const unsigned char *raw)
{
    const uint64_t site = links_site_bytes(s->f);
    for (int i = 0; i < rows_count(s->lat); i++) {
        const rows_run r = rows_get(s->lat, t, i);
        const uint64_t at = s->f->data + r.site * site;
        if (file_pwrite(s->fd, raw + r.start * site, r.n * site, at)) return errno ? errno : EIO;
        sync_file_range(s->fd, (off_t)at, (off_t)(r.n * site), SYNC_FILE_RANGE_WRITE);
    }
    return 0;
}

/* Encodes slice t, unless it is beyond the last, while the bytes of the slice before are hashed and written, each by one
 * thread, for a hash has an order and a file one writer at a time. */
static int pass_slice(const slice_writer *s, int t, written *w)
{
    const int pieces = t < s->lat->local[3] ? rows_pieces(s->lat) : 0, write = t > 0 && !s->format->write_slice;
    unsigned char *now = s->raw[t % 2], *before = s->raw[(t + 1) % 2];
    int why = 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = -2; k < pieces; k++) {
        if (k >= 0) encode_piece(s, t, k, now, w);
        else if (k == -1 && write) why = write_runs(s, t - 1, before);
        else if (k == -2 && t > 0 && w->hashed) sha256_add(&w->hash, before, s->sites * links_site_bytes(s->f));
    }
    errno = why;
    return why != 0;
}

/* Writes the rank's links to their places in f->path. One pass, as they may have to come from a device. */
static int write_slices(const field *u, const links_file *f, const char *path, const links_format *format,
                        const links_meta *meta, written *w, char *message, size_t size)
{
    const lattice *lat = u->lat;
    slice_writer s = {.f = f,
                      .format = format,
                      .lat = lat,
                      .fd = open(f->path, O_WRONLY | O_CLOEXEC),
                      .sites = (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2]};
    const size_t bytes = s.sites * links_site_bytes(f);
    s.numbers = field_slice_buffer(u);
    for (int i = 0; i < 2; i++) s.raw[i] = malloc(bytes);
    REQUIRE_MEMORY(s.raw[0] && s.raw[1], "out of memory: %zu bytes", 2 * bytes);
    int bad = s.fd < 0;
    for (int t = 0; t <= lat->local[3] && !bad; t++) {
        if (t < lat->local[3]) {
            field_export(u, t, s.numbers);
            if (meta->look) meta->look(lat, t, s.numbers, meta->context);
            if (format->write_slice) bad = format->write_slice(f, s.fd, lat, t, s.numbers);
        }
        if (!bad) bad = pass_slice(&s, t, w);
    }
    if (!bad) bad = fsync(s.fd) != 0;
    if (bad) file_fail(message, size, "%s: writing the links: %s (rank %d)", path, strerror(errno), comm_rank());
    if (s.fd >= 0 && close(s.fd) != 0 && !bad)
        bad = file_fail(message, size, "%s: writing the links: %s (rank %d)", path, strerror(errno), comm_rank());
    for (int i = 0; i < 2; i++) free(s.raw[i]);
    free(s.numbers);
    return bad;
}

/* Gives all ranks the same status and text. */
static int agree(int bad, char *message, size_t size)
{
    return comm_any_bad(bad, message, size);
}

static int write_all(const field *u, links_file *f, const char *path, const links_format *format,
                     const links_meta *meta, char *message, size_t size)
{
    written w = {.sums = {{0, 0}, 0}, .trace = exact_zero()};
    char digest[65] = "";
    const int root = comm_rank() == 0;
    int bad = root ? format->prepare(f, meta, message, size) : 0;
    if (agree(bad, message, size)) return 1;
    comm_bcast(f, sizeof *f);
    /* A lone rank writes the very bytes of the digest, in their order; else they pass by rank 0. */
    w.hashed = format->wants_digest && comm_size() == 1 && f->big;
    if (w.hashed) sha256_start(&w.hash);
    else if (format->wants_digest) links_digest(u, digest);
    bad = write_slices(u, f, path, format, meta, &w, message, size);
    if (agree(bad, message, size)) return 1;
    if (w.hashed) sha256_end(&w.hash, digest);
    comm_xor_u32(w.sums.xored, 2);
    comm_sum_u64(&w.sums.summed, 1);
    comm_sum_exact(&w.trace, 1);
    f->info.link_trace = exact_value(&w.trace) / (12.0 * (double)u->lat->volume);
    f->info.has_link_trace = 1;
    bad = root ? format->finish(f, meta, &w.sums, digest, message, size) : 0;
    return agree(bad, message, size);
}

/* The temporary file, which every rank then opens. */
static int begin(atomic_file *a, const char *path, uint64_t bytes, char *message, size_t size)
{
    const int fd = atomic_begin(a, path, bytes, message, size) ? -1 : atomic_create(a, message, size);
    if (fd < 0) return LINKS_UNREADABLE;
    if (close(fd) == 0) return 0;
    file_fail(message, size, "%s: cannot be created: %s", path, strerror(errno));
    atomic_abandon(a);
    return LINKS_UNREADABLE;
}

/* The layout that is asked for, or the most exact that the format has. */
static void set_layout(links_file *f, const links_format *format, int bits, int rows)
{
    strcpy(f->info.format, format->name);
    f->width = bits ? bits / 8 : format->layouts & LINKS_64 ? 8 : 4;
    f->rows = rows ? rows : 3;
    f->big = 1;
}

field *links_rounded(const field *u, const char *format, int bits, int rows)
{
    links_file f = {0};
    const lattice *lat = u->lat;
    const size_t links = 4 * (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    set_layout(&f, links_format_find(format), bits, rows);
    if (f.width == 8 && f.rows == 3) return NULL;
    field *v = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    double *buf = malloc(18 * links * sizeof *buf);
    unsigned char *raw = malloc(18 * links * sizeof *buf);
    REQUIRE_MEMORY(buf && raw, "out of memory: %zu links", links);
    for (int t = 0; t < lat->local[3]; t++) {
        field_export(u, t, buf);
        rows_encode(&f, buf, links, raw);
        rows_decode(&f, raw, links, buf);
        field_import(v, t, buf);
    }
    free(raw);
    free(buf);
    return v;
}

int links_write_temporary(const field *u, atomic_file *a, const char *path, const char *format_name,
                          const links_meta *meta, char *message, size_t size)
{
    static const links_meta nothing;
    links_file f;
    char written[256];
    REQUIRE(u->kind == FIELD_LINKS && u->par == PARITY_BOTH, "links_write of a %s", field_kinds[u->kind].name);
    const links_format *format = links_format_find(format_name);
    if (!format || !format->prepare)
        return file_fail(message, size, "%s: format '%s' cannot be written; these can: %s", path, format_name,
                         links_formats_written(written, sizeof written));
    if (!meta) meta = &nothing;
    char why[160];
    if (links_format_layout(format_name, meta->bits, meta->rows, why, sizeof why))
        return file_fail(message, size, "%s: %s", path, why);
    memset(&f, 0, sizeof f);
    set_layout(&f, format, meta->bits, meta->rows);
    memcpy(f.info.size, u->lat->size, sizeof f.info.size);
    const uint64_t bytes = links_sites(f.info.size) * links_site_bytes(&f);
    const int root = comm_rank() == 0;
    int bad = root ? begin(a, path, bytes, message, size) : 0;
    if (agree(bad, message, size)) return LINKS_UNREADABLE;
    comm_bcast(a, sizeof *a);
    strcpy(f.path, a->temporary);
    bad = write_all(u, &f, path, format, meta, message, size);
    if (bad && root) atomic_abandon(a);
    comm_barrier();
    return bad ? LINKS_UNREADABLE : 0;
}

/* Lest the kernel answer from memory what the disk may have lost. */
static void forget(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static int write_whole(const field *u, const char *path, const char *format, const links_meta *meta, char *message,
                       size_t size)
{
    atomic_file a;
    const int root = comm_rank() == 0;
    int bad = links_write_temporary(u, &a, path, format, meta, message, size);
    if (bad) return bad;
    if (root) bad = atomic_sync(a.temporary, message, size);
    forget(a.temporary);
    bad = agree(bad, message, size) || links_verify(u, a.temporary, message, size);
    if (root && bad) atomic_abandon(&a);
    else if (root) bad = atomic_commit(&a, message, size);
    bad = agree(bad, message, size);
    comm_barrier();
    return bad ? LINKS_UNREADABLE : 0;
}

int links_write(const field *u, const char *path, const char *format, const links_meta *meta, char *message,
                size_t size)
{
    const links_format *known = links_format_find(format);
    links_meta m = meta ? *meta : (links_meta){0};
    field *rounded = known && known->prepare ? links_rounded(u, format, m.bits, m.rows) : NULL;
    const field *v = rounded ? rounded : u;
    const int bounded = u->lat->time != TIME_PERIODIC && m.has_plaquette; /* averages of another normalisation */
    if (known && (bounded || (rounded && m.has_plaquette) || (known->wants_plaquette && !m.has_plaquette))) {
        m.plaquette = gauge_measure_recorded(v).plaquette;
        m.has_plaquette = 1;
    }
    const int bad = write_whole(v, path, format, &m, message, size);
    if (rounded) field_destroy(rounded);
    return bad;
}
