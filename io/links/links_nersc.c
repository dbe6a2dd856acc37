/* The NERSC archive format: lines KEY = VALUE between BEGIN_HEADER and END_HEADER, then sites with x fastest,
 * mu = x y z t, links of two rows (DATATYPE 4D_SU3_GAUGE) or three (4D_SU3_GAUGE_3x3), row-major, in FLOATING_POINT
 * IEEE32BIG (also IEEE32), IEEE64BIG, IEEE32LITTLE or IEEE64LITTLE. CHECKSUM is the sum of all 32-bit words of the
 * links, read in the file's byte order, modulo 2^32.
 *
 * Required: DATATYPE, DIMENSION_1..4, CHECKSUM, FLOATING_POINT. Keys not known are allowed, but one that differs from a
 * known key in one character, a value that no writer writes, or spacing other than "KEY = VALUE" and that of Grid is noted
 * as odd: these have no checksum. Lines end with "\n", or all with "\r\n".
 *
 * Written is big-endian, with the parameters of the ensemble as keys that have a dot ("gauge.beta = 5.7"), and
 * HEADER_CRC32, which guards every byte of the header: its CRC-32, that value's digits being zeros. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/checksum.h"
#include "io/links/links_format.h"
#include "kernels/base/param.h"

#define HEADER_MAX 65536
#define OUR_HEADER 1024 /* the length of a header that is written is a multiple of it */
#define OUR_CREATOR "plaq "
#define NO_LABEL "plaq" /* written where there is none */
#define KEYS_MAX 1024
#define HEADER_CRC "HEADER_CRC32"

typedef struct {
    char *key, *value;
    int line;
} entry;

typedef struct {
    char *text; /* after the first line */
    int crlf;   /* how the first line ends */
    entry e[KEYS_MAX];
    int n;
} header;

/* Known keys and the values that standard writers give them; NULL is free text. */
static const struct {
    const char *key;
    const char *values[3];
} known[] = {{"HDR_VERSION", {"1.0"}},
             {"STORAGE_FORMAT", {"1.0"}},
             {"DATATYPE", {"4D_SU3_GAUGE", "4D_SU3_GAUGE_3x3"}},
             {"DIMENSION_1", {NULL}},
             {"DIMENSION_2", {NULL}},
             {"DIMENSION_3", {NULL}},
             {"DIMENSION_4", {NULL}},
             {"BOUNDARY_1", {"PERIODIC", "ANTIPERIODIC"}},
             {"BOUNDARY_2", {"PERIODIC", "ANTIPERIODIC"}},
             {"BOUNDARY_3", {"PERIODIC", "ANTIPERIODIC"}},
             {"BOUNDARY_4", {"PERIODIC", "ANTIPERIODIC"}},
             {"CHECKSUM", {NULL}},
             {"LINK_TRACE", {NULL}},
             {"PLAQUETTE", {NULL}},
             {"ENSEMBLE_ID", {NULL}},
             {"ENSEMBLE_LABEL", {NULL}},
             {"SEQUENCE_NUMBER", {NULL}},
             {"SCIDAC_CHECKSUMA", {NULL}},
             {"SCIDAC_CHECKSUMB", {NULL}},
             {HEADER_CRC, {NULL}},
             {"CREATOR", {NULL}},
             {"CREATOR_HARDWARE", {NULL}},
             {"CREATION_DATE", {NULL}},
             {"ARCHIVE_DATE", {NULL}},
             {"FLOATING_POINT", {NULL}}};
enum { KNOWN = sizeof known / sizeof known[0] };

static int probe(int fd, const unsigned char *first, size_t n)
{
    (void)fd;
    return (n >= 13 && !memcmp(first, "BEGIN_HEADER\n", 13)) || (n >= 14 && !memcmp(first, "BEGIN_HEADER\r\n", 14));
}

/* ---- the header as keys and values ---- */

static int one_apart(const char *a, const char *b)
{
    if (strlen(a) != strlen(b)) return 0;
    int differ = 0;
    for (; *a; a++, b++) differ += *a != *b;
    return differ == 1;
}

static void look_at(links_info *info, const entry *e)
{
    for (const char *p = e->value; *p; p++)
        if (!isprint((unsigned char)*p)) links_odd(info, "%s: byte %02x in the value", e->key, (unsigned char)*p);
    if (!strcmp(e->key, "CREATOR") && !strncmp(e->value, OUR_CREATOR, strlen(OUR_CREATOR)) &&
        strspn(e->value + strlen(OUR_CREATOR), "-") != strlen(e->value) - strlen(OUR_CREATOR))
        links_odd(info, "CREATOR: the padding after %sis not all \"-\"", OUR_CREATOR);
    if (strstr(e->value, " = ")) links_odd(info, "line %d: two keys in one line", e->line);
    for (int k = 0; k < KNOWN; k++) {
        if (!strcmp(e->key, known[k].key)) {
            int ok = !known[k].values[0];
            for (int v = 0; v < 3 && known[k].values[v]; v++) ok = ok || !strcmp(e->value, known[k].values[v]);
            if (!ok) links_odd(info, "%s = %s: standard is %s", e->key, e->value, known[k].values[0]);
            return;
        }
    }
    for (int k = 0; k < KNOWN; k++)
        if (one_apart(e->key, known[k].key))
            links_odd(info, "line %d: key %s, should it be %s?", e->line, e->key, known[k].key);
}

/* "KEY = VALUE", where free text may be empty, with or without the blank. Grid has two blanks after PLAQUETTE, and
 * checksums at the right of ten columns. */
static int usual_spacing(const entry *e, long before, long after)
{
    const long length = (long)strlen(e->value);
    const int two = before == 2 && !strcmp(e->key, "PLAQUETTE");
    const int right = strstr(e->key, "CHECKSUM") != NULL && after + length == 11;
    return (before == 1 || two) && (after == 1 || length == 0 || right);
}

/* Splits the text into entries, "KEY = VALUE" a line. */
static int split(links_file *f, header *h, char *message, size_t size)
{
    int line = 1;
    for (char *p = h->text, *next; *p; p = next) {
        line++;
        char *end = strchr(p, '\n');
        next = end ? end + 1 : p + strlen(p);
        if (end) *end = 0;
        const int crlf = end && end > p && end[-1] == '\r';
        if (crlf) end[-1] = 0;
        if (crlf != h->crlf) links_odd(&f->info, "line %d: another end of line than the first", line);
        char *equals = strchr(p, '=');
        if (!equals || equals == p)
            return file_fail(message, size, "%s: header line %d: \"%.80s\" is not KEY = VALUE", f->path, line, p);
        if (h->n == KEYS_MAX) return file_fail(message, size, "%s: more than %d header lines", f->path, KEYS_MAX);
        entry *e = &h->e[h->n++];
        *e = (entry){p, equals + 1, line};
        const char *key_end = equals;
        while (key_end > p && key_end[-1] == ' ') key_end--;
        while (*e->value == ' ') e->value++;
        const long before = equals - key_end, after = e->value - equals - 1;
        p[key_end - p] = 0;
        char *value_end = e->value + strlen(e->value);
        while (value_end > e->value && value_end[-1] == ' ') *--value_end = 0;
        if (!usual_spacing(e, before, after)) links_odd(&f->info, "line %d: the spacing is not \"KEY = VALUE\"", line);
    }
    for (int i = 0; i < h->n; i++) {
        look_at(&f->info, &h->e[i]);
        for (int k = 0; k < i; k++)
            if (!strcmp(h->e[i].key, h->e[k].key)) links_odd(&f->info, "key %s given twice", h->e[i].key);
    }
    return 0;
}

static const char *value_of(const header *h, const char *key)
{
    for (int i = 0; i < h->n; i++)
        if (!strcmp(h->e[i].key, key)) return h->e[i].value;
    return NULL;
}

/* ---- its meaning ---- */

static int take_extents(links_file *f, const header *h, char *message, size_t size)
{
    for (int d = 0; d < 4; d++) {
        char key[32];
        snprintf(key, sizeof key, "DIMENSION_%d", d + 1);
        const char *v = value_of(h, key);
        if (!v) return file_fail(message, size, "%s: header: no %s", f->path, key);
        if (*v == '0' || strspn(v, "0123456789") != strlen(v) || strlen(v) > 5)
            return file_fail(message, size, "%s: header: %s = %.40s, expected a whole number", f->path, key, v);
        f->info.size[d] = atoi(v);
    }
    return links_check_size(f, message, size);
}

static int take_kind(links_file *f, const header *h, char *message, size_t size)
{
    static const struct {
        const char *name;
        int width, big;
    } reals[] = {
        {"IEEE32BIG", 4, 1}, {"IEEE32", 4, 1}, {"IEEE64BIG", 8, 1}, {"IEEE32LITTLE", 4, 0}, {"IEEE64LITTLE", 8, 0}};
    const char *type = value_of(h, "DATATYPE"), *real = value_of(h, "FLOATING_POINT"), *sum = value_of(h, "CHECKSUM");
    if (!type || !real || !sum)
        return file_fail(message, size, "%s: header: no %s", f->path,
                          !type   ? "DATATYPE"
                          : !real ? "FLOATING_POINT"
                                  : "CHECKSUM");
    if (!strcmp(type, "4D_SU3_GAUGE")) f->rows = 2;
    if (!strcmp(type, "4D_SU3_GAUGE_3x3") || !strcmp(type, "4D_SU3_GAUGE_3X3")) f->rows = 3;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!strcmp(real, reals[i].name)) f->width = reals[i].width, f->big = reals[i].big;
    if (!f->rows)
        return file_fail(message, size, "%s: header: DATATYPE = %.40s, 4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3 is allowed",
                          f->path, type);
    if (!f->width)
        return file_fail(
            message, size,
            "%s: header: FLOATING_POINT = %.40s, IEEE32BIG, IEEE64BIG, IEEE32LITTLE or IEEE64LITTLE is allowed",
            f->path, real);
    if (!links_hex32(sum, &f->recorded[0]))
        return file_fail(message, size, "%s: header: CHECKSUM = %.40s is not a hexadecimal number of 32 bits", f->path,
                          sum);
    f->info.has_checksum = 1;
    snprintf(f->info.checksum, sizeof f->info.checksum, "%x", f->recorded[0]);
    return 0;
}

static int take_average(const links_file *f, const header *h, const char *key, int *has, double *value, double *unit,
                        links_info *info, char *message, size_t size)
{
    const char *v = value_of(h, key);
    *has = v != NULL;
    if (!v) links_odd(info, "no %s", key);
    else if (!links_number(v, value, unit))
        return file_fail(message, size, "%s: header: %s = %.40s is not a number", f->path, key, v);
    return 0;
}

/* Trajectory number and label, for the user alone. */
static void take_names(links_info *i, const header *h)
{
    const char *number = value_of(h, "SEQUENCE_NUMBER"), *label = value_of(h, "ENSEMBLE_LABEL");
    const long n = number ? links_whole(number) : -1;
    if (n >= 0) i->has_sequence = 1, i->sequence = (int)n;
    if (!label || !*label) label = value_of(h, "ENSEMBLE_ID");
    if (label && strcmp(label, NO_LABEL)) snprintf(i->ensemble, sizeof i->ensemble, "%s", label);
    size_t used = 0;
    for (int k = 0; k < h->n && used < sizeof i->parameters; k++)
        if (strchr(h->e[k].key, '.'))
            used += (size_t)snprintf(i->parameters + used, sizeof i->parameters - used, "%s = %s\n", h->e[k].key,
                                     h->e[k].value);
}

static int interpret(links_file *f, header *h, char *message, size_t size)
{
    links_info *i = &f->info;
    int bad = split(f, h, message, size);
    if (!bad) bad = take_extents(f, h, message, size);
    if (!bad) bad = take_kind(f, h, message, size);
    if (!bad)
        bad = take_average(f, h, "PLAQUETTE", &i->has_plaquette, &i->plaquette, &i->plaquette_unit, i, message, size);
    if (!bad)
        bad =
            take_average(f, h, "LINK_TRACE", &i->has_link_trace, &i->link_trace, &i->link_trace_unit, i, message, size);
    if (!bad) take_names(i, h);
    if (!bad) bad = links_check_length(f, f->data + links_sites(i->size) * links_site_bytes(f), message, size);
    return bad;
}

/* CRC-32 of a header whose value of that name has eight digits, which are set to zeros; they go to `digits`. 0 where
 * there is no such value. */
static int crc_of_header(char *text, size_t n, char digits[9], uint32_t *crc)
{
    static const char name[] = "\n" HEADER_CRC " = ";
    char *at = memmem(text, n, name, sizeof name - 1);
    if (!at || (size_t)(at - text) + sizeof name + 8 > n) return 0;
    at += sizeof name - 1;
    memcpy(digits, at, 8);
    digits[8] = 0;
    memset(at, '0', 8);
    *crc = crc32_of(0, text, n);
    return 1;
}

static int check_crc(const links_file *f, const char *text, char *message, size_t size)
{
    char *copy = malloc(f->data), digits[9], found[9] = "";
    uint32_t crc;
    REQUIRE_MEMORY(copy, "out of memory: %zu bytes", (size_t)f->data);
    memcpy(copy, text, f->data);
    const int has = crc_of_header(copy, f->data, digits, &crc);
    free(copy);
    if (has) snprintf(found, sizeof found, "%08x", crc);
    if (!has || !strcmp(found, digits)) return 0;
    return file_fail(message, size, "%s: the header is damaged: its CRC-32 is %s, it says %s", f->path, found, digits);
}

static int read_header(links_file *f, int fd, char *message, size_t size)
{
    static const char first[] = "BEGIN_HEADER\n", last[] = "\nEND_HEADER";
    const size_t n = f->info.file_bytes < HEADER_MAX ? (size_t)f->info.file_bytes : HEADER_MAX;
    char *text = calloc(n + 1, 1);
    REQUIRE_MEMORY(text, "out of memory: %zu bytes", n);
    int bad = 0;
    if (file_pread(fd, text, n, 0)) bad = file_fail_read(message, size, f->path, "the header");
    /* A zero byte ends the search: it belongs to damage or to the links. */
    const int crlf = text[sizeof first - 2] == '\r';
    char *end = bad ? NULL : strstr(text, crlf ? "\nEND_HEADER\r\n" : "\nEND_HEADER\n");
    if (!bad && !end)
        bad = file_fail(message, size, "%s: header: no line END_HEADER in the first %zu bytes", f->path, strlen(text));
    if (!bad) {
        f->data = (uint64_t)(end - text) + sizeof last - 1 + (crlf ? 2 : 1);
        bad = check_crc(f, text, message, size);
    }
    if (!bad) {
        end[1] = 0;
        header h = {.text = text + sizeof first - 1 + crlf, .crlf = crlf};
        bad = interpret(f, &h, message, size);
    }
    free(text);
    return bad;
}

/* ---- checksum ---- */

static void sum(links_sums *s, const links_file *f, uint64_t site, const unsigned char *bytes, size_t n)
{
    (void)site;
    const size_t words = n * (size_t)(6 * f->rows * f->width);
    for (size_t i = 0; i < words; i++) s->summed += load32(bytes + 4 * i, f->big);
}

static int verify(const links_file *f, const links_sums *s, char *found, size_t size)
{
    snprintf(found, size, "%x", (uint32_t)s->summed);
    return (uint32_t)s->summed == f->recorded[0];
}

/* ---- writing: the header is padded in its free text, so that the links can go first ---- */

static param_text compose(const links_file *f, const links_meta *meta, uint32_t checksum)
{
    char label[128] = NO_LABEL;
    param_text text = {0};
    const int *l = f->info.size;
    if (meta->ensemble) snprintf(label, sizeof label, "%s", meta->ensemble);
    for (char *p = label; *p; p++)
        if (!isprint((unsigned char)*p) || *p == '=') *p = ' ';
    param_text_add(&text, "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE%s\nSTORAGE_FORMAT = 1.0\n",
                   f->rows == 3 ? "_3x3" : "");
    for (int d = 0; d < 4; d++) param_text_add(&text, "DIMENSION_%d = %d\n", d + 1, l[d]);
    param_text_add(&text, "LINK_TRACE = %.12f\n", f->info.link_trace);
    if (meta->has_plaquette) param_text_add(&text, "PLAQUETTE = %.12f\n", meta->plaquette);
    for (int d = 0; d < 4; d++) param_text_add(&text, "BOUNDARY_%d = PERIODIC\n", d + 1);
    param_text_add(&text,
                   "CHECKSUM = %x\nENSEMBLE_LABEL = %s\nSEQUENCE_NUMBER = %d\nFLOATING_POINT = IEEE%dBIG\n" HEADER_CRC
                   " = 00000000\n",
                   checksum, label, meta->sequence, 8 * f->width);
    if (meta->program) param_text_add(&text, "PROGRAM = %.128s\n", meta->program);
    if (meta->parameters) param_text_add(&text, "%s", meta->parameters);
    param_text_add(&text, "CREATOR = " OUR_CREATOR);
    return text;
}

static int prepare(links_file *f, const links_meta *meta, char *message, size_t size)
{
    (void)message, (void)size;
    const size_t unknown = 32; /* digits of the values that follow from the links, and the last line */
    param_text text = compose(f, meta, 0);
    f->data = (text.length + unknown + OUR_HEADER - 1) / OUR_HEADER * OUR_HEADER;
    param_text_free(&text);
    return 0;
}

static int finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                  size_t size)
{
    (void)digest;
    static const char last[] = "\nEND_HEADER\n";
    char digits[9];
    uint32_t crc = 0;
    param_text text = compose(f, meta, (uint32_t)s->summed);
    while (text.length < f->data - (sizeof last - 1)) param_text_add(&text, "-");
    param_text_add(&text, "%s", last);
    REQUIRE(text.length == f->data, "header of %zu bytes, links at %zu", text.length, (size_t)f->data);
    crc_of_header(text.data, text.length, digits, &crc);
    snprintf(digits, sizeof digits, "%08x", crc);
    memcpy(strstr(text.data, "\n" HEADER_CRC " = ") + strlen("\n" HEADER_CRC " = "), digits, 8);
    const int bad = links_write_header(f, text.data, text.length, message, size);
    param_text_free(&text);
    return bad;
}

const links_format links_format_nersc = {.name = "nersc",
                                         .title = "NERSC",
                                         .endings = ".nersc",
                                         .probe = probe,
                                         .read_header = read_header,
                                         .sum = sum,
                                         .verify = verify,
                                         .prepare = prepare,
                                         .finish = finish,
                                         .layouts = LINKS_64 | LINKS_32 | LINKS_TWO_ROWS};
