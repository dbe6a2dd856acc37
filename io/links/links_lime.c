/* ILDG and SciDAC files: LIME records around links with x fastest, mu = x y z t, 3x3 row-major, big-endian.
 *
 * ILDG has the links in ildg-binary-data and their precision and size in the XML of ildg-format; where there is neither
 * that nor a record of SciDAC, the file does not say its size. SciDAC has them in scidac-binary-data, described by
 * scidac-private-file-xml (dims) and scidac-private-record-xml (precision, typesize, datacount). Whatever is there of
 * both is checked against each other. scidac-checksum holds two exclusive ors of the CRC32 of each site's bytes, rotated
 * left by the site number mod 29 and mod 31. All else is free text (io/links/lime_records.h).
 *
 * Files of ILDG are written with all the records of SciDAC, so that readers of either find theirs (io/links/lime_write.h). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/checksum.h"
#include "io/links/lime_records.h"
#include "io/links/lime_seal.h"
#include "io/links/lime_write.h"

static const char *const types[] = {"scidac-private-file-xml",
                                    "scidac-file-xml",
                                    "scidac-private-record-xml",
                                    "scidac-record-xml",
                                    "scidac-binary-data",
                                    "scidac-checksum",
                                    "ildg-format",
                                    "ildg-binary-data",
                                    "ildg-data-lfn",
                                    "xlf-info",
                                    "grid-format",
                                    "FieldNormMetaData",
                                    LIME_SEAL};
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
        if (file_pread(fd, h, sizeof h, at)) return errno ? -1 : 0;
        if (load32(h, 1) != LIME_MAGIC) return 0;
        if (!strncmp((const char *)h + 16, "ildg-binary-data", 128)) return 1;
        const uint64_t length = load64(h + 8, 1);
        if (length > (uint64_t)1 << 60) return 0;
        at += lime_bytes(length);
    }
    return 0;
}

/* ---- text records ---- */

/* Version numbers that a writer keeps as reals print 1.0 as "1". */
static int same_text(const char *found, const char *standard)
{
    return !strcmp(found, standard) || (!strcmp(standard, "1.0") && !strcmp(found, "1"));
}

/* Elements beyond those listed are noted as odd, and so is a text other than the one given. */
static void expect_only(links_file *f, const xml_record *x, const char *const (*allowed)[2])
{
    for (int i = 0; i < x->n; i++) {
        int k = 0;
        while (allowed[k][0] && strcmp(x->leaf[i].tag, allowed[k][0])) k++;
        if (!allowed[k][0]) links_odd(&f->info, "<%s>: element <%s> is not known", x->root, x->leaf[i].tag);
        else if (allowed[k][1] && !same_text(x->leaf[i].text, allowed[k][1]))
            links_odd(&f->info, "<%s>: <%s>%s, standard is %s", x->root, x->leaf[i].tag, x->leaf[i].text,
                      allowed[k][1]);
    }
}

/* Zero bytes alone from the n-th byte on, as some writers pad texts: up to a multiple of eight, or by six to eight. One flipped
 * bit of a length makes neither of one zero byte or none. */
static int is_padded(const char *text, size_t n, size_t length)
{
    size_t zeros = 0;
    while (zeros < length - n && !text[n + zeros]) zeros++;
    return zeros == length - n && zeros <= 8 && (length % 8 == 0 || zeros >= 6);
}

/* The free text is not looked at, but all text records end alike: with a zero byte, or without. A wrong record length
 * shows here. */
static void check_text_ends(lime_reader *in)
{
    int zero = 0, none = 0;
    links_info *info = &in->f->info;
    for (int i = 0; i < in->index->n && !in->bad; i++) {
        const lime_record *r = &in->index->r[i];
        int known = 0;
        for (int k = 0; k < TYPES; k++) known = known || !strcmp(r->type, types[k]);
        if (!known) links_odd(info, "LIME record %d: type %s is not known", i + 1, r->type);
        if (!known || strstr(r->type, "binary-data") || !strcmp(r->type, LIME_SEAL) || r->length == 0 ||
            r->length > LIME_TEXT_MAX)
            continue;
        char *text = lime_load_text(in, r);
        if (!text) continue;
        const size_t n = strlen(text);
        if (n == r->length) none++;
        else zero++;
        if (n + 1 < r->length && !is_padded(text, n, r->length))
            links_odd(info, "LIME record %s: zero byte within the text", r->type);
        free(text);
    }
    if (zero && none) links_odd(info, "some text records end with a zero byte, some without");
}

/* ---- what the records say ---- */

static void set_sizes(lime_reader *in, const int s[4], int width, const char *record)
{
    links_file *f = in->f;
    links_info *i = &f->info;
    for (int d = 0; d < 4 && !in->bad; d++) {
        if (i->size[d] && i->size[d] != s[d])
            in->bad = file_fail(in->message, in->size, "%s: LIME record %s: extent %d is %d, elsewhere %d", f->path,
                                 record, d + 1, s[d], i->size[d]);
        i->size[d] = s[d];
    }
    if (!in->bad && f->width && width && f->width != width)
        in->bad = file_fail(in->message, in->size, "%s: LIME record %s: precision %d, elsewhere %d", f->path, record,
                             8 * width, 8 * f->width);
    if (width) f->width = width;
    if (!in->bad) in->bad = links_check_size(f, in->message, in->size);
}

/* True if each word of the value is in the list. */
static int all_words(const char *value, size_t n, const char *const *list)
{
    while (n > 0) {
        size_t length = 0;
        int found = 0;
        while (length < n && value[length] != ' ') length++;
        for (int i = 0; list[i]; i++) found = found || (strlen(list[i]) == length && !strncmp(value, list[i], length));
        if (!found) return 0;
        if (length < n) length++;
        value += length, n -= length;
    }
    return 1;
}

/* The attributes of an ildgFormat: the namespace, with the prefix if there is one, and the schema; or none. */
static int usual_attributes(const xml_record *x)
{
    static const char *const space[] = {ILDG_SPACE, NULL}, *const xsi[] = {XSI_SPACE, NULL},
                             *const schema[] = {ILDG_SPACE, ILDG_SPACE "/filefmt.xsd", "filefmt.xsd", NULL};
    char own[64];
    snprintf(own, sizeof own, "xmlns%s%s", x->prefix[0] ? ":" : "", x->prefix);
    for (const char *p = x->attributes; *p;) {
        const size_t name = strcspn(p, "=");
        const char quote = p[name] ? p[name + 1] : 0, *value = p + name + 2;
        if (quote != '"' && quote != '\'') return 0;
        const char *end = strchr(value, quote);
        if (!end || (end[1] && end[1] != ' ')) return 0;
        const char *const *list = name == strlen(own) && !strncmp(p, own, name)           ? space
                                  : name == 9 && !strncmp(p, "xmlns:xsi", name)           ? xsi
                                  : name == 18 && !strncmp(p, "xsi:schemaLocation", name) ? schema
                                                                                          : NULL;
        if (!list || end == value || !all_words(value, (size_t)(end - value), list)) return 0;
        p = end[1] ? end + 2 : end + 1;
    }
    return 1;
}

/* Reads the record ildg-format: 1 when there is one. */
static int take_ildg_format(lime_reader *in)
{
    static const char *const allowed[][2] = {{"version", "1.0"}, {"field", "su3gauge"}, {"precision", NULL},
                                             {"lx", NULL},       {"ly", NULL},          {"lz", NULL},
                                             {"lt", NULL},       {NULL, NULL}};
    static const char *const extent[4] = {"lx", "ly", "lz", "lt"};
    links_file *f = in->f;
    xml_record x;
    if (!lime_load_xml(in, "ildg-format", "ildgFormat", &x)) return 0;
    expect_only(f, &x, allowed);
    if (!usual_attributes(&x)) links_odd(&f->info, "<ildgFormat>: attributes %.120s", x.attributes);
    if (!xml_text(&x, "version")) links_odd(&f->info, "<ildgFormat>: no <version>");
    const char *kind = xml_text(&x, "field");
    if (!kind) links_remark(&f->info, "<ildgFormat> has no <field>; the links are taken for su3gauge");
    if (kind && strcmp(kind, "su3gauge")) {
        in->bad = file_fail(in->message, in->size, "%s: LIME record ildg-format: field %s, su3gauge is allowed",
                             f->path, kind);
        return 1;
    }
    int s[4];
    for (int d = 0; d < 4; d++) s[d] = (int)xml_integer(&x, extent[d]);
    const long precision = xml_integer(&x, "precision");
    if (precision != 32 && precision != 64)
        in->bad = file_fail(in->message, in->size, "%s: LIME record ildg-format: precision %s, 32 or 64 is allowed",
                             f->path, xml_text(&x, "precision") ? xml_text(&x, "precision") : "not given");
    else set_sizes(in, s, (int)precision / 8, "ildg-format");
    return 1;
}

/* Checks that a version has its element: `newer` with 1.1 and with the "1" of Grid, `older` with 1.0. */
static void check_version(links_file *f, const xml_record *x, const char *newer, const char *older)
{
    const char *version = xml_text(x, "version");
    const char *element = !version                                           ? NULL
                          : !strcmp(version, "1.1") || !strcmp(version, "1") ? newer
                          : !strcmp(version, "1.0")                          ? older
                                                                             : NULL;
    if (!element || !xml_text(x, element))
        links_odd(&f->info, "<%s>: version %s without its elements", x->root, version ? version : "(none)");
}

static int take_private_file(lime_reader *in)
{
    static const char *const allowed[][2] = {{"version", NULL}, {"spacetime", "4"}, {"dims", NULL},
                                             {"volfmt", "0"},   {"multifile", "0"}, {NULL, NULL}};
    links_file *f = in->f;
    xml_record x;
    if (!lime_load_xml(in, "scidac-private-file-xml", "scidacFile", &x)) return 0;
    expect_only(f, &x, allowed);
    if (x.attributes[0]) links_odd(&f->info, "<scidacFile>: attributes %.120s", x.attributes);
    /* The element of the volume format changed its name with the version. */
    check_version(f, &x, "volfmt", "multifile");
    if (!xml_text(&x, "spacetime")) links_odd(&f->info, "<scidacFile>: no <spacetime>");
    const char *dims = xml_text(&x, "dims");
    int s[4], used = 0;
    if (!dims || sscanf(dims, "%5d %5d %5d %5d%n", &s[0], &s[1], &s[2], &s[3], &used) != 4 || dims[used]) {
        in->bad = file_fail(in->message, in->size,
                             "%s: LIME record scidac-private-file-xml: dims \"%s\", expected four extents", f->path,
                             dims ? dims : "");
        return 1;
    }
    /* Extents as this program would print them, whatever blanks are between. */
    char plain[64], found[64];
    size_t n = 0;
    for (const char *p = dims; *p && n + 1 < sizeof found; p++) {
        const int blank = strchr(" \n\t\r", *p) != NULL;
        if (!blank || (n && found[n - 1] != ' ')) found[n++] = blank ? ' ' : *p;
    }
    found[n] = 0;
    snprintf(plain, sizeof plain, "%d %d %d %d", s[0], s[1], s[2], s[3]);
    if (strcmp(found, plain)) links_odd(&f->info, "<scidacFile>: dims \"%s\"", dims);
    set_sizes(in, s, 0, "scidac-private-file-xml");
    return 1;
}

static void check_site(lime_reader *in, const xml_record *x, int width)
{
    const long typesize = xml_integer(x, "typesize"), count = xml_integer(x, "datacount"),
               colours = xml_integer(x, "colors");
    if (typesize * count == 72 * width && typesize > 0 && colours == 3) return;
    in->bad = file_fail(
        in->message, in->size,
        "%s: LIME record scidac-private-record-xml: colors %ld, typesize %ld, datacount %ld; links have 3, %d, 4",
        in->f->path, colours, typesize, count, 18 * width);
}

static int take_private_record(lime_reader *in)
{
    static const char *const allowed[][2] = {{"version", NULL},   {"date", NULL},     {"globaldata", "0"},
                                             {"recordtype", "0"}, {"datatype", NULL}, {"precision", NULL},
                                             {"colors", "3"},     {"spins", NULL},    {"typesize", NULL},
                                             {"datacount", NULL}, {NULL, NULL}};
    static const char *const datatypes[2][2] = {{"QDP_F3_ColorMatrix", "GRID_F_LorentzVector4_ColourMatrix3"},
                                                {"QDP_D3_ColorMatrix", "GRID_D_LorentzVector4_ColourMatrix3"}};
    links_file *f = in->f;
    xml_record x;
    if (!lime_load_xml(in, "scidac-private-record-xml", "scidacRecord", &x)) return 0;
    expect_only(f, &x, allowed);
    if (x.attributes[0]) links_odd(&f->info, "<scidacRecord>: attributes %.120s", x.attributes);
    check_version(f, &x, "recordtype", "globaldata");
    const char *p = xml_text(&x, "precision"), *type = xml_text(&x, "datatype"), *spins = xml_text(&x, "spins");
    if (!p || (strcmp(p, "F") && strcmp(p, "D"))) {
        in->bad = file_fail(in->message, in->size,
                             "%s: LIME record scidac-private-record-xml: precision %s, F or D is allowed", f->path,
                             p ? p : "not given");
        return 1;
    }
    const int width = *p == 'F' ? 4 : 8;
    const char *const *known = datatypes[width / 8];
    if (!type || (strcmp(type, known[0]) && strcmp(type, known[1])))
        links_odd(&f->info, "<scidacRecord>: datatype %s with precision %s", type ? type : "(none)", p);
    if (spins && strcmp(spins, "4") && strcmp(spins, "1")) links_odd(&f->info, "<scidacRecord>: spins %s", spins);
    if (xml_integer(&x, "datacount") != 4) links_odd(&f->info, "<scidacRecord>: datacount is not 4");
    if (!xml_text(&x, "date")) links_odd(&f->info, "<scidacRecord>: no <date>");
    check_site(in, &x, width);
    if (!in->bad && f->width && f->width != width)
        in->bad = file_fail(in->message, in->size,
                             "%s: LIME record scidac-private-record-xml: precision %s, elsewhere %d bits", f->path, p,
                             8 * f->width);
    f->width = width;
    return 1;
}

static int is_lone_capital(const char *hex)
{
    int letters = 0, capitals = 0;
    for (; *hex; hex++) letters += isalpha((unsigned char)*hex) != 0, capitals += isupper((unsigned char)*hex) != 0;
    return letters == 1 && capitals == 1;
}

static void take_checksum(lime_reader *in)
{
    static const char *const allowed[][2] = {{"version", "1.0"}, {"suma", NULL}, {"sumb", NULL}, {NULL, NULL}};
    links_file *f = in->f;
    xml_record x;
    if (!lime_load_xml(in, "scidac-checksum", "scidacChecksum", &x)) return;
    expect_only(f, &x, allowed);
    if (x.attributes[0]) links_odd(&f->info, "<scidacChecksum>: attributes %.120s", x.attributes);
    if (!xml_text(&x, "version")) links_odd(&f->info, "<scidacChecksum>: no <version>");
    /* A zero digit and a blank differ by one bit. */
    for (int i = 0; i < x.n; i++)
        if (x.leaf[i].lopsided) links_odd(&f->info, "<scidacChecksum>: <%s>: blanks on one side", x.leaf[i].tag);
    const char *a = xml_text(&x, "suma"), *b = xml_text(&x, "sumb");
    if (!a || !b || !links_hex32(a, &f->recorded[0]) || !links_hex32(b, &f->recorded[1])) {
        in->bad = file_fail(in->message, in->size,
                             "%s: LIME record scidac-checksum: suma %.40s, sumb %.40s; expected 32-bit numbers",
                             f->path, a ? a : "not given", b ? b : "not given");
        return;
    }
    /* Letter case is a single bit, and writers use small letters: a lone capital is odd. */
    if (is_lone_capital(a) || is_lone_capital(b)) links_odd(&f->info, "<scidacChecksum>: a capital letter");
    f->info.has_checksum = 1;
    snprintf(f->info.checksum, sizeof f->info.checksum, "%08x %08x", f->recorded[0], f->recorded[1]);
}

/* ---- the header ---- */

/* The record of the links. Its length is that of the lattice, where that is known. */
static void take_links(lime_reader *in, const char *type, int described)
{
    links_file *f = in->f;
    const int *s = f->info.size;
    const lime_record *r = lime_find(f, in->index, type, &in->bad, in->message, in->size);
    if (!in->bad && !r) in->bad = file_fail(in->message, in->size, "%s: no LIME record %s", f->path, type);
    if (in->bad) return;
    f->data = r->data;
    lime_seal_check(in, r);
    if (in->bad) return;
    if (!described) {
        f->info.links_bytes = r->length;
        return;
    }
    const uint64_t expected = links_sites(s) * links_site_bytes(f);
    if (r->length != expected)
        in->bad = file_fail(
            in->message, in->size, "%s: LIME record %s: %llu bytes, %d-bit links on %d.%d.%d.%d have %llu", f->path,
            type, (unsigned long long)r->length, 8 * f->width, s[0], s[1], s[2], s[3], (unsigned long long)expected);
}

/* A file without ildg-format and without both records of SciDAC does not describe its links. */
static void require_description(lime_reader *in, int ildg, int format, int file, int record)
{
    const char *missing = NULL;
    if (ildg && !format && (file || record)) missing = "ildg-format";
    if (!ildg && !(file && record)) missing = file ? "scidac-private-record-xml" : "scidac-private-file-xml";
    if (missing) in->bad = file_fail(in->message, in->size, "%s: no LIME record %s", in->f->path, missing);
}

static int read_header(links_file *f, int fd, int ildg, char *message, size_t size)
{
    lime_index *index = malloc(sizeof *index);
    REQUIRE_MEMORY(index, "out of memory: %zu bytes", sizeof *index);
    f->rows = 3, f->big = 1;
    lime_reader in = {f, fd, index, 0, message, size};
    int format = 0, file = 0, record = 0;
    in.bad = lime_scan(f, fd, index, message, size);
    if (!in.bad) format = take_ildg_format(&in);
    if (!in.bad) file = take_private_file(&in);
    if (!in.bad) record = take_private_record(&in);
    if (!in.bad) require_description(&in, ildg, format, file, record);
    if (!in.bad) take_checksum(&in);
    if (!in.bad) lime_take_notes(&in);
    if (!in.bad) check_text_ends(&in);
    if (!in.bad) take_links(&in, ildg ? "ildg-binary-data" : "scidac-binary-data", format || record);
    free(index);
    return in.bad;
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

const links_format links_format_ildg = {.name = "ildg",
                                        .title = "ILDG",
                                        .endings = ".lime .ildg",
                                        .probe = probe_ildg,
                                        .read_header = read_ildg,
                                        .sum = sum,
                                        .verify = verify,
                                        .prepare = lime_prepare,
                                        .finish = lime_finish,
                                        .layouts = LINKS_64 | LINKS_32,
                                        .has_lfn = 1};

const links_format links_format_scidac = {.name = "scidac",
                                          .title = "SciDAC",
                                          .endings = ".scidac",
                                          .probe = probe_scidac,
                                          .read_header = read_scidac,
                                          .sum = sum,
                                          .verify = verify,
                                          .prepare = lime_prepare,
                                          .finish = lime_finish,
                                          .layouts = LINKS_64 | LINKS_32};
