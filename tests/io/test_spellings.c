/* Healthy lattice files as other programs spell them, which are whole; and files whose links are not those that they record,
 * which every reader refuses. Works on any number of ranks. */
#include <fcntl.h>
#include <stdio.h>

#include "io/checksum.h"
#include "tests/io/files.h"

static field *u; /* the links of all files */

/* ---- texts with something replaced ---- */

static void append(bytes *b, const void *p, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

/* The file with the first `old` replaced. */
static void replace(bytes *b, const char *old, const char *with)
{
    bytes out = {NULL, 0};
    const unsigned char *at = memmem(b->p, b->n, old, strlen(old));
    CHECK(at != NULL);
    if (!at) return;
    const size_t before = (size_t)(at - b->p), after = before + strlen(old);
    append(&out, b->p, before);
    append(&out, with, strlen(with));
    append(&out, b->p + after, b->n - after);
    free(b->p);
    *b = out;
}

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

static void add_record(bytes *b, const char *type, int begin, int end, const void *data, size_t n)
{
    unsigned char h[144] = {0x45, 0x67, 0x89, 0xab, 0, 1, (unsigned char)(begin << 7 | end << 6), 0};
    static const unsigned char zeros[8];
    for (int i = 0; i < 8; i++) h[8 + i] = (unsigned char)((uint64_t)n >> 8 * (7 - i));
    strcpy((char *)h + 16, type);
    append(b, h, sizeof h);
    append(b, data, n);
    append(b, zeros, (8 - n % 8) % 8);
}

static void add_text(bytes *b, const char *type, int begin, int end, const char *text)
{
    add_record(b, type, begin, end, text, strlen(text));
}

/* The links, big-endian, in that width. */
static bytes links_of(size_t width)
{
    double *all = gathered(u);
    bytes b = {malloc(18 * 4 * 8 * (size_t)u->lat->volume + 1), 0};
    for (size_t i = 0; i < 4 * (size_t)u->lat->volume; i++) b.n += put_link(b.p + b.n, all + 18 * i, 3, width, 1);
    free(all);
    return b;
}

static void checksum_of(const bytes *links, uint32_t sums[2])
{
    sums[0] = sums[1] = 0;
    scidac_add(sums, 0, links->p, (size_t)u->lat->volume, 576);
}

static void finish(bytes *b, const char *name)
{
    save(in_folder(name), b->p, b->n);
    free(b->p);
}

/* As tmLQCD writes it. */
static bytes tmlqcd(double p)
{
    bytes b = {NULL, 0}, links = links_of(8);
    char text[1024];
    uint32_t sums[2];
    checksum_of(&links, sums);
    snprintf(text, sizeof text,
             "\n plaquette = %e\n trajectory nr = 1234\n beta = 1.726000, kappa = 0.140065, mu = 0.002500, c2_rec = "
             "-0.083333\n time = 1500000000\n hmcversion = 5.2.0\n mubar = 0.0\n epsilonbar = 0.0\n date = Fri",
             p);
    add_text(&b, "xlf-info", 1, 1, text);
    snprintf(text, sizeof text,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ildgFormat xmlns=\"http://www.lqcd.org/ildg\"\n"
             "            xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
             "            xsi:schemaLocation=\"http://www.lqcd.org/ildg filefmt.xsd\">\n"
             "  <version> 1.0 </version>\n  <field> su3gauge </field>\n  <precision> 64 </precision>\n"
             "  <lx> 4 </lx>\n  <ly> 4 </ly>\n  <lz> 4 </lz>\n  <lt> 4 </lt>\n</ildgFormat>");
    add_text(&b, "ildg-format", 1, 0, text);
    add_record(&b, "ildg-binary-data", 0, 0, links.p, links.n);
    snprintf(text, sizeof text,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<scidacChecksum>\n  <version>1.0</version>\n"
             "  <suma>%08x</suma>\n  <sumb>%08x</sumb>\n</scidacChecksum>",
             sums[0], sums[1]);
    add_text(&b, "scidac-checksum", 0, 1, text);
    free(links.p);
    return b;
}

/* As Grid writes it, with the metadata and versions of its own; zero averages are those that it does not know. */
static bytes grid(double p, double trace)
{
    bytes b = {NULL, 0}, links = links_of(8);
    char text[2048];
    uint32_t sums[2];
    checksum_of(&links, sums);
    snprintf(
        text, sizeof text,
        "<?xml version=\"1.0\"?>\n<FieldMetaData>\n  <nd>4</nd>\n  <dimension>\n    <elem>4</elem>\n    "
        "<elem>4</elem>\n    <elem>4</elem>\n    <elem>4</elem>\n  </dimension>\n  <boundary>\n    "
        "<elem>PERIODIC</elem>\n    <elem>PERIODIC</elem>\n    <elem>PERIODIC</elem>\n    <elem>PERIODIC</elem>\n  "
        "</boundary>\n  <data_start>0</data_start>\n  <hdr_version />\n  <storage_format />\n  "
        "<link_trace>%g</link_trace>\n  <plaquette>%g</plaquette>\n  <checksum>0</checksum>\n  "
        "<sequence_number>77</sequence_number>\n  <data_type />\n  <ensemble_id>A</ensemble_id>\n  "
        "<ensemble_label>beta 6</ensemble_label>\n  <ildg_lfn />\n  <creator>me</creator>\n</FieldMetaData>\n",
        trace, p);
    add_text(&b, "grid-format", 1, 0, text);
    add_text(&b, "scidac-private-file-xml", 0, 0,
             "<?xml version=\"1.0\"?>\n<scidacFile>\n  <version>1</version>\n  <spacetime>4</spacetime>\n  <dims>4 \n4 "
             "\n4 \n4</dims>\n  <volfmt>0</volfmt>\n</scidacFile>\n");
    snprintf(
        text, sizeof text,
        "<?xml version=\"1.0\"?>\n<usqcdInfo>\n  <version>1</version>\n  <plaq>%g</plaq>\n  <linktr>%g</linktr>\n  "
        "<info />\n</usqcdInfo>\n",
        p, trace);
    add_text(&b, "scidac-file-xml", 0, 1, text);
    add_text(
        &b, "scidac-private-record-xml", 1, 0,
        "<?xml version=\"1.0\"?>\n<scidacRecord>\n  <version>1</version>\n  <date />\n  <recordtype>0</recordtype>\n "
        " <datatype>GRID_D_LorentzVector4_ColourMatrix3</datatype>\n  <precision>D</precision>\n  "
        "<colors>3</colors>\n  <spins>1</spins>\n  <typesize>144</typesize>\n  "
        "<datacount>4</datacount>\n</scidacRecord>\n");
    add_text(&b, "scidac-record-xml", 0, 0, text);
    add_text(&b, "ildg-format", 0, 0,
             "<?xml version=\"1.0\"?>\n<ildgFormat>\n  <version>1</version>\n  <field>su3gauge</field>\n  "
             "<precision>64</precision>\n  <lx>4</lx>\n  <ly>4</ly>\n  <lz>4</lz>\n  <lt>4</lt>\n</ildgFormat>\n");
    add_text(&b, "ildg-data-lfn", 0, 0, "lfn://somewhere/ckpoint.77");
    add_record(&b, "ildg-binary-data", 0, 0, links.p, links.n);
    add_text(&b, "FieldNormMetaData", 0, 0,
             "<?xml version=\"1.0\"?>\n<FieldNormMetaData>\n  <norm2>3072</norm2>\n</FieldNormMetaData>\n");
    snprintf(text, sizeof text,
             "<?xml version=\"1.0\"?>\n<scidacChecksum>\n  <version>1</version>\n  <suma>%x</suma>\n  "
             "<sumb>%x</sumb>\n</scidacChecksum>\n",
             sums[0], sums[1]);
    add_text(&b, "scidac-checksum", 0, 1, text);
    free(links.p);
    return b;
}

static void test_others_lime(void)
{
    const double p = plaquette(u), trace = links_trace(u);
    bytes b = tmlqcd(p);
    finish(&b, "tmlqcd");
    expect_whole("tmlqcd", NULL);
    check_report r = checked("tmlqcd", NULL);
    CHECK_INT(r.info.plaquette_ok, 1);
    CHECK(r.info.has_sequence);
    CHECK_INT(r.info.sequence, 1234);
    b = tmlqcd(p + 1e-5);
    finish(&b, "tmlqcd");
    expect_bad_recorded("tmlqcd", "plaquette is");

    b = grid(p, trace);
    finish(&b, "grid");
    expect_whole("grid", NULL);
    r = checked("grid", NULL);
    CHECK_INT(r.info.plaquette_ok, 1);
    CHECK_INT(r.info.link_trace_ok, 1);
    CHECK_INT(r.info.sequence, 77);
    CHECK_STR(r.info.ensemble, "beta 6");
    b = grid(0, 0);
    finish(&b, "grid");
    expect_whole("grid", NULL);
    CHECK_INT(checked("grid", NULL).info.plaquette_ok, -1);
    b = grid(p, trace + 1e-4);
    finish(&b, "grid");
    expect_bad_recorded("grid", "link trace is");
    b = grid(p, trace);
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
        bytes b = {NULL, 0}, links = links_of(width);
        add_record(&b, "ildg-binary-data", 1, 1, links.p, links.n);
        finish(&b, "alone");
        free(links.p);
        check_report r = checked("alone", NULL);
        CHECK_INT(r.verdict, CHECK_UNCHECKED);
        CHECK_HAS(r.message, "the file does not say the size of its lattice: give it by --size");
        r = checked("alone", other);
        CHECK_INT(r.verdict, CHECK_UNCHECKED);
        CHECK_HAS(r.message, "no lattice of 4.4.4.6 (--size)");
        r = checked("alone", small);
        CHECK_INT(r.verdict, CHECK_WHOLE);
        CHECK_INT(r.info.precision_bits, (int)width * 8);
        if (width == 8) expect_whole("alone", small);
        field *v = field_like(u);
        CHECK_INT(links_read(v, in_folder("alone"), NULL, message, sizeof message), 0);
        field_destroy(v);
    }
    /* A size beside the one in the file has to be that. */
    bytes b = tmlqcd(plaquette(u));
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
        {"<ildgFormat xmlns=", "<g:ildgFormat xmlns:g="}};
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
            add_record(&b, (const char *)h + 16, h[6] >> 7, h[6] >> 6 & 1, text.p, text.n);
            free(text.p);
            at += 144 + (n + 7) / 8 * 8;
        }
        finish(&b, "xml");
        free(ours.p);
        expect_whole("xml", NULL);
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
    static const char *const formats[] = {"ildg", "nersc", "hdf5"};
    links_info info;
    for (int i = 0; i < 3; i++)
        for (int label = 0; label < 2; label++) {
            links_meta meta = meta_of(u);
            meta.sequence = 4711;
            meta.ensemble = label ? "beta 6.0" : NULL;
            CHECK_INT(links_write(u, in_folder("named"), formats[i], &meta, message, sizeof message), 0);
            CHECK_INT(links_probe(in_folder("named"), &info, message, sizeof message), 0);
            CHECK(info.has_sequence);
            CHECK_INT(info.sequence, 4711);
            CHECK_STR(info.ensemble, label ? "beta 6.0" : "");
        }
}

/* ---- every bit of plaq's own headers ---- */

static void test_own_headers(void)
{
    static const char *const formats[] = {"nersc", "hdf5"};
    const size_t links = 576 * (size_t)u->lat->volume;
    const links_meta meta = meta_of(u);
    links_info info;
    if (comm_size() > 1) return; /* rank 0 alone reads headers */
    for (int i = 0; i < 2; i++) {
        long missed = 0;
        const char *path = in_folder("header");
        CHECK_INT(links_write(u, path, formats[i], &meta, message, sizeof message), 0);
        const bytes b = load(path);
        const char *without = i ? strstr((char *)b.p, "without = ") : NULL;
        const size_t start = i ? strtoul(without + 10, NULL, 10) : b.n - links;
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
    test_rearranged();
    test_names();
    test_own_headers();
    drop(u);
    end_folder();
    const int failed = CHECK_SUMMARY();
    comm_finalize();
    return failed;
}
