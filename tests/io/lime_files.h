/* LIME files as other programs write them, in memory, and texts in files replaced. */
#include "io/files/checksum.h"
#include "tests/io/files.h"

/* ---- texts with something replaced ---- */

static inline void append(bytes *b, const void *p, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

/* The file with the first `old` replaced. */
static inline void replace(bytes *b, const char *old, const char *with)
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

static inline void add_record(bytes *b, const char *type, int begin, int end, const void *data, size_t n)
{
    unsigned char h[144] = {0x45, 0x67, 0x89, 0xab, 0, 1, (unsigned char)(begin << 7 | end << 6), 0};
    static const unsigned char zeros[8];
    for (int i = 0; i < 8; i++) h[8 + i] = (unsigned char)((uint64_t)n >> 8 * (7 - i));
    strcpy((char *)h + 16, type);
    append(b, h, sizeof h);
    append(b, data, n);
    append(b, zeros, (8 - n % 8) % 8);
}

static inline void add_text(bytes *b, const char *type, int begin, int end, const char *text)
{
    add_record(b, type, begin, end, text, strlen(text));
}

/* The links, big-endian, in that width. */
static inline bytes links_of(field *u, size_t width)
{
    double *all = gathered(u);
    bytes b = {malloc(18 * 4 * 8 * (size_t)u->lat->volume + 1), 0};
    for (size_t i = 0; i < 4 * (size_t)u->lat->volume; i++) b.n += put_link(b.p + b.n, all + 18 * i, 3, width, 1);
    free(all);
    return b;
}

static inline void checksum_of(field *u, const bytes *links, uint32_t sums[2])
{
    sums[0] = sums[1] = 0;
    scidac_add(sums, 0, links->p, (size_t)u->lat->volume, 576);
}

static inline void finish(bytes *b, const char *name)
{
    save(in_folder(name), b->p, b->n);
    free(b->p);
}

/* As tmLQCD writes it. */
static inline bytes tmlqcd(field *u, double p)
{
    bytes b = {NULL, 0}, links = links_of(u, 8);
    char text[1024];
    uint32_t sums[2];
    checksum_of(u, &links, sums);
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
static inline bytes grid(field *u, double p, double trace)
{
    bytes b = {NULL, 0}, links = links_of(u, 8);
    char text[2048];
    uint32_t sums[2];
    checksum_of(u, &links, sums);
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

/* As QIO writes it, in 32 bit. */
static inline bytes scidac(field *u)
{
    bytes b = {NULL, 0}, links = links_of(u, 4);
    char text[1024];
    uint32_t sums[2] = {0, 0};
    scidac_add(sums, 0, links.p, (size_t)u->lat->volume, 288);
    add_text(
        &b, "scidac-private-file-xml", 1, 0,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacFile><version>1.1</version><spacetime>4</spacetime><dims>4 4 "
        "4 4 </dims><volfmt>0</volfmt></scidacFile>");
    add_text(&b, "scidac-file-xml", 0, 1, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><title>links</title>");
    add_text(
        &b, "scidac-private-record-xml", 1, 0,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacRecord><version>1.0</version><date>Fri</date>"
        "<globaldata>0</globaldata><datatype>QDP_F3_ColorMatrix</datatype><precision>F</precision><colors>3</colors>"
        "<typesize>72</typesize><datacount>4</datacount></scidacRecord>");
    add_text(&b, "scidac-record-xml", 0, 0, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><info>none</info>");
    add_record(&b, "scidac-binary-data", 0, 0, links.p, links.n);
    snprintf(text, sizeof text,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacChecksum><version>1.0</version><suma>%x</suma><sumb>%x</"
             "sumb></scidacChecksum>",
             sums[0], sums[1]);
    add_text(&b, "scidac-checksum", 0, 1, text);
    free(links.p);
    return b;
}
