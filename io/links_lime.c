/* ILDG and SciDAC files: LIME records around links with x fastest, mu = x y z t, 3x3 row-major, big-endian.
 *
 * ILDG has the links in ildg-binary-data and their precision and size in the XML of ildg-format; SciDAC has them in
 * scidac-binary-data, described by scidac-private-file-xml (dims) and scidac-private-record-xml (precision, typesize,
 * datacount). Whatever is there of both is checked against each other. scidac-checksum holds two exclusive ors of the
 * CRC32 of each site's bytes, rotated left by the site number mod 29 and mod 31. scidac-file-xml, scidac-record-xml and
 * ildg-data-lfn are free text; a plaquette and link trace in a usqcdInfo are taken from there.
 *
 * Written is ILDG in 64 bit with all the records of SciDAC, so that readers of either find theirs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/lime.h"
#include "io/links_xml.h"

#define TEXT_MAX 65536
#define DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
/* Writers differ in one character of the schema. */
#define ILDG_ATTRIBUTES(slash)                                                                                         \
    "xmlns=\"http://www.lqcd.org/ildg\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""                       \
    " xsi:schemaLocation=\"http://www.lqcd.org/ildg" slash "filefmt.xsd\""

static const char *const types[] = {"scidac-private-file-xml",
                                    "scidac-file-xml",
                                    "scidac-private-record-xml",
                                    "scidac-record-xml",
                                    "scidac-binary-data",
                                    "scidac-checksum",
                                    "ildg-format",
                                    "ildg-binary-data",
                                    "ildg-data-lfn"};
enum { TYPES = sizeof types / sizeof types[0] };

static int probe_scidac(int fd, const unsigned char *first, size_t n)
{
    (void)fd;
    return n >= 4 && load32(first, 1) == LIME_MAGIC;
}

/* A broken chain of records is left to the SciDAC reader to report. */
static int probe_ildg(int fd, const unsigned char *first, size_t n)
{
    unsigned char h[LIME_HEADER];
    if (!probe_scidac(fd, first, n)) return 0;
    uint64_t at = 0;
    for (int i = 0; i < LIME_RECORDS; i++) {
        if (links_pread(fd, h, sizeof h, at) || load32(h, 1) != LIME_MAGIC) return 0;
        if (!strncmp((const char *)h + 16, "ildg-binary-data", 128)) return 1;
        const uint64_t length = load64(h + 8, 1);
        if (length > (uint64_t)1 << 60) return 0;
        at += lime_bytes(length);
    }
    return 0;
}

/* ---- text records ---- */

static char *load_text(const links_file *f, int fd, const lime_record *r, char *message, size_t size)
{
    if (r->length > TEXT_MAX) {
        links_fail(message, size, "%s: LIME record %s: %llu bytes of text, at most %d are allowed", f->path, r->type,
                   (unsigned long long)r->length, TEXT_MAX);
        return NULL;
    }
    char *text = calloc(r->length + 1, 1);
    REQUIRE_MEMORY(text, "out of memory: %llu bytes", (unsigned long long)r->length);
    if (!links_pread(fd, text, r->length, r->data)) return text;
    links_fail(message, size, "%s: LIME record %s: %s", f->path, r->type,
               errno ? strerror(errno) : "the file ends before");
    free(text);
    return NULL;
}

/* The record of that type as XML with the given root: 1 found, 0 not there, -1 broken. */
static int load_xml(links_file *f, int fd, const lime_index *index, const char *type, const char *root, xml_record *x,
                    char *message, size_t size)
{
    int status = 0;
    char why[160];
    const lime_record *r = lime_find(f, index, type, &status, message, size);
    if (status) return -1;
    if (!r) return 0;
    char *text = load_text(f, fd, r, message, size);
    if (!text) return -1;
    const int bad = xml_parse(text, r->length, x, why, sizeof why);
    free(text);
    if (bad) return links_fail(message, size, "%s: LIME record %s: XML: %s", f->path, type, why), -1;
    if (strcmp(x->root, root))
        return links_fail(message, size, "%s: LIME record %s: element <%s>, not <%s>", f->path, type, x->root, root),
               -1;
    if (x->oddity[0]) links_odd(&f->info, "LIME record %s: %s", type, x->oddity);
    return 1;
}

/* Elements beyond those listed are noted as odd, and so is a text other than the one given. */
static void expect_only(links_file *f, const xml_record *x, const char *const (*allowed)[2])
{
    for (int i = 0; i < x->n; i++) {
        int k = 0;
        while (allowed[k][0] && strcmp(x->leaf[i].tag, allowed[k][0])) k++;
        if (!allowed[k][0]) links_odd(&f->info, "<%s>: element <%s> is not known", x->root, x->leaf[i].tag);
        else if (allowed[k][1] && strcmp(x->leaf[i].text, allowed[k][1]))
            links_odd(&f->info, "<%s>: <%s>%s, standard is %s", x->root, x->leaf[i].tag, x->leaf[i].text,
                      allowed[k][1]);
    }
}

/* The free text is not looked at, but all text records end alike: with a zero byte, or without. A wrong record length
 * shows here. */
static void check_text_ends(links_file *f, int fd, const lime_index *index)
{
    int zero = 0, none = 0;
    for (int i = 0; i < index->n; i++) {
        const lime_record *r = &index->r[i];
        int known = 0;
        for (int k = 0; k < TYPES; k++) known = known || !strcmp(r->type, types[k]);
        if (!known) links_odd(&f->info, "LIME record %d: type %s is not known", i + 1, r->type);
        if (!known || strstr(r->type, "binary-data") || r->length == 0 || r->length > TEXT_MAX) continue;
        char ignored[8], *text = load_text(f, fd, r, ignored, sizeof ignored);
        if (!text) continue;
        const size_t n = strlen(text);
        if (n == r->length) none++;
        else zero++;
        if (n + 1 < r->length) links_odd(&f->info, "LIME record %s: zero byte within the text", r->type);
        free(text);
    }
    if (zero && none) links_odd(&f->info, "some text records end with a zero byte, some without");
}

/* ---- what the records say ---- */

static int set_sizes(links_file *f, const int s[4], int width, const char *record, char *message, size_t size)
{
    links_info *i = &f->info;
    for (int d = 0; d < 4; d++) {
        if (i->size[d] && i->size[d] != s[d])
            return links_fail(message, size, "%s: LIME record %s: extent %d is %d, elsewhere %d", f->path, record,
                              d + 1, s[d], i->size[d]);
        i->size[d] = s[d];
    }
    if (f->width && width && f->width != width)
        return links_fail(message, size, "%s: LIME record %s: precision %d, elsewhere %d", f->path, record, 8 * width,
                          8 * f->width);
    if (width) f->width = width;
    return links_check_size(f, message, size);
}

static int take_ildg_format(links_file *f, int fd, const lime_index *index, int required, char *message, size_t size)
{
    static const char *const allowed[][2] = {{"version", "1.0"}, {"field", "su3gauge"}, {"precision", NULL},
                                             {"lx", NULL},       {"ly", NULL},          {"lz", NULL},
                                             {"lt", NULL},       {NULL, NULL}};
    static const char *const extent[4] = {"lx", "ly", "lz", "lt"};
    xml_record x;
    const int found = load_xml(f, fd, index, "ildg-format", "ildgFormat", &x, message, size);
    if (found < 0) return LINKS_UNREADABLE;
    if (!found) return required ? links_fail(message, size, "%s: no LIME record ildg-format", f->path) : 0;
    expect_only(f, &x, allowed);
    if (strcmp(x.attributes, ILDG_ATTRIBUTES("/")) && strcmp(x.attributes, ILDG_ATTRIBUTES(" ")))
        links_odd(&f->info, "<ildgFormat>: attributes %.120s", x.attributes);
    if (!xml_text(&x, "version")) links_odd(&f->info, "<ildgFormat>: no <version>");
    const char *kind = xml_text(&x, "field");
    if (!kind || strcmp(kind, "su3gauge"))
        return links_fail(message, size, "%s: LIME record ildg-format: field %s, su3gauge is allowed", f->path,
                          kind ? kind : "not given");
    int s[4];
    for (int d = 0; d < 4; d++) s[d] = (int)xml_integer(&x, extent[d]);
    const long precision = xml_integer(&x, "precision");
    if (precision != 32 && precision != 64)
        return links_fail(message, size, "%s: LIME record ildg-format: precision %s, 32 or 64 is allowed", f->path,
                          xml_text(&x, "precision") ? xml_text(&x, "precision") : "not given");
    return set_sizes(f, s, (int)precision / 8, "ildg-format", message, size);
}

static int take_private_file(links_file *f, int fd, const lime_index *index, int required, char *message, size_t size)
{
    static const char *const allowed[][2] = {{"version", NULL}, {"spacetime", "4"}, {"dims", NULL},
                                             {"volfmt", "0"},   {"multifile", "0"}, {NULL, NULL}};
    xml_record x;
    const int found = load_xml(f, fd, index, "scidac-private-file-xml", "scidacFile", &x, message, size);
    if (found < 0) return LINKS_UNREADABLE;
    if (!found) return required ? links_fail(message, size, "%s: no LIME record scidac-private-file-xml", f->path) : 0;
    expect_only(f, &x, allowed);
    if (x.attributes[0]) links_odd(&f->info, "<scidacFile>: attributes %.120s", x.attributes);
    const char *version = xml_text(&x, "version"), *dims = xml_text(&x, "dims");
    /* The element of the volume format changed its name with the version. */
    const char *format = version && !strcmp(version, "1.1")   ? "volfmt"
                         : version && !strcmp(version, "1.0") ? "multifile"
                                                              : NULL;
    if (!format || !xml_text(&x, format))
        links_odd(&f->info, "<scidacFile>: version %s without its elements", version ? version : "(none)");
    if (!xml_text(&x, "spacetime")) links_odd(&f->info, "<scidacFile>: no <spacetime>");
    int s[4], used = 0;
    if (!dims || sscanf(dims, "%5d %5d %5d %5d%n", &s[0], &s[1], &s[2], &s[3], &used) != 4 ||
        strspn(dims + used, " ") != strlen(dims + used))
        return links_fail(message, size,
                          "%s: LIME record scidac-private-file-xml: dims \"%s\", four extents are wanted", f->path,
                          dims ? dims : "");
    /* Extents as this program would print them, with or without the last blank. */
    char plain[64];
    snprintf(plain, sizeof plain, "%d %d %d %d", s[0], s[1], s[2], s[3]);
    if (strncmp(dims, plain, strlen(plain)) || strlen(dims) > strlen(plain) + 1)
        links_odd(&f->info, "<scidacFile>: dims \"%s\"", dims);
    return set_sizes(f, s, 0, "scidac-private-file-xml", message, size);
}

static int check_site(const links_file *f, const xml_record *x, int width, char *message, size_t size)
{
    const long typesize = xml_integer(x, "typesize"), count = xml_integer(x, "datacount"),
               colours = xml_integer(x, "colors");
    if (typesize * count == 72 * width && typesize > 0 && colours == 3) return 0;
    return links_fail(
        message, size,
        "%s: LIME record scidac-private-record-xml: colors %ld, typesize %ld, datacount %ld; links have 3, %d, 4",
        f->path, colours, typesize, count, 18 * width);
}

static int take_private_record(links_file *f, int fd, const lime_index *index, int required, char *message, size_t size)
{
    static const char *const allowed[][2] = {{"version", NULL},   {"date", NULL},     {"globaldata", "0"},
                                             {"recordtype", "0"}, {"datatype", NULL}, {"precision", NULL},
                                             {"colors", "3"},     {"spins", "4"},     {"typesize", NULL},
                                             {"datacount", NULL}, {NULL, NULL}};
    xml_record x;
    const int found = load_xml(f, fd, index, "scidac-private-record-xml", "scidacRecord", &x, message, size);
    if (found < 0) return LINKS_UNREADABLE;
    if (!found)
        return required ? links_fail(message, size, "%s: no LIME record scidac-private-record-xml", f->path) : 0;
    expect_only(f, &x, allowed);
    if (x.attributes[0]) links_odd(&f->info, "<scidacRecord>: attributes %.120s", x.attributes);
    const char *version = xml_text(&x, "version"), *p = xml_text(&x, "precision"), *type = xml_text(&x, "datatype");
    const char *kind = version && !strcmp(version, "1.0")   ? "globaldata"
                       : version && !strcmp(version, "1.1") ? "recordtype"
                                                            : NULL;
    if (!kind || !xml_text(&x, kind))
        links_odd(&f->info, "<scidacRecord>: version %s without its elements", version ? version : "(none)");
    if (!p || (strcmp(p, "F") && strcmp(p, "D")))
        return links_fail(message, size, "%s: LIME record scidac-private-record-xml: precision %s, F or D is allowed",
                          f->path, p ? p : "not given");
    const int width = *p == 'F' ? 4 : 8;
    if (!type || strcmp(type, width == 4 ? "QDP_F3_ColorMatrix" : "QDP_D3_ColorMatrix"))
        links_odd(&f->info, "<scidacRecord>: datatype %s with precision %s", type ? type : "(none)", p);
    if (xml_integer(&x, "datacount") != 4) links_odd(&f->info, "<scidacRecord>: datacount is not 4");
    if (!xml_text(&x, "date")) links_odd(&f->info, "<scidacRecord>: no <date>");
    const int bad = check_site(f, &x, width, message, size);
    if (bad || !f->width || f->width == width) {
        f->width = width;
        return bad;
    }
    return links_fail(message, size, "%s: LIME record scidac-private-record-xml: precision %s, elsewhere %d bits",
                      f->path, p, 8 * f->width);
}

static int take_checksum(links_file *f, int fd, const lime_index *index, char *message, size_t size)
{
    static const char *const allowed[][2] = {{"version", "1.0"}, {"suma", NULL}, {"sumb", NULL}, {NULL, NULL}};
    xml_record x;
    const int found = load_xml(f, fd, index, "scidac-checksum", "scidacChecksum", &x, message, size);
    if (found < 0) return LINKS_UNREADABLE;
    if (!found) return links_odd(&f->info, "no checksum"), 0;
    expect_only(f, &x, allowed);
    if (x.attributes[0]) links_odd(&f->info, "<scidacChecksum>: attributes %.120s", x.attributes);
    if (!xml_text(&x, "version")) links_odd(&f->info, "<scidacChecksum>: no <version>");
    const char *a = xml_text(&x, "suma"), *b = xml_text(&x, "sumb");
    if (!a || !b || !links_hex32(a, &f->recorded[0]) || !links_hex32(b, &f->recorded[1]))
        return links_fail(message, size,
                          "%s: LIME record scidac-checksum: suma %.40s, sumb %.40s; 32-bit numbers are wanted", f->path,
                          a ? a : "not given", b ? b : "not given");
    f->info.has_checksum = 1;
    snprintf(f->info.checksum, sizeof f->info.checksum, "%08x %08x", f->recorded[0], f->recorded[1]);
    return 0;
}

/* Free text: what is not a usqcdInfo is passed over. */
static void take_averages(links_file *f, int fd, const lime_index *index)
{
    char ignored[256];
    xml_record x;
    links_info *i = &f->info;
    if (load_xml(f, fd, index, "scidac-record-xml", "usqcdInfo", &x, ignored, sizeof ignored) != 1) return;
    const char *p = xml_text(&x, "plaq"), *l = xml_text(&x, "linktr");
    i->has_plaquette = p && links_number(p, &i->plaquette, &i->plaquette_unit);
    i->has_link_trace = l && links_number(l, &i->link_trace, &i->link_trace_unit);
}

static int read_header(links_file *f, int fd, int ildg, char *message, size_t size)
{
    lime_index *index = malloc(sizeof *index);
    REQUIRE_MEMORY(index, "out of memory: %zu bytes", sizeof *index);
    f->rows = 3, f->big = 1;
    int bad = lime_scan(f, fd, index, message, size);
    if (!bad) bad = take_ildg_format(f, fd, index, ildg, message, size);
    if (!bad) bad = take_private_file(f, fd, index, !ildg, message, size);
    if (!bad) bad = take_private_record(f, fd, index, !ildg, message, size);
    if (!bad) bad = take_checksum(f, fd, index, message, size);
    if (!bad) take_averages(f, fd, index);
    if (!bad) check_text_ends(f, fd, index);
    const char *type = ildg ? "ildg-binary-data" : "scidac-binary-data";
    const lime_record *r = bad ? NULL : lime_find(f, index, type, &bad, message, size);
    if (!bad && !r) bad = links_fail(message, size, "%s: no LIME record %s", f->path, type);
    if (!bad && r->length != links_sites(f->info.size) * links_site_bytes(f))
        bad = links_fail(message, size, "%s: LIME record %s: %llu bytes, %d-bit links on %d.%d.%d.%d have %llu",
                         f->path, type, (unsigned long long)r->length, 8 * f->width, f->info.size[0], f->info.size[1],
                         f->info.size[2], f->info.size[3],
                         (unsigned long long)(links_sites(f->info.size) * links_site_bytes(f)));
    if (!bad) f->data = r->data;
    free(index);
    return bad;
}

static int read_ildg(links_file *f, int fd, char *message, size_t size)
{
    return read_header(f, fd, 1, message, size);
}

static int read_scidac(links_file *f, int fd, char *message, size_t size)
{
    return read_header(f, fd, 0, message, size);
}

/* ---- checksum ---- */

static void sum(links_sums *s, const links_file *f, uint64_t site, const unsigned char *bytes, size_t n)
{
    scidac_add(s->xored, site, bytes, n, (size_t)links_site_bytes(f));
}

static int verify(const links_file *f, const links_sums *s, char *found, size_t size)
{
    snprintf(found, size, "%08x %08x", s->xored[0], s->xored[1]);
    return s->xored[0] == f->recorded[0] && s->xored[1] == f->recorded[1];
}

/* ---- writing ---- */

enum { BEFORE = 5 }; /* text records before the links */

typedef struct {
    const char *type;
    int flags;
    char text[1024];
} text_record;

/* The text before the links. The averages have a fixed width, so that the links can be written before they are known.
 */
static void compose(const links_file *f, const links_meta *meta, text_record r[BEFORE])
{
    const int *s = f->info.size;
    char date[64] = "", plaquette[64] = "<plaq></plaq>";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%a %b %d %H:%M:%S %Y UTC", &utc);
    if (meta->has_plaquette) snprintf(plaquette, sizeof plaquette, "<plaq>%+.12f</plaq>", meta->plaquette);
    memset(r, 0, BEFORE * sizeof *r);
    r[0].type = types[0], r[0].flags = LIME_BEGIN;
    snprintf(r[0].text, sizeof r[0].text,
             DECLARATION "<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>%d %d %d %d </dims>"
                         "<volfmt>0</volfmt></scidacFile>",
             s[0], s[1], s[2], s[3]);
    r[1].type = types[1], r[1].flags = LIME_END;
    snprintf(r[1].text, sizeof r[1].text, DECLARATION "<title>plaq gauge configuration</title>");
    r[2].type = types[2], r[2].flags = LIME_BEGIN;
    snprintf(r[2].text, sizeof r[2].text,
             DECLARATION "<scidacRecord><version>1.0</version><date>%s</date><globaldata>0</globaldata>"
                         "<datatype>QDP_D3_ColorMatrix</datatype><precision>D</precision><colors>3</colors>"
                         "<typesize>144</typesize><datacount>4</datacount></scidacRecord>",
             date);
    r[3].type = types[3];
    char label[160] = "";
    snprintf(label, sizeof label, "%s", meta->ensemble ? meta->ensemble : "");
    for (char *p = label; *p; p++)
        if (*p == '<' || *p == '>' || *p == '&' || *p < ' ') *p = ' ';
    snprintf(r[3].text, sizeof r[3].text,
             DECLARATION
             "<usqcdInfo><version>1.0</version>%s<linktr>%+.12f</linktr><info>plaq: %.80s %d</info></usqcdInfo>",
             plaquette, f->info.link_trace, label, meta->sequence);
    r[4].type = types[6];
    snprintf(r[4].text, sizeof r[4].text,
             DECLARATION "<ildgFormat " ILDG_ATTRIBUTES(
                 "/") "><version>1.0</version><field>su3gauge</field>"
                      "<precision>64</precision><lx>%d</lx><ly>%d</ly><lz>%d</lz><lt>%d</lt></ildgFormat>",
             s[0], s[1], s[2], s[3]);
}

static int prepare(links_file *f, const links_meta *meta, char *message, size_t size)
{
    (void)message, (void)size;
    text_record r[BEFORE];
    compose(f, meta, r);
    f->data = LIME_HEADER;
    for (int i = 0; i < BEFORE; i++) f->data += lime_bytes(strlen(r[i].text) + 1);
    return 0;
}

static int put_record(int fd, uint64_t *at, const char *type, int flags, const char *text)
{
    unsigned char record[LIME_HEADER + 1032] = {0};
    lime_header(record, type, strlen(text) + 1, flags);
    memcpy(record + LIME_HEADER, text, strlen(text));
    const uint64_t start = *at, bytes = lime_bytes(strlen(text) + 1);
    *at += bytes;
    return links_pwrite(fd, record, bytes, start);
}

static int finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                  size_t size)
{
    (void)digest;
    text_record r[BEFORE];
    unsigned char header[LIME_HEADER];
    char checksum[256];
    const uint64_t bytes = links_sites(f->info.size) * links_site_bytes(f);
    uint64_t at = 0;
    const int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    int bad = fd < 0;
    compose(f, meta, r);
    for (int i = 0; i < BEFORE && !bad; i++) bad = put_record(fd, &at, r[i].type, r[i].flags, r[i].text);
    lime_header(header, types[7], bytes, 0);
    if (!bad) bad = links_pwrite(fd, header, sizeof header, at);
    REQUIRE(bad || at + LIME_HEADER == f->data, "header of %llu bytes, links at %llu", (unsigned long long)at,
            (unsigned long long)f->data);
    at = f->data + bytes;
    snprintf(checksum, sizeof checksum,
             DECLARATION "<scidacChecksum><version>1.0</version><suma>%x</suma><sumb>%x</sumb></scidacChecksum>",
             s->xored[0], s->xored[1]);
    if (!bad) bad = put_record(fd, &at, types[5], LIME_END, checksum);
    if (bad) links_fail(message, size, "%s: writing the LIME records: %s", f->path, strerror(errno));
    if (fd >= 0) close(fd);
    return bad;
}

const links_format links_format_ildg = {.name = "ildg",
                                        .title = "ILDG",
                                        .endings = ".lime .ildg",
                                        .probe = probe_ildg,
                                        .read_header = read_ildg,
                                        .sum = sum,
                                        .verify = verify,
                                        .prepare = prepare,
                                        .finish = finish};

const links_format links_format_scidac = {.name = "scidac",
                                          .title = "SciDAC",
                                          .probe = probe_scidac,
                                          .read_header = read_scidac,
                                          .sum = sum,
                                          .verify = verify};
