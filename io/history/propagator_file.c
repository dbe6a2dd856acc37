#include "io/history/propagator_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/history/propagator_format.h"
#include "io/links/links_format.h"
#include "io/links/links_rows.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"

#define PROPAGATOR_FORMAT(name) extern const propagator_format propagator_format_##name;
#include "io/history/propagator_formats.def"
#undef PROPAGATOR_FORMAT

static const propagator_format *const formats[] = {
#define PROPAGATOR_FORMAT(name) &propagator_format_##name,
#include "io/history/propagator_formats.def"
#undef PROPAGATOR_FORMAT
};
enum { FORMATS = sizeof formats / sizeof formats[0], FIRST_BYTES = 64 };

static int format_of_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    int i = 0;
    while (i < FORMATS - 1 && !(dot && param_has_word(formats[i]->endings, dot))) i++;
    return i;
}

int propagator_file_takes_transformation(const char *path)
{
    return formats[format_of_name(path)]->transformations;
}

const char *propagator_file_format(const propagator_file *f)
{
    return formats[f->format]->name;
}

static int agree(int bad, char *message, size_t size)
{
    double worst = bad;
    comm_max(&worst, 1);
    comm_any_bad(bad, message, size);
    return (int)worst;
}

/* ---- the shape ---- */

static const char *noun(const propagator_file *f)
{
    return f->is_transformation ? "gauge transformation" : "propagator";
}

static size_t reals_of(const propagator_file *f)
{
    return (size_t)(6 * f->spins * f->columns);
}

static size_t site_bytes(const propagator_file *f)
{
    return reals_of(f) * (size_t)f->bits / 8;
}

uint64_t propagator_file_bytes(const propagator_file *f)
{
    return links_sites(f->size) * site_bytes(f);
}

/* ---- numbers ---- */

/* Place in a field's site, [column][spin][colour], of each complex number of the file's site; allocated. */
static int *places_of(const propagator_file *f)
{
    const int spins = f->spins, sources = f->columns / 3, all = 3 * spins * f->columns;
    int *place = malloc((size_t)all * sizeof *place), n = 0;
    REQUIRE_MEMORY(place, "out of memory: %d numbers", all);
    if (!formats[f->format]->spins_first)
        while (n < all) place[n] = n, n++;
    for (int s = 0; s < spins && n < all; s++)
        for (int t = 0; t < sources; t++)
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++) place[n++] = ((3 * t + d) * spins + s) * 3 + c;
    return place;
}

static void encode(const propagator_file *f, const int *place, const double *x, size_t sites, unsigned char *to)
{
    const int big = formats[f->format]->big, bits = f->bits;
    const size_t reals = reals_of(f);
    for (size_t i = 0; i < sites * reals; i++, to += bits / 8) {
        const double number = x[i / reals * reals + (size_t)(2 * place[i % reals / 2]) + i % 2];
        const float single = (float)number;
        uint64_t w;
        uint32_t v;
        memcpy(&w, &number, sizeof w);
        memcpy(&v, &single, sizeof v);
        if (bits == 64) store64(to, w, big);
        else store32(to, v, big);
    }
}

static void decode(const propagator_file *f, const int *place, const unsigned char *from, size_t sites, double *x)
{
    const int big = formats[f->format]->big, bits = f->bits;
    const size_t reals = reals_of(f);
    for (size_t i = 0; i < sites * reals; i++, from += bits / 8) {
        double *number = &x[i / reals * reals + (size_t)(2 * place[i % reals / 2]) + i % 2];
        const uint64_t w = bits == 64 ? load64(from, big) : 0;
        const uint32_t v = bits == 64 ? 0 : load32(from, big);
        float single;
        memcpy(&single, &v, sizeof single);
        if (bits == 64) memcpy(number, &w, sizeof w);
        else *number = single;
    }
}

void propagator_round(field *columns)
{
    const lattice *lat = columns->lat;
    const size_t n = (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2] *
                     (size_t)(columns->groups * columns->reals);
    double *slice = field_slice_buffer(columns);
    for (int t = 0; t < field_slices(columns); t++) {
        field_export(columns, t, slice);
        for (size_t i = 0; i < n; i++) slice[i] = (float)slice[i];
        field_import(columns, t, slice);
    }
    free(slice);
}

/* ---- the numbers, on all ranks ---- */

static void pass_checksum(uint32_t to[2], const uint32_t from[2])
{
    memcpy(to, from, 2 * sizeof *to);
    comm_xor_u32(to, 2);
}

/* Writes this rank's sites to their places, and adds up their checksum. */
static int write_sites(const char *path, const field *columns, propagator_file *f, char *message, size_t size)
{
    const lattice *lat = columns->lat;
    const size_t site = site_bytes(f), reals = reals_of(f), bytes = rows_get(lat, 0, 0).n * site;
    uint32_t sums[2] = {0, 0};
    double *slice = field_slice_buffer(columns);
    unsigned char *raw = malloc(bytes);
    int *place = places_of(f);
    REQUIRE_MEMORY(raw, "out of memory: %zu bytes", bytes);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int bad = fd < 0;
    for (int t = 0; t < lat->local[3] && !bad; t++) {
        field_export(columns, t, slice);
        for (int i = 0; i < rows_count(lat) && !bad; i++) {
            const rows_run r = rows_get(lat, t, i);
            encode(f, place, slice + reals * r.start, r.n, raw);
            scidac_add(sums, r.site, raw, r.n, site);
            bad = file_pwrite(fd, raw, bytes, f->data + r.site * site) != 0;
        }
    }
    if (!bad) bad = fsync(fd) != 0;
    if (bad) file_fail(message, size, "%s: writing the %s: %s (rank %d)", path, noun(f), strerror(errno), comm_rank());
    if (fd >= 0 && close(fd) != 0 && !bad)
        bad = file_fail(message, size, "%s: writing the %s: %s (rank %d)", path, noun(f), strerror(errno), comm_rank());
    free(place);
    free(raw);
    free(slice);
    bad = agree(bad ? LINKS_UNREADABLE : 0, message, size);
    pass_checksum(f->checksum, sums);
    return bad;
}

int propagator_file_read(const char *path, const propagator_file *f, const lattice *lat, field *columns, char *message,
                         size_t size)
{
    const size_t site = site_bytes(f), reals = reals_of(f), bytes = rows_get(lat, 0, 0).n * site,
                 sites = (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    uint32_t sums[2] = {0, 0}, found[2];
    double *slice = malloc((columns ? sites * reals : 1) * sizeof *slice);
    unsigned char *raw = malloc(bytes);
    int *place = places_of(f), bad = 0;
    REQUIRE_MEMORY(slice && raw, "out of memory: %zu bytes", sites * reals * sizeof *slice + bytes);
    const int fd = file_open(path, NULL, &bad, message, size);
    for (int t = 0; t < lat->local[3] && !bad; t++) {
        for (int i = 0; i < rows_count(lat) && !bad; i++) {
            const rows_run r = rows_get(lat, t, i);
            if (file_pread(fd, raw, bytes, f->data + r.site * site))
                bad = file_fail_read(message, size, path, "the numbers");
            else scidac_add(sums, r.site, raw, r.n, site);
            if (columns && !bad) decode(f, place, raw, r.n, slice + reals * r.start);
        }
        if (columns && !bad) field_import(columns, t, slice);
    }
    if (fd >= 0) close(fd);
    free(place);
    free(raw);
    free(slice);
    bad = agree(bad, message, size);
    pass_checksum(found, sums);
    if (bad || !f->has_checksum || !memcmp(found, f->checksum, sizeof found)) return bad;
    file_fail(message, size, "%s: the %s is damaged: its checksum is %08x %08x, the file says %08x %08x", path, noun(f),
              found[0], found[1], f->checksum[0], f->checksum[1]);
    return LINKS_BAD_CHECKSUM;
}

/* ---- writing ---- */

/* The temporary file, and the place of the numbers in it. Rank 0. */
static int begin(atomic_file *a, const char *path, propagator_file *f, const char *program, char *message, size_t size)
{
    const int bad = formats[f->format]->prepare(path, f, program, message, size);
    if (bad) return bad;
    const int fd =
        atomic_begin(a, path, propagator_file_bytes(f), message, size) ? -1 : atomic_create(a, message, size);
    if (fd < 0) return LINKS_UNREADABLE;
    if (close(fd) == 0) return 0;
    atomic_abandon(a);
    return file_fail(message, size, "%s: cannot be created: %s", path, strerror(errno));
}

/* The file is read from disk, not from memory of the system. */
static void forget(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

int propagator_file_write(const char *path, const field *columns, const propagator_file *of, const char *program,
                          char *message, size_t size)
{
    const int root = comm_rank() == 0;
    propagator_file f = *of;
    atomic_file a;
    REQUIRE(columns->par == PARITY_BOTH && columns->prec == PREC_DOUBLE && columns->Ls == 1, "a %s of %d slices",
            field_kinds[columns->kind].name, columns->Ls);
    memcpy(f.size, columns->lat->size, sizeof f.size);
    f.is_transformation = columns->kind == FIELD_COLOUR_MATRIX;
    f.columns = f.is_transformation ? 3 : columns->nrhs;
    f.spins = f.is_transformation ? 1 : columns->reals / 6;
    f.checksum[0] = f.checksum[1] = 0;
    f.has_checksum = 1;
    f.format = format_of_name(path);
    REQUIRE(!f.is_transformation || formats[f.format]->transformations, "%s: no format of gauge transformations", path);
    int bad = agree(root ? begin(&a, path, &f, program, message, size) : 0, message, size);
    if (bad) return bad;
    comm_bcast(&a, sizeof a);
    comm_bcast(&f.data, sizeof f.data);
    bad = write_sites(a.temporary, columns, &f, message, size);
    if (!bad) bad = agree(root ? formats[f.format]->finish(a.temporary, &f, program, message, size) : 0, message, size);
    if (!bad) {
        if (root) bad = atomic_sync(a.temporary, message, size) ? LINKS_UNREADABLE : 0;
        forget(a.temporary);
        bad = agree(bad, message, size);
        if (!bad) bad = propagator_file_read(a.temporary, &f, columns->lat, NULL, message, size);
    }
    if (root && bad) atomic_abandon(&a);
    else if (root) bad = atomic_commit(&a, message, size) ? LINKS_UNREADABLE : 0;
    return agree(bad, message, size);
}

/* ---- reading ---- */

static int look_here(const char *path, propagator_file *f, char *message, size_t size)
{
    unsigned char first[FIRST_BYTES] = {0};
    uint64_t bytes = 0;
    int bad = 0, format = 0;
    const int fd = file_open(path, &bytes, &bad, message, size);
    if (fd < 0) return bad;
    const size_t n = bytes < FIRST_BYTES ? (size_t)bytes : FIRST_BYTES;
    if (file_pread(fd, first, n, 0)) bad = file_fail_read(message, size, path, "the first bytes");
    close(fd);
    if (bad) return bad;
    while (format < FORMATS && !formats[format]->probe(first, n)) format++;
    if (format == FORMATS)
        return LINKS_NO_LATTICE |
               file_fail(message, size, "%s is neither an HDF5 nor a LIME file, and no propagator", path);
    bad = formats[format]->look(path, f, message, size);
    f->format = format;
    return bad;
}

int propagator_file_is_ours(const char *path)
{
    char message[256];
    propagator_file f = {0};
    const int ours = !look_here(path, &f, message, sizeof message) && f.links[0];
    propagator_file_free(&f);
    return ours;
}

int propagator_file_look(const char *path, propagator_file *f, char *message, size_t size)
{
    *f = (propagator_file){0};
    const int root = comm_rank() == 0, bad = agree(root ? look_here(path, f, message, size) : 0, message, size);
    if (bad) {
        propagator_file_free(f);
        return bad;
    }
    char *identity = f->identity;
    size_t n = identity ? strlen(identity) + 1 : 0;
    comm_bcast(f, sizeof *f);
    comm_bcast(&n, sizeof n);
    f->identity = root ? identity : malloc(n);
    REQUIRE_MEMORY(f->identity, "out of memory: %zu bytes", n);
    comm_bcast(f->identity, n);
    return 0;
}

void propagator_file_free(propagator_file *f)
{
    free(f->identity);
    *f = (propagator_file){0};
}
