#include "io/links/links.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/links/links_format.h"
#include "io/links/links_registry.h"
#include "io/links/links_rows.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

#define FIRST_BYTES 1024

#define LINKS_FORMAT(name) extern const links_format links_format_##name;
#include "io/links/links_formats.def"
#undef LINKS_FORMAT

static const links_format *const formats[] = {
#define LINKS_FORMAT(name) &links_format_##name,
#include "io/links/links_formats.def"
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

const char *links_format_writable(int i)
{
    int k = 0;
    while (formats[k] && (!formats[k]->prepare || i-- > 0)) k++;
    return links_format_name(k);
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

int links_format_carries_names(const char *name)
{
    const links_format *f = links_format_find(name);
    return f && !f->nameless;
}

int links_format_carries_lfn(const char *name)
{
    const links_format *f = links_format_find(name);
    return f && f->has_lfn;
}

int links_format_most_bits(const char *name)
{
    const links_format *f = links_format_find(name);
    REQUIRE(f && f->prepare, "format %s cannot be written", name);
    return f->layouts & LINKS_64 ? 64 : 32;
}

int links_format_layout(const char *name, int bits, int rows, char *message, size_t size)
{
    const links_format *f = links_format_find(name);
    REQUIRE(f && f->prepare, "format %s cannot be written", name);
    if ((bits == 32 && !(f->layouts & LINKS_32)) || (bits == 64 && !(f->layouts & LINKS_64)))
        return file_fail(message, size, "files of format %s have numbers of %d bits, not %d", name,
                         links_format_most_bits(name), bits);
    if (rows == 2 && !(f->layouts & LINKS_TWO_ROWS))
        return file_fail(message, size, "files of format %s have links of 3 rows, not 2", name);
    return 0;
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
    int bad = 0;
    if (strlen(path) >= sizeof f->path)
        return LINKS_NO_ACCESS | file_fail(message, size, "file name longer than %zu", sizeof f->path);
    strcpy(f->path, path);
    *fd = file_open(path, &f->info.file_bytes, &bad, message, size);
    if (*fd < 0) return bad;
    if (f->info.file_bytes == 0) return file_fail(message, size, "%s: the file is empty (0 bytes)", path);
    return 0;
}

/* Files of a run that are no lattices, by their first bytes. */
static const struct {
    const char *start, *what;
} others[] = {{"plaq history journal", "the journal of a run's history (plaq run folds it into history.h5)"}};

static int read_header(links_file *f, int fd, char *message, size_t size)
{
    unsigned char first[FIRST_BYTES] = {0};
    const size_t n = f->info.file_bytes < FIRST_BYTES ? (size_t)f->info.file_bytes : FIRST_BYTES;
    if (file_pread(fd, first, n, 0)) return file_fail_read(message, size, f->path, "the first bytes");
    for (int i = 0; formats[i]; i++) {
        const int is = formats[i]->probe(fd, first, n);
        if (is < 0) return file_fail_read(message, size, f->path, "the header");
        if (is) {
            strcpy(f->info.format, formats[i]->name);
            const int status = formats[i]->read_header(f, fd, message, size);
            f->info.precision_bits = 8 * f->width;
            f->info.rows = f->rows;
            f->info.big_endian = f->big;
            return status;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (n >= strlen(others[i].start) && !memcmp(first, others[i].start, strlen(others[i].start)))
            return LINKS_NO_LATTICE | file_fail(message, size, "%s: %s, no lattice file", f->path, others[i].what);
    char known[256] = "";
    for (int i = 0; formats[i]; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", formats[i]->title);
    return file_fail(message, size, "%s: first bytes %02x %02x %02x %02x: not a known lattice file (%s)", f->path,
                     first[0], first[1], first[2], first[3], known);
}

static int probe_here(links_file *f, const char *path, char *message, size_t size)
{
    int fd = -1, status = open_file(f, path, &fd, message, size);
    if (!status) status = read_header(f, fd, message, size);
    if (fd >= 0) close(fd);
    return status;
}

int links_probe_local(const char *path, char *message, size_t size)
{
    links_file f = {0};
    return probe_here(&f, path, message, size) == 0;
}

static int probe(links_file *f, const char *path, char *message, size_t size)
{
    int status = 0;
    memset(f, 0, sizeof *f);
    f->info.plaquette_ok = f->info.link_trace_ok = f->info.digest_ok = -1;
    if (size) message[0] = 0;
    if (comm_rank() == 0) status = probe_here(f, path, message, size);
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

/* ---- the size ---- */

int links_settle_size(links_info *info, const char *path, const int *size, const char *key, char *message,
                      size_t message_size)
{
    int *own = info->size;
    const int given = size && size[0] > 0;
    if (own[0] == 0 && !given)
        return file_fail(message, message_size, "%s: the file does not say the size of its lattice: give it by %s",
                         path, key);
    if (own[0] == 0) {
        const uint64_t single = 288 * links_sites(size);
        info->precision_bits = info->links_bytes == single ? 32 : info->links_bytes == 2 * single ? 64 : 0;
        if (!info->precision_bits)
            return file_fail(
                message, message_size,
                "%s: %llu bytes of links are not a lattice of %d.%d.%d.%d (%s), which has %llu in 32 bits, "
                "%llu in 64",
                path, (unsigned long long)info->links_bytes, size[0], size[1], size[2], size[3], key,
                (unsigned long long)single, (unsigned long long)(2 * single));
        memcpy(own, size, sizeof info->size);
    }
    if (given && memcmp(own, size, sizeof info->size))
        return file_fail(message, message_size, "%s = %d.%d.%d.%d, but %s has %d.%d.%d.%d", key, size[0], size[1],
                         size[2], size[3], path, own[0], own[1], own[2], own[3]);
    return 0;
}

/* ---- the links ---- */

/* Local time slice t in the plain order, checksummed as it passes. */
static int read_flat(const links_file *f, const links_format *format, int fd, const lattice *lat, int t, double *buf,
                     unsigned char *raw, links_sums *sums, char *message, size_t size)
{
    const uint64_t site_bytes = links_site_bytes(f);
    int failed = -1, why = 0; /* the first piece that cannot be read, and its errno */
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < rows_pieces(lat); k++) {
        const rows_run r = rows_piece(lat, t, k);
        unsigned char *bytes = raw + r.start * site_bytes;
        links_sums mine = {{0, 0}, 0};
        const int bad = file_pread(fd, bytes, r.n * site_bytes, f->data + r.site * site_bytes), cause = errno;
        if (!bad && format->sum) format->sum(&mine, f, r.site, bytes, r.n);
        if (!bad) rows_decode(f, bytes, 4 * r.n, buf + 72 * r.start);
#pragma omp critical(links_read)
        {
            links_sums_add(sums, &mine);
            if (bad && (failed < 0 || k < failed)) failed = k, why = cause;
        }
    }
    if (failed < 0) return 0;
    char what[80];
    const rows_run r = rows_piece(lat, t, failed);
    snprintf(what, sizeof what, "%zu bytes at byte %llu", (size_t)(r.n * site_bytes),
             (unsigned long long)(f->data + r.site * site_bytes));
    errno = why;
    return file_fail_read(message, size, f->path, what);
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
    const size_t raw_bytes = sites * links_site_bytes(f);
    double *buf = malloc(sites * 72 * sizeof(double));
    unsigned char *raw = malloc(raw_bytes);
    REQUIRE_MEMORY(buf && raw, "out of memory: %zu bytes", sites * 576 + raw_bytes);
    int status = 0;
    const int fd = file_open(f->path, NULL, &status, message, size);
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

/* True if the recorded value is the computed one to the digits given. Text is rounded to its last digit; beyond that
 * another order of the sum leaves some units of round-off, and 32-bit links may have been averaged before they were
 * rounded. A value off in its last digits alone passes as an oddity, when the checksum vouches for the links. */
static int as_recorded(links_info *i, const char *what, double recorded, double unit, double computed, int checksum_ok)
{
    const double links = 12.0 * (double)links_sites(i->size);
    const double noise =
        i->precision_bits == 32 ? 0x1p-24 / sqrt(links) : 0x1p-53 * (fabs(computed) + 16 / sqrt(links));
    const double off = fabs(recorded - computed);
    if (off <= 0.5001 * unit + noise) return 1;
    if (!(off < 1e-6 && checksum_ok)) return 0;
    links_odd(i, "%s is %.16g, the file says %.16g", what, computed, recorded);
    return 1;
}

/* Plaquette, link trace and digest of what was read, against those recorded. */
static int judge_recorded(links_info *i, const field *u, const char *path, int checksum_ok, char *message, size_t size)
{
    char text[2][160] = {"", ""};
    i->found_plaquette = i->found_link_trace = NAN;
    if (i->nonfinite) return 0;
    const gauge_loops loops = gauge_measure_recorded(u);
    i->found_plaquette = loops.plaquette;
    i->found_link_trace = loops.link_trace;
    if (i->has_plaquette)
        i->plaquette_ok = as_recorded(i, "plaquette", i->plaquette, i->plaquette_unit, i->found_plaquette, checksum_ok);
    if (i->has_link_trace)
        i->link_trace_ok =
            as_recorded(i, "link trace", i->link_trace, i->link_trace_unit, i->found_link_trace, checksum_ok);
    if (i->plaquette_ok == 0)
        snprintf(text[0], sizeof text[0], "plaquette is %.12g, the file says %.12g", i->found_plaquette, i->plaquette);
    if (i->link_trace_ok == 0)
        snprintf(text[1], sizeof text[1], "link trace is %.12g, the file says %.12g", i->found_link_trace,
                 i->link_trace);
    if (!text[0][0] && !text[1][0]) return 0;
    file_fail(message, size, "%s: %s%s%s", path, text[0], text[0][0] && text[1][0] ? "; " : "", text[1]);
    return LINKS_BAD_RECORDED;
}

/* The digest that a file records. */
static int judge_digest(links_info *i, const field *u, const char *path, char *message, size_t size)
{
    char found[65];
    if (!i->digest[0]) return 0;
    links_digest(u, found);
    i->digest_ok = !strcmp(found, i->digest);
    if (i->digest_ok) return 0;
    file_fail(message, size, "%s: the links have SHA-256 %s, the file says %s", path, found, i->digest);
    return LINKS_BAD_CHECKSUM;
}

/* The message is that of the first fault. */
static int judge(links_file *f, const links_format *format, const links_sums *sums, const field *u, char *message,
                 size_t size)
{
    int status = 0;
    char found[96], other[512];
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
    if (!status) status |= judge_digest(&f->info, u, f->path, message, size);
    const int vouched = f->info.has_checksum && !status;
    return status |
           judge_recorded(&f->info, u, f->path, vouched, status ? other : message, status ? sizeof other : size);
}

/* Zero links of the last time slice: all in time, or all. Collective. */
static void find_inactive(const field *u, links_info *info)
{
    const lattice *lat = u->lat;
    const size_t numbers = 72 * (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    uint64_t others[2] = {0, 0}; /* numbers in space and in time that are not zero */
    if (lat->origin[3] + lat->local[3] == lat->size[3]) {
        double *buf = malloc(numbers * sizeof *buf);
        REQUIRE_MEMORY(buf, "out of memory: %zu numbers", numbers);
        field_export(u, lat->local[3] - 1, buf);
        for (size_t i = 0; i < numbers; i++) others[i % 72 >= 54] += buf[i] != 0;
        free(buf);
    }
    comm_sum_u64(others, 2);
    info->open_boundary = others[1] == 0;
    info->idle_slices = others[0] == 0 && others[1] == 0;
}

int links_read(field *u, const char *path, links_info *info, char *message, size_t size)
{
    links_file f;
    REQUIRE(u->kind == FIELD_LINKS && u->par == PARITY_BOTH, "links_read of a %s", field_kinds[u->kind].name);
    int status = probe(&f, path, message, size);
    if (!status) status = links_settle_size(&f.info, path, u->lat->size, "[lattice] size", message, size);
    f.width = f.info.precision_bits / 8;
    if (info) *info = f.info;
    if (status) return status;
    const links_format *format = links_format_find(f.info.format);
    links_sums sums = {{0, 0}, 0};
    uint64_t nonfinite = 0;
    status = read_slices(u, u->lat, &f, format, &sums, &nonfinite, message, size);
    double worst = status;
    comm_max(&worst, 1);
    if (comm_any_bad(status, message, size)) return (int)worst;
    comm_xor_u32(sums.xored, 2);
    comm_sum_u64(&sums.summed, 1);
    comm_sum_u64(&nonfinite, 1);
    f.info.nonfinite = nonfinite;
    find_inactive(u, &f.info);
    if (f.info.idle_slices)
        links_remark(
            &f.info,
            "bounded time with an idle slice: all links of the last time slice are zero; commands that take an "
            "input need a [lattice] time_boundary that is not periodic for it, and idle_slices = 1");
    else if (f.info.open_boundary)
        links_remark(&f.info,
                     "open boundaries in time, as openQCD writes them: all links in time of the last time slice "
                     "are zero; commands that take an input need [lattice] time_boundary = open for it");
    status = judge(&f, format, &sums, u, message, size);
    if (info) *info = f.info;
    return status;
}

/* Verifies a file without a checksum, by the digest of its links. */
static int verify_digest(const field *u, const char *path, char *message, size_t size)
{
    char written[65], found[65];
    field *v = field_create(u->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const int bad = links_read(v, path, NULL, message, size);
    links_digest(u, written);
    if (!bad) links_digest(v, found);
    field_destroy(v);
    if (bad || !strcmp(written, found)) return bad;
    file_fail(message, size, "%s: read back, the links have SHA-256 %s, and %s was written", path, found, written);
    return LINKS_BAD_CHECKSUM;
}

int links_verify(const field *u, const char *path, char *message, size_t size)
{
    const lattice *lat = u->lat;
    links_file f;
    links_sums sums = {{0, 0}, 0};
    uint64_t nonfinite = 0;
    char found[96];
    int status = probe(&f, path, message, size);
    if (status) return status;
    const links_format *format = links_format_find(f.info.format);
    REQUIRE(!memcmp(f.info.size, lat->size, sizeof f.info.size), "%s is of another lattice", path);
    if (!format->verify) return verify_digest(u, path, message, size);
    status = read_slices(NULL, lat, &f, format, &sums, &nonfinite, message, size);
    if (comm_any_bad(status, message, size)) return LINKS_UNREADABLE;
    comm_xor_u32(sums.xored, 2);
    comm_sum_u64(&sums.summed, 1);
    if (format->verify(&f, &sums, found, sizeof found)) return 0;
    file_fail(message, size, "%s: read back, the checksum of the links is %s, and %s was written", path, found,
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
