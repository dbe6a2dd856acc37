/* Healthy lattice files as other programs spell them, which are whole; and files whose links are not those that they record,
 * which every reader refuses. Works on any number of ranks. */
#include <fcntl.h>
#include <stdio.h>

#include "tests/io/lime_files.h"

static field *u; /* the links of all files */

static check_report checked(const char *name, const int *size)
{
    check_report r;
    links_check(in_folder(name), size, &r);
    return r;
}

/* The file is whole and has the links of u. */
static void expect_whole(const char *name, const int *size)
{
    char digest[65];
    const check_report r = checked(name, size);
    links_digest(u, digest);
    CHECK_INT(r.verdict, CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.digest, digest);
}

/* The averages of the links are not those of the file, and that is all there is to find. */
static void expect_bad_recorded(const char *name, const char *what)
{
    field *v = field_like(u);
    CHECK_INT(links_read(v, in_folder(name), NULL, message, sizeof message), LINKS_BAD_RECORDED);
    CHECK_HAS(message, what);
    const check_report r = checked(name, NULL);
    CHECK_INT(r.verdict, CHECK_DAMAGED);
    CHECK_HAS(r.message, what);
    field_destroy(v);
}

/* ---- LIME files ---- */

static void test_others_lime(void)
{
    const double p = plaquette(u), trace = links_trace(u);
    bytes b = tmlqcd(u, p);
    finish(&b, "tmlqcd");
    expect_whole("tmlqcd", NULL);
    check_report r = checked("tmlqcd", NULL);
    CHECK_INT(r.info.plaquette_ok, 1);
    CHECK(r.info.has_sequence);
    CHECK_INT(r.info.sequence, 1234);
    b = tmlqcd(u, p + 1e-5);
    finish(&b, "tmlqcd");
    expect_bad_recorded("tmlqcd", "plaquette is");

    b = grid(u, p, trace);
    finish(&b, "grid");
    expect_whole("grid", NULL);
    r = checked("grid", NULL);
    CHECK_INT(r.info.plaquette_ok, 1);
    CHECK_INT(r.info.link_trace_ok, 1);
    CHECK_INT(r.info.sequence, 77);
    CHECK_STR(r.info.ensemble, "beta 6");
    b = grid(u, 0, 0);
    finish(&b, "grid");
    expect_whole("grid", NULL);
    CHECK_INT(checked("grid", NULL).info.plaquette_ok, -1);
    b = grid(u, p, trace + 1e-4);
    finish(&b, "grid");
    expect_bad_recorded("grid", "link trace is");
    b = grid(u, p, trace);
    char known[64], other[64];
    snprintf(known, sizeof known, "<plaquette>%g", p);
    snprintf(other, sizeof other, "%s", known);
    char *last = other + strlen(other) - 1;
    *last = (char)(*last < '5' ? *last + 5 : *last - 5);
    replace(&b, known, other);
    finish(&b, "grid");
    CHECK_INT(checked("grid", NULL).verdict, CHECK_ODD);
}

/* The ILDG record of links and nothing else. */
static void test_links_alone(void)
{
    const int other[4] = {4, 4, 4, 6};
    for (size_t width = 4; width <= 8; width += 4) {
        bytes b = {NULL, 0}, links = links_of(u, width);
        add_record(&b, "ildg-binary-data", 1, 1, links.p, links.n);
        finish(&b, "alone");
        free(links.p);
        check_report r = checked("alone", NULL);
        CHECK_INT(r.verdict, CHECK_UNCHECKED);
        CHECK_HAS(r.message, "the file does not say the size of its lattice: give it by --size");
        r = checked("alone", other);
        CHECK_INT(r.verdict, CHECK_UNCHECKED);
        CHECK_HAS(r.message, "not a lattice of 4.4.4.6 (--size)");
        r = checked("alone", small);
        CHECK_INT(r.verdict, CHECK_WHOLE);
        CHECK_INT(r.info.precision_bits, (int)width * 8);
        if (width == 8) expect_whole("alone", small);
        field *v = field_like(u);
        CHECK_INT(links_read(v, in_folder("alone"), NULL, message, sizeof message), 0);
        field_destroy(v);
    }
    /* A size beside the one in the file has to be that. */
    bytes b = tmlqcd(u, plaquette(u));
    finish(&b, "sized");
    CHECK_INT(checked("sized", small).verdict, CHECK_WHOLE);
    CHECK_INT(checked("sized", other).verdict, CHECK_UNCHECKED);
}

/* XML as programs may write it. */
static void test_xml(void)
{
    static const char *const spellings[][2] = {
        {"<date>", "<date />\n<!-- "},
        {"<lx>4</lx>", "<lx> 4\n</lx >"},
        {"<lx>4</lx>", "<lx> 4</lx>"},
        {"<?xml version=\"1.0\" encoding=\"UTF-8\"?><ildgFormat", "\xef\xbb\xbf<ildgFormat"},
        {"<?xml version=\"1.0\" encoding=\"UTF-8\"?><ildgFormat",
         "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<ildgFormat"},
        {" xmlns=\"http://www.lqcd.org/ildg\"", " xmlns='http://www.lqcd.org/ildg'"},
        {"/ildg/filefmt.xsd\"", "/ildg http://www.lqcd.org/ildg/filefmt.xsd\" "},
        {"<ildgFormat xmlns=", "<g:ildgFormat xmlns:g="},
        {"<field>su3gauge</field>", ""},
        {"</ildgFormat>", "</ildgFormat>"}};
    const links_meta meta = meta_of(u);
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        CHECK_INT(links_write(u, in_folder("ours.lime"), "ildg", &meta, message, sizeof message), 0);
        const bytes ours = load(in_folder("ours.lime"));
        bytes b = {NULL, 0};
        /* Records anew, with the text changed where it stands. */
        for (size_t at = 0; at < ours.n;) {
            const unsigned char *h = ours.p + at;
            size_t n = 0;
            for (int k = 0; k < 8; k++) n = n << 8 | h[8 + k];
            bytes text = {NULL, 0};
            append(&text, h + 144, n);
            if (memmem(text.p, text.n, spellings[i][0], strlen(spellings[i][0]))) {
                replace(&text, spellings[i][0], spellings[i][1]);
                if (i == 0) replace(&text, "</date>", "-->");
                if (i == 7) replace(&text, "</ildgFormat>", "</g:ildgFormat>");
                if (i == 7) replace(&text, "<field>su3gauge</field>", "<g:field>su3gauge</g:field>");
            }
            /* Seven zero bytes more, as some writers pad. */
            if (i == 9 && !strcmp((const char *)h + 16, "ildg-format")) append(&text, "\0\0\0\0\0\0", 7);
            if (strcmp((const char *)h + 16, "plaq-seal"))
                add_record(&b, (const char *)h + 16, h[6] >> 7, h[6] >> 6 & 1, text.p, text.n);
            free(text.p);
            at += 144 + (n + 7) / 8 * 8;
        }
        finish(&b, "xml");
        free(ours.p);
        expect_whole("xml", NULL);
        const check_report r = checked("xml", NULL);
        if (i == 8) CHECK_HAS(r.info.remark, "no <field>");
        else CHECK_STR(r.info.remark, "");
    }
}

/* ---- NERSC ---- */

static void test_nersc(void)
{
    write_nersc(in_folder("n"), u, u, 3, 8, 1);
    const bytes plain = load(in_folder("n"));
    char sum[16], capitals[64], key[64];
    sscanf(strstr((char *)plain.p, "CHECKSUM = "), "CHECKSUM = %15s", sum);
    snprintf(key, sizeof key, "CHECKSUM = %s", sum);
    snprintf(capitals, sizeof capitals, "CHECKSUM = ");
    for (size_t i = 0; sum[i]; i++)
        snprintf(capitals + strlen(capitals), 8, "%c", sum[i] >= 'a' ? sum[i] - 'a' + 'A' : sum[i]);
    bytes b = load(in_folder("n"));
    replace(&b, key, capitals);
    finish(&b, "capitals");
    expect_whole("capitals", NULL);
    /* All lines end with CR LF. */
    b = (bytes){NULL, 0};
    const size_t header = (size_t)(strstr((char *)plain.p, "END_HEADER\n") - (char *)plain.p) + 11;
    for (size_t i = 0; i < header; i++)
        append(&b, plain.p[i] == '\n' ? "\r\n" : (char *)plain.p + i, plain.p[i] == '\n' ? 2 : 1);
    append(&b, plain.p + header, plain.n - header);
    finish(&b, "crlf");
    expect_whole("crlf", NULL);
    b = load(in_folder("crlf"));
    replace(&b, "DIMENSION_2 = 4\r\n", "DIMENSION_2 = 4\n");
    finish(&b, "mixed");
    CHECK_INT(checked("mixed", NULL).verdict, CHECK_ODD);
    /* As Grid spaces it. */
    char wide[64];
    snprintf(wide, sizeof wide, "CHECKSUM = %10s\nSCIDAC_CHECKSUMA = %10s", sum, "1234");
    b = load(in_folder("n"));
    replace(&b, key, wide);
    replace(&b, "PLAQUETTE =", "PLAQUETTE  =");
    finish(&b, "grid.nersc");
    expect_whole("grid.nersc", NULL);
    free(plain.p);
}

/* ---- openQCD ---- */

static void test_openqcd(void)
{
    static const struct {
        double off;
        check_verdict verdict;
    } cases[] = {{1e-12, CHECK_WHOLE}, {-1e-12, CHECK_WHOLE}, {1e-9, CHECK_DAMAGED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_openqcd(in_folder("o"), u, 0);
        bytes b = load(in_folder("o"));
        double p;
        memcpy(&p, b.p + 16, 8);
        p *= 1 + cases[i].off;
        memcpy(b.p + 16, &p, 8);
        finish(&b, "summed");
        CHECK_INT(checked("summed", NULL).verdict, cases[i].verdict);
    }
    expect_bad_recorded("summed", "plaquette is");
}

/* Cold links but for one that deviates from the group by `off` in one number. */
static void test_rounding(void)
{
    static const struct {
        double off;
        check_verdict verdict;
    } cases[] = {{1e-15, CHECK_WHOLE}, {4e-15, CHECK_DAMAGED}};
    for (int i = 0; i < 2; i++) {
        double *all = calloc(72 * (size_t)u->lat->volume, sizeof *all);
        for (size_t k = 0; k < 12 * (size_t)u->lat->volume; k++) all[18 * (k / 3) + 8 * (k % 3)] = 1;
        all[18 * 77 + 7] = cases[i].off;
        field *v = field_like(u);
        scattered(v, all);
        free(all);
        write_openqcd(in_folder("rounded"), v, 0);
        field_destroy(v);
        CHECK_INT(checked("rounded", NULL).verdict, cases[i].verdict);
    }
}

/* Links in time of the last slice are zero; where one of them is not, or a link of another slice is, that is damage. */
static void test_open_boundary(void)
{
    for (int i = 0; i < 3; i++) {
        double *all = gathered(u);
        const size_t slice = (size_t)u->lat->volume / (size_t)u->lat->size[3];
        for (size_t site = (size_t)u->lat->volume - slice; site < (size_t)u->lat->volume; site++)
            memset(all + 72 * site + 54, 0, 18 * sizeof *all);
        if (i == 1) all[72 * (size_t)u->lat->volume - 1] = 1e-3;
        if (i == 2) memset(all + 54, 0, 18 * sizeof *all);
        field *v = field_like(u);
        scattered(v, all);
        free(all);
        write_openqcd(in_folder("open"), v, i == 2);
        field_destroy(v);
        const check_report r = checked("open", NULL);
        CHECK_INT(r.verdict, i ? CHECK_DAMAGED : CHECK_WHOLE);
        CHECK_INT(r.info.open_boundary, i != 1);
        CHECK_INT(r.unitary, i == 0);
        if (i == 0) CHECK_HAS(r.info.remark, "open boundaries in time");
    }
}

/* ---- other links than those recorded, the checksum being right ---- */

/* Links of u at other places, or transposed. */
static field *rearranged(int way)
{
    const int *n = u->lat->size;
    double *all = gathered(u), *other = malloc(72 * sizeof(double) * (size_t)u->lat->volume);
    for (int t = 0; t < n[3]; t++)
        for (int z = 0; z < n[2]; z++)
            for (int y = 0; y < n[1]; y++)
                for (int x = 0; x < n[0]; x++) {
                    const size_t to = site_number(n, x, y, z, t);
                    const size_t from = way == 0   ? site_number(n, t, z, y, x)
                                        : way == 1 ? to
                                                   : site_number(n, t == 1 ? n[0] - 1 - x : x, y, z, t);
                    for (int k = 0; k < 72; k++) {
                        const int link = k / 18, row = k % 18 / 6, column = k % 6 / 2, part = k % 2;
                        other[72 * to + (size_t)k] =
                            all[72 * from + (size_t)(way == 1 ? 18 * link + 6 * column + 2 * row + part : k)];
                    }
                }
    field *v = field_like(u);
    scattered(v, other);
    free(other);
    free(all);
    return v;
}

static void test_rearranged(void)
{
    for (int way = 0; way < 3; way++) {
        field *v = rearranged(way);
        write_nersc(in_folder("turned.nersc"), v, u, 3, 8, 1);
        expect_bad_recorded("turned.nersc", "plaquette is");
        const links_meta meta = meta_of(u);
        CHECK_INT(links_write(v, in_folder("turned.lime"), "ildg", &meta, message, sizeof message), 0);
        expect_bad_recorded("turned.lime", "plaquette is");
        CHECK_INT(links_write(v, in_folder("turned.h5"), "hdf5", &meta, message, sizeof message), 0);
        expect_bad_recorded("turned.h5", "plaquette is");
        write_openqcd(in_folder("turned.openqcd"), v, 0);
        write_openqcd(in_folder("straight.openqcd"), u, 0);
        bytes b = load(in_folder("turned.openqcd")), straight = load(in_folder("straight.openqcd"));
        memcpy(b.p + 16, straight.p + 16, 8);
        free(straight.p);
        finish(&b, "turned.openqcd");
        expect_bad_recorded("turned.openqcd", "plaquette is");
        field_destroy(v);
    }
}

/* ---- what goes with the links from format to format ---- */

static void test_names(void)
{
    static const char *const formats[] = {"ildg", "scidac", "nersc", "hdf5"};
    links_info info;
    for (int i = 0; i < 4; i++)
        for (int label = 0; label < 2; label++) {
            links_meta meta = meta_of(u);
            meta.sequence = 4711;
            meta.ensemble = label ? "beta 6.0" : NULL;
            meta.lfn = label ? "lfn://here/4711" : NULL;
            CHECK_INT(links_write(u, in_folder("named"), formats[i], &meta, message, sizeof message), 0);
            CHECK_INT(links_probe(in_folder("named"), &info, message, sizeof message), 0);
            CHECK(info.has_sequence);
            CHECK_INT(info.sequence, 4711);
            CHECK_STR(info.ensemble, label ? "beta 6.0" : "");
            CHECK_STR(info.parameters, meta.parameters);
            CHECK_STR(info.lfn, label && i == 0 ? "lfn://here/4711" : "");
        }
}

/* ---- every bit of plaq's own headers ---- */

static void test_own_headers(void)
{
    static const char *const formats[] = {"nersc", "hdf5", "ildg", "scidac", "milc"};
    const size_t bytes_64 = 576 * (size_t)u->lat->volume;
    const links_meta meta = meta_of(u);
    links_info info;
    if (comm_size() > 1) return; /* rank 0 alone reads headers */
    for (int i = 0; i < 5; i++) {
        const size_t links = i == 4 ? bytes_64 / 2 : bytes_64;
        long missed = 0;
        const char *path = in_folder("header");
        CHECK_INT(links_write(u, path, formats[i], &meta, message, sizeof message), 0);
        const bytes b = load(path);
        const char *without = i == 1 ? strstr((char *)b.p, "without = ") : NULL;
        const unsigned char *type =
            i == 2 || i == 3 ? memmem(b.p, b.n, i == 2 ? "ildg-binary" : "scidac-binary", i == 2 ? 11 : 13) : NULL;
        const size_t start = i == 1 ? strtoul(without + 10, NULL, 10) : type ? (size_t)(type - b.p) + 128 : b.n - links;
        const int fd = open(path, O_RDWR);
        for (size_t at = 0; at < b.n; at++)
            for (int bit = 0; bit < 8 && (at < start || at >= start + links); bit++) {
                const unsigned char flipped = b.p[at] ^ (unsigned char)(1 << bit);
                missed += pwrite(fd, &flipped, 1, (off_t)at) != 1;
                const int found = links_probe(path, &info, message, sizeof message) || info.oddity[0];
                if (!found) printf("%s: bit %d of byte %zu does not show\n", formats[i], bit, at);
                missed += !found;
                missed += pwrite(fd, b.p + at, 1, (off_t)at) != 1;
            }
        close(fd);
        CHECK_INT(missed, 0);
        CHECK_INT(links_probe(path, &info, message, sizeof message), 0);
        free(b.p);
    }
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    begin_folder("plaq_spellings");
    u = field_of(small);
    fill_random(u);
    test_others_lime();
    test_links_alone();
    test_xml();
    test_nersc();
    test_openqcd();
    test_rounding();
    test_open_boundary();
    test_rearranged();
    test_names();
    test_own_headers();
    drop(u);
    end_folder();
    const int failed = CHECK_SUMMARY();
    comm_finalize();
    return failed;
}
