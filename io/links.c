#include "io/links.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/links_format.h"
#include "io/links_registry.h"
#include "io/links_rows.h"
#include "io/regular.h"
#include "kernels/lattice/comm.h"

#define FIRST_BYTES 1024

#define LINKS_FORMAT(name) extern const links_format links_format_##name;
#include "io/links_formats.def"
#undef LINKS_FORMAT

static const links_format *const formats[] = {
#define LINKS_FORMAT(name) &links_format_##name,
#include "io/links_formats.def"
#undef LINKS_FORMAT
    NULL};

const links_format *links_format_find(const char *name)
{
    for (int i = 0; formats[i]; i++)
        if (!strcmp(formats[i]->name, name)) return formats[i];
    return NULL;
}

const char *links_format_name(int i)
{
    return formats[i] ? formats[i]->name : NULL;
}

int links_format_writes(const char *name)
{
    const links_format *f = links_format_find(name);
    return f && f->prepare;
}

int links_format_has_checksum(const char *name)
{
    const links_format *f = links_format_find(name);
    return f && f->verify;
}

const char *links_format_of_ending(const char *path)
{
    const char *name = strrchr(path, '/'), *ending = strrchr(name ? name : path, '.');
    const size_t n = ending ? strlen(ending) : 0;
    for (int i = 0; formats[i] && n > 1; i++)
        for (const char *e = formats[i]->endings; e; e = strchr(e + 1, '.'))
            if (strcspn(e, " ") == n && !strncmp(e, ending, n)) return formats[i]->name;
    return NULL;
}

void links_format_ending(const char *name, char ending[16])
{
    const links_format *f = links_format_find(name);
    REQUIRE(f && f->endings, "files of format %s have no ending", name);
    snprintf(ending, 16, "%.*s", (int)strcspn(f->endings, " "), f->endings);
}

const char *links_formats_written(char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; formats[i] && used < size; i++)
        if (formats[i]->prepare)
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "", formats[i]->name,
                                     formats[i]->endings);
    return text;
}

/* ---- the header, on rank 0 ---- */

static int open_file(links_file *f, const char *path, int *fd, char *message, size_t size)
{
    const char *why;
    if (strlen(path) >= sizeof f->path)
        return LINKS_NO_FILE | links_fail(message, size, "file name longer than %zu", sizeof f->path);
    strcpy(f->path, path);
    *fd = regular_open(path, &f->info.file_bytes, &why);
    if (*fd < 0) return LINKS_NO_FILE | links_fail(message, size, "%s: %s", path, why);
    if (f->info.file_bytes == 0) return links_fail(message, size, "%s: the file is empty (0 bytes)", path);
    return 0;
}

static int read_header(links_file *f, int fd, char *message, size_t size)
{
    unsigned char first[FIRST_BYTES] = {0};
    const size_t n = f->info.file_bytes < FIRST_BYTES ? (size_t)f->info.file_bytes : FIRST_BYTES;
    if (links_pread(fd, first, n, 0)) return links_fail(message, size, "%s: %s", f->path, strerror(errno));
    for (int i = 0; formats[i]; i++)
        if (formats[i]->probe(fd, first, n)) {
            strcpy(f->info.format, formats[i]->name);
            const int status = formats[i]->read_header(f, fd, message, size);
            f->info.precision_bits = 8 * f->width;
            f->info.rows = f->rows;
            f->info.big_endian = f->big;
            return status;
        }
    char known[256] = "";
    for (int i = 0; formats[i]; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", formats[i]->title);
    return links_fail(message, size, "%s: first bytes %02x %02x %02x %02x: not a known lattice file (%s)", f->path,
                      first[0], first[1], first[2], first[3], known);
}

static int probe(links_file *f, const char *path, char *message, size_t size)
{
    int status = 0, fd = -1;
    memset(f, 0, sizeof *f);
    if (size) message[0] = 0;
    if (comm_rank() == 0) {
        status = open_file(f, path, &fd, message, size);
        if (!status) status = read_header(f, fd, message, size);
        if (fd >= 0) close(fd);
    }
    comm_bcast(&status, sizeof status);
    comm_bcast(f, sizeof *f);
    if (status && size) comm_bcast(message, size);
    return status;
}

int links_probe(const char *path, links_info *info, char *message, size_t size)
{
    links_file f;
    const int status = probe(&f, path, message, size);
    *info = f.info;
    return status;
}

/* ---- the links ---- */

/* Local time slice t in the plain order, checksummed as it passes. */
static int read_flat(const links_file *f, const links_format *format, int fd, const lattice *lat, int t, double *buf,
                     unsigned char *raw, links_sums *sums, char *message, size_t size)
{
    const uint64_t site_bytes = links_site_bytes(f);
    for (int i = 0; i < rows_count(lat); i++) {
        const rows_run r = rows_get(lat, t, i);
        const uint64_t offset = f->data + r.site * site_bytes;
        if (links_pread(fd, raw, r.n * site_bytes, offset))
            return links_fail(message, size, "%s: %zu bytes at byte %llu cannot be read: %s", f->path,
                              (size_t)(r.n * site_bytes), (unsigned long long)offset,
                              errno ? strerror(errno) : "the file ends before");
        if (format->sum) format->sum(sums, f, r.site, raw, r.n);
        rows_decode(f, raw, 4 * r.n, buf + 72 * r.start);
    }
    return 0;
}

static uint64_t count_nonfinite(const double *x, size_t n)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) bad += !isfinite(x[i]);
    return bad;
}

/* u may be NULL: then the file is read for its sums alone. */
static int read_slices(field *u, const lattice *lat, const links_file *f, const links_format *format, links_sums *sums,
                       uint64_t *nonfinite, char *message, size_t size)
{
    const size_t sites = (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    const size_t raw_bytes = rows_get(lat, 0, 0).n * links_site_bytes(f);
    double *buf = malloc(sites * 72 * sizeof(double));
    unsigned char *raw = malloc(raw_bytes);
    REQUIRE(buf && raw, "out of memory: %zu bytes", sites * 576 + raw_bytes);
    const char *why;
    const int fd = regular_open(f->path, NULL, &why);
    int status = 0;
    if (fd < 0) status = links_fail(message, size, "%s: %s (rank %d)", f->path, why, comm_rank());
    for (int t = 0; t < lat->local[3] && !status; t++) {
        status = format->read_slice ? format->read_slice(f, fd, lat, t, buf, message, size)
                                    : read_flat(f, format, fd, lat, t, buf, raw, sums, message, size);
        if (status) break;
        *nonfinite += count_nonfinite(buf, 72 * sites);
        if (u) field_import(u, t, buf);
    }
    if (fd >= 0) close(fd);
    free(raw);
    free(buf);
    return status;
}

static int judge(const links_file *f, const links_format *format, const links_sums *sums, char *message, size_t size)
{
    int status = 0;
    char found[96];
    if (format->verify && f->info.has_checksum && !format->verify(f, sums, found, sizeof found)) {
        status |= LINKS_BAD_CHECKSUM;
        snprintf(message, size, "%s: checksum of the links is %s, the file says %s", f->path, found, f->info.checksum);
    }
    if (f->info.nonfinite) {
        if (!status)
            snprintf(message, size, "%s: %llu numbers of the links are NaN or infinite", f->path,
                     (unsigned long long)f->info.nonfinite);
        status |= LINKS_NOT_FINITE;
    }
    return status;
}

int links_read(field *u, const char *path, links_info *info, char *message, size_t size)
{
    links_file f;
    REQUIRE(u->kind == FIELD_LINKS && u->par == PARITY_BOTH, "links_read of a %s", field_kinds[u->kind].name);
    int status = probe(&f, path, message, size);
    if (info) *info = f.info;
    if (status) return status;
    const int *want = u->lat->size, *have = f.info.size;
    if (memcmp(want, have, sizeof f.info.size))
        return links_fail(message, size, "%s: the lattice in the file is %d.%d.%d.%d, wanted is %d.%d.%d.%d", path,
                          have[0], have[1], have[2], have[3], want[0], want[1], want[2], want[3]);
    const links_format *format = links_format_find(f.info.format);
    links_sums sums = {{0, 0}, 0};
    uint64_t nonfinite = 0;
    status = read_slices(u, u->lat, &f, format, &sums, &nonfinite, message, size);
    if (comm_any_bad(status, message, size)) return LINKS_UNREADABLE;
    comm_xor_u32(sums.xored, 2);
    comm_sum_u64(&sums.summed, 1);
    comm_sum_u64(&nonfinite, 1);
    f.info.nonfinite = nonfinite;
    if (info) *info = f.info;
    return judge(&f, format, &sums, message, size);
}

int links_verify(const lattice *lat, const char *path, char *message, size_t size)
{
    links_file f;
    links_sums sums = {{0, 0}, 0};
    uint64_t nonfinite = 0;
    char found[96];
    int status = probe(&f, path, message, size);
    if (status) return status;
    const links_format *format = links_format_find(f.info.format);
    REQUIRE(format->verify && !memcmp(f.info.size, lat->size, sizeof f.info.size), "%s is of another lattice", path);
    status = read_slices(NULL, lat, &f, format, &sums, &nonfinite, message, size);
    if (comm_any_bad(status, message, size)) return LINKS_UNREADABLE;
    comm_xor_u32(sums.xored, 2);
    comm_sum_u64(&sums.summed, 1);
    if (format->verify(&f, &sums, found, sizeof found)) return 0;
    links_fail(message, size, "%s: read back, the checksum of the links is %s, and %s was written", path, found,
               f.info.checksum);
    return LINKS_BAD_CHECKSUM;
}

/* ---- digest and trace ---- */

void links_digest(const field *u, char hex[65])
{
    sha256 s;
    sha256_start(&s);
    rows_hash(u, &s);
    sha256_end(&s, hex);
    comm_bcast(hex, 65);
}

double links_trace(const field *u)
{
    const lattice *lat = u->lat;
    const size_t links = 4 * (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    double *buf = malloc(links * 18 * sizeof(double));
    REQUIRE_MEMORY(buf, "out of memory: %zu links", links);
    exact_sum sum = exact_zero();
    for (int t = 0; t < lat->local[3]; t++) {
        field_export(u, t, buf);
        rows_trace(buf, links, &sum);
    }
    free(buf);
    comm_sum_exact(&sum, 1);
    return exact_value(&sum) / (12.0 * (double)lat->volume);
}
