/* Every format of lattice files gives back the bits that were written, and notices a bit that has changed.
 *
 * Formats come from their registry. One that is only read has a writer in this file's table; without one the test fails.
 * A flipped bit of the links is found always where the format has a checksum of them; else the bit is one that takes a
 * number out of proportion, and reading finds it by recorded averages, or the check of a file by the group. Any other
 * flipped bit is found, or leaves the links as they are. */
#include "tests/io/lime_files.h"

#include "io/links/links_format.h"

#define LINKS_FORMAT(name) extern const links_format links_format_##name;
#include "io/links/links_formats.def"
#undef LINKS_FORMAT

static const links_format *const formats[] = {
#define LINKS_FORMAT(name) &links_format_##name,
#include "io/links/links_formats.def"
#undef LINKS_FORMAT
};

/* ---- files of formats that are only read ---- */

static void make_milc_old(const char *path, field *u)
{
    write_old(path, u, 1);
}

static const struct {
    const char *format;
    void (*make)(const char *path, field *u);
} writers[] = {{"milc-old", make_milc_old}};

/* The file; 0 where nothing here can make it. */
static int make_file(const char *path, const links_format *f, field *u)
{
    const links_meta meta = meta_of(u);
    if (f->prepare) {
        CHECK_INT(links_write(u, path, f->name, &meta, message, sizeof message), 0);
        return 1;
    }
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (!strcmp(writers[i].format, f->name)) {
            writers[i].make(path, u);
            return 1;
        }
    return 0;
}

/* ---- what is read ---- */

/* Numbers of the file's precision. */
static void narrow(field *u)
{
    double *all = gathered(u);
    for (size_t i = 0; i < 72 * (size_t)u->lat->volume; i++) all[i] = (float)all[i];
    scattered(u, all);
    free(all);
}

static int same_links(const field *u, const field *v)
{
    double *a = gathered(u), *b = gathered(v);
    const int same = !memcmp(a, b, 72 * (size_t)u->lat->volume * sizeof *a);
    free(b);
    free(a);
    return same;
}

static void check_read(const char *path, const char *format, field *u, field *v, links_info *info)
{
    CHECK_INT(links_read(v, path, info, message, sizeof message), 0);
    CHECK_STR(info->format, format);
    CHECK_INT(info->has_checksum, links_format_has_checksum(format));
    if (info->precision_bits == 32) narrow(u);
    CHECK(same_links(u, v));
    CHECK_NEAR(info->found_plaquette, plaquette(u), 1e-8);
}

/* ---- damage ---- */

/* Where the links are, as their format says. */
static void region_of(const links_format *f, const char *path, size_t *from, size_t *bytes)
{
    links_file file = {0};
    uint64_t length;
    int bad = 0;
    uint64_t place[2] = {0};
    if (comm_rank() == 0) {
        const int fd = file_open(path, &length, &bad, message, sizeof message);
        snprintf(file.path, sizeof file.path, "%s", path);
        file.info.file_bytes = length;
        bad = f->read_header(&file, fd, message, sizeof message);
        close(fd);
        place[0] = file.data;
        place[1] = links_sites(file.info.size) * links_site_bytes(&file);
    }
    CHECK_INT(bad, 0);
    comm_bcast(place, sizeof place);
    *from = (size_t)place[0];
    *bytes = (size_t)place[1];
}

/* 1 if reading complains about the file with this bit flipped; 0 if it does not, but gives the same links; else -1. */
static int flipped(const char *path, const bytes *b, size_t at, int bit, const field *u, field *v)
{
    b->p[at] ^= (unsigned char)(1 << bit);
    save(path, b->p, b->n);
    b->p[at] ^= (unsigned char)(1 << bit);
    const int bits = links_read(v, path, NULL, message, sizeof message);
    return bits ? 1 : same_links(u, v) ? 0 : -1;
}

/* Bytes all over the links, one bit of each; of formats without a checksum the highest bits of an exponent. */
static void check_links_damage(const char *path, const bytes *b, const links_format *f, size_t from, size_t n,
                               const links_info *info, const field *u, field *v)
{
    enum { FLIPS = 64 };
    const size_t width = (size_t)info->precision_bits / 8;
    int found = 0;
    for (size_t i = 0; i < FLIPS; i++) {
        size_t at = from + (n - 1) * i / (FLIPS - 1);
        int bit = (int)(i % 8);
        if (!f->sum) { /* the byte with sign and exponent, and of it the bit that makes a number huge, or tiny */
            at = from + (at - from) / width * width + (info->big_endian ? 0 : width - 1);
            bit = 6;
        }
        check_report r;
        found += flipped(path, b, at, bit, u, v) == 1 ||
                 (!f->sum && (links_check(path, NULL, &r) != CHECK_WHOLE || !r.unitary));
    }
    if (comm_rank() == 0) printf("%s: %d of %d flipped bits of the links found\n", f->name, found, FLIPS);
    CHECK_INT(found, FLIPS);
}

/* Bytes of headers and trailers. */
static void check_other_damage(const char *path, const bytes *b, size_t from, size_t n, const links_format *f,
                               const field *u, field *v)
{
    enum { FLIPS = 48 };
    const size_t others = b->n - n;
    int found = 0, harmless = 0;
    for (size_t i = 0; i < FLIPS && others > 0; i++) {
        const size_t k = (others - 1) * i / (FLIPS - 1), at = k < from ? k : k + n;
        const int said = flipped(path, b, at, (int)(i * 5 % 8), u, v);
        found += said == 1;
        harmless += said == 0;
        CHECK(said >= 0);
    }
    if (comm_rank() == 0)
        printf("%s: %d flipped bits beside the links found, %d without harm\n", f->name, found, harmless);
    CHECK(found > 0);
}

static void check_format(const links_format *f)
{
    links_info info;
    const char *path = in_folder("file");
    field *u = field_of(small), *v = field_like(u);
    fill_random(u);
    const int made = make_file(path, f, u);
    if (!made) printf("no file of the format %s can be made: add it to the table of writers\n", f->name);
    CHECK(made);
    if (made) {
        size_t from, n;
        check_read(path, f->name, u, v, &info);
        region_of(f, path, &from, &n);
        bytes b = load(path);
        comm_barrier(); /* before rank 0 writes there again */
        CHECK(from + n <= b.n);
        check_links_damage(path, &b, f, from, n, &info, u, v);
        check_other_damage(path, &b, from, n, f, u, v);
        free(b.p);
    }
    field_destroy(v);
    drop(u);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    begin_folder("plaq_formats");
    int n = 0;
    for (; links_format_name(n); n++) {
        CHECK(n < (int)(sizeof formats / sizeof formats[0]));
        CHECK_STR(links_format_name(n), formats[n]->name);
        check_format(formats[n]);
    }
    CHECK_INT(n, (int)(sizeof formats / sizeof formats[0]));
    end_folder();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
