#include "io/links/lime_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "io/links/lime_records.h"
#include "io/links/lime_seal.h"
#include "kernels/base/param.h"

#define DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

enum { MOST = 6 }; /* text records before the links */

typedef struct {
    const char *type;
    int flags;
    param_text text;
} text_record;

typedef struct {
    int n;
    text_record r[MOST];
} text_records;

static int is_ildg(const links_file *f)
{
    return !strcmp(f->info.format, "ildg");
}

static param_text *add_record(text_records *all, const char *type, int flags)
{
    text_record *r = &all->r[all->n++];
    *r = (text_record){.type = type, .flags = flags};
    return &r->text;
}

static void add_escaped(param_text *text, const char *plain)
{
    for (const char *p = plain; *p; p++) {
        const char *entity = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '&' ? "&amp;" : NULL;
        if (entity) param_text_add(text, "%s", entity);
        else param_text_add(text, "%c", *p);
    }
}

static void compose_file(const links_file *f, const links_meta *meta, text_records *all)
{
    const int *s = f->info.size;
    const char *program = meta->program ? meta->program : "plaq";
    param_text_add(add_record(all, "scidac-private-file-xml", LIME_BEGIN),
                   DECLARATION "<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>%d %d %d %d </dims>"
                               "<volfmt>0</volfmt></scidacFile>",
                   s[0], s[1], s[2], s[3]);
    param_text *text = add_record(all, "scidac-file-xml", LIME_END);
    param_text_add(text, DECLARATION "<" LIME_FILE_ROOT "><title>gauge configuration</title><program>");
    add_escaped(text, program);
    param_text_add(text, "</program><parameters>");
    if (meta->parameters) add_escaped(text, meta->parameters);
    param_text_add(text, "</parameters></" LIME_FILE_ROOT ">");
}

/* Averages have a fixed width, so that the links can be written before these are known. */
static void compose_record(const links_file *f, const links_meta *meta, text_records *all)
{
    char date[64] = "", plaquette[64] = "<plaq></plaq>", label[128] = "";
    const int single = f->width == 4;
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%a %b %d %H:%M:%S %Y UTC", &utc);
    if (meta->has_plaquette) snprintf(plaquette, sizeof plaquette, "<plaq>%+.12f</plaq>", meta->plaquette);
    snprintf(label, sizeof label, "%s", meta->ensemble ? meta->ensemble : "");
    for (char *p = label; *p; p++)
        if (*p == '<' || *p == '>' || *p == '&' || *p < ' ') *p = ' ';
    param_text_add(add_record(all, "scidac-private-record-xml", LIME_BEGIN),
                   DECLARATION "<scidacRecord><version>1.1</version><date>%s</date><recordtype>0</recordtype>"
                               "<datatype>QDP_%c3_ColorMatrix</datatype><precision>%c</precision><colors>3</colors>"
                               "<typesize>%d</typesize><datacount>4</datacount></scidacRecord>",
                   date, single ? 'F' : 'D', single ? 'F' : 'D', 18 * f->width);
    param_text_add(add_record(all, "scidac-record-xml", 0),
                   DECLARATION "<usqcdInfo><version>1.0</version>%s<linktr>%+.12f</linktr><info>" LIME_INFO_START
                               "%s %d</info></usqcdInfo>",
                   plaquette, f->info.link_trace, label, meta->sequence);
}

static void compose_ildg(const links_file *f, const links_meta *meta, text_records *all)
{
    const int *s = f->info.size;
    param_text_add(add_record(all, "ildg-format", 0),
                   DECLARATION "<ildgFormat xmlns=\"" ILDG_SPACE "\" xmlns:xsi=\"" XSI_SPACE
                               "\" xsi:schemaLocation=\"" ILDG_SPACE "/filefmt.xsd\"><version>1.0</version>"
                               "<field>su3gauge</field><precision>%d</precision><lx>%d</lx><ly>%d</ly><lz>%d</lz>"
                               "<lt>%d</lt></ildgFormat>",
                   8 * f->width, s[0], s[1], s[2], s[3]);
    if (meta->lfn && meta->lfn[0]) param_text_add(add_record(all, "ildg-data-lfn", 0), "%s", meta->lfn);
}

static text_records compose(const links_file *f, const links_meta *meta)
{
    text_records all = {0};
    compose_file(f, meta, &all);
    compose_record(f, meta, &all);
    if (is_ildg(f)) compose_ildg(f, meta, &all);
    return all;
}

static void release(text_records *all)
{
    for (int i = 0; i < all->n; i++) param_text_free(&all->r[i].text);
}

int lime_prepare(links_file *f, const links_meta *meta, char *message, size_t size)
{
    (void)message, (void)size;
    text_records all = compose(f, meta);
    f->data = LIME_HEADER;
    for (int i = 0; i < all.n; i++) f->data += lime_bytes(all.r[i].text.length + 1);
    release(&all);
    return 0;
}

/* Header, text and its final zero, padding. */
static int put_record(int fd, uint64_t *at, const char *type, int flags, const char *text, size_t length)
{
    const uint64_t start = *at, bytes = lime_bytes(length + 1);
    unsigned char *record = calloc(bytes, 1);
    REQUIRE_MEMORY(record, "out of memory: %llu bytes", (unsigned long long)bytes);
    lime_header(record, type, length + 1, flags);
    memcpy(record + LIME_HEADER, text, length);
    *at += bytes;
    const int bad = file_pwrite(fd, record, bytes, start);
    free(record);
    return bad;
}

int lime_finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                size_t size)
{
    (void)digest;
    unsigned char header[LIME_HEADER];
    char checksum[256];
    const uint64_t bytes = links_sites(f->info.size) * links_site_bytes(f);
    uint64_t at = 0;
    const int fd = open(f->path, O_RDWR | O_CLOEXEC);
    int bad = fd < 0;
    text_records all = compose(f, meta);
    for (int i = 0; i < all.n && !bad; i++)
        bad = put_record(fd, &at, all.r[i].type, all.r[i].flags, all.r[i].text.data, all.r[i].text.length);
    release(&all);
    lime_header(header, is_ildg(f) ? "ildg-binary-data" : "scidac-binary-data", bytes, 0);
    if (!bad) bad = file_pwrite(fd, header, sizeof header, at);
    REQUIRE(bad || at + LIME_HEADER == f->data, "header of %llu bytes, links at %llu", (unsigned long long)at,
            (unsigned long long)f->data);
    at = f->data + bytes;
    const int n =
        snprintf(checksum, sizeof checksum,
                 DECLARATION "<scidacChecksum><version>1.0</version><suma>%x</suma><sumb>%x</sumb></scidacChecksum>",
                 s->xored[0], s->xored[1]);
    if (!bad) bad = put_record(fd, &at, "scidac-checksum", LIME_END, checksum, (size_t)n);
    if (!bad) bad = lime_seal_write(f, fd, bytes, at);
    if (bad) file_fail(message, size, "%s: writing the LIME records: %s", f->path, strerror(errno));
    if (fd >= 0) close(fd);
    return bad;
}
