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

static int is_ildg(const links_file *f)
{
    return !strcmp(f->info.format, "ildg");
}

/* ---- text records ---- */

param_text *lime_add_text(lime_texts *all, const char *type, int flags)
{
    REQUIRE(all->n < LIME_TEXTS, "more than %d text records", LIME_TEXTS);
    all->r[all->n].type = type;
    all->r[all->n].flags = flags;
    all->r[all->n].text = (param_text){0};
    return &all->r[all->n++].text;
}

void lime_add_escaped(param_text *text, const char *plain)
{
    for (const char *p = plain; *p; p++) {
        const char *entity = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '&' ? "&amp;" : NULL;
        if (entity) param_text_add(text, "%s", entity);
        else param_text_add(text, "%c", *p);
    }
}

void lime_add_file(lime_texts *all, const int s[4], const char *title, const char *program, const char *parameters)
{
    param_text_add(lime_add_text(all, "scidac-private-file-xml", LIME_BEGIN),
                   LIME_XML "<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>%d %d %d %d </dims>"
                            "<volfmt>0</volfmt></scidacFile>",
                   s[0], s[1], s[2], s[3]);
    param_text *text = lime_add_text(all, "scidac-file-xml", LIME_END);
    param_text_add(text, LIME_XML "<" LIME_FILE_ROOT "><title>%s</title><program>", title);
    lime_add_escaped(text, program ? program : "plaq");
    param_text_add(text, "</program><parameters>");
    if (parameters) lime_add_escaped(text, parameters);
    param_text_add(text, "</parameters></" LIME_FILE_ROOT ">");
}

void lime_date(char date[64])
{
    const time_t now = time(NULL);
    struct tm utc;
    date[0] = 0;
    if (gmtime_r(&now, &utc)) strftime(date, 64, "%a %b %d %H:%M:%S %Y UTC", &utc);
}

void lime_free_texts(lime_texts *all)
{
    for (int i = 0; i < all->n; i++) param_text_free(&all->r[i].text);
}

uint64_t lime_texts_bytes(const lime_texts *all)
{
    uint64_t bytes = 0;
    for (int i = 0; i < all->n; i++) bytes += lime_bytes(all->r[i].text.length + 1);
    return bytes;
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

int lime_write_around(const links_file *f, const lime_texts *all, const char *binary, uint64_t bytes,
                      const uint32_t sums[2])
{
    unsigned char header[LIME_HEADER];
    char checksum[256];
    uint64_t at = 0;
    const int fd = open(f->path, O_RDWR | O_CLOEXEC);
    int bad = fd < 0;
    for (int i = 0; i < all->n && !bad; i++)
        bad = put_record(fd, &at, all->r[i].type, all->r[i].flags, all->r[i].text.data, all->r[i].text.length);
    lime_header(header, binary, bytes, 0);
    if (!bad) bad = file_pwrite(fd, header, sizeof header, at);
    REQUIRE(bad || at + LIME_HEADER == f->data, "header of %llu bytes, data at %llu", (unsigned long long)at,
            (unsigned long long)f->data);
    at = f->data + (bytes + 7) / 8 * 8;
    const int n = snprintf(checksum, sizeof checksum,
                           LIME_XML "<scidacChecksum><version>1.0</version><suma>%x</suma><sumb>%x</sumb>"
                                    "</scidacChecksum>",
                           sums[0], sums[1]);
    if (!bad) bad = put_record(fd, &at, "scidac-checksum", LIME_END, checksum, (size_t)n);
    if (!bad) bad = lime_seal_write(f, fd, bytes, at);
    const int why = errno;
    if (fd >= 0) close(fd);
    errno = why;
    return bad ? -1 : 0;
}

/* ---- links ---- */

/* Averages have a fixed width, so that the links can be written before these are known. */
static void compose_record(const links_file *f, const links_meta *meta, lime_texts *all)
{
    char date[64], plaquette[64] = "<plaq></plaq>", label[128] = "";
    const int single = f->width == 4;
    lime_date(date);
    if (meta->has_plaquette) snprintf(plaquette, sizeof plaquette, "<plaq>%+.12f</plaq>", meta->plaquette);
    snprintf(label, sizeof label, "%s", meta->ensemble ? meta->ensemble : "");
    for (char *p = label; *p; p++)
        if (*p == '<' || *p == '>' || *p == '&' || *p < ' ') *p = ' ';
    param_text_add(lime_add_text(all, "scidac-private-record-xml", LIME_BEGIN),
                   LIME_XML "<scidacRecord><version>1.1</version><date>%s</date><recordtype>0</recordtype>"
                            "<datatype>QDP_%c3_ColorMatrix</datatype><precision>%c</precision><colors>3</colors>"
                            "<typesize>%d</typesize><datacount>4</datacount></scidacRecord>",
                   date, single ? 'F' : 'D', single ? 'F' : 'D', 18 * f->width);
    param_text_add(lime_add_text(all, "scidac-record-xml", 0),
                   LIME_XML "<usqcdInfo><version>1.0</version>%s<linktr>%+.12f</linktr><info>" LIME_INFO_START
                            "%s %d</info></usqcdInfo>",
                   plaquette, f->info.link_trace, label, meta->sequence);
}

static void compose_ildg(const links_file *f, const links_meta *meta, lime_texts *all)
{
    const int *s = f->info.size;
    param_text_add(lime_add_text(all, "ildg-format", 0),
                   LIME_XML "<ildgFormat xmlns=\"" ILDG_SPACE "\" xmlns:xsi=\"" XSI_SPACE
                            "\" xsi:schemaLocation=\"" ILDG_SPACE "/filefmt.xsd\"><version>1.0</version>"
                            "<field>su3gauge</field><precision>%d</precision><lx>%d</lx><ly>%d</ly><lz>%d</lz>"
                            "<lt>%d</lt></ildgFormat>",
                   8 * f->width, s[0], s[1], s[2], s[3]);
    if (meta->lfn && meta->lfn[0]) param_text_add(lime_add_text(all, "ildg-data-lfn", 0), "%s", meta->lfn);
}

static lime_texts compose(const links_file *f, const links_meta *meta)
{
    lime_texts all = {0};
    lime_add_file(&all, f->info.size, "gauge configuration", meta->program, meta->parameters);
    compose_record(f, meta, &all);
    if (is_ildg(f)) compose_ildg(f, meta, &all);
    return all;
}

int lime_prepare(links_file *f, const links_meta *meta, char *message, size_t size)
{
    (void)message, (void)size;
    lime_texts all = compose(f, meta);
    f->data = LIME_HEADER + lime_texts_bytes(&all);
    lime_free_texts(&all);
    return 0;
}

int lime_finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                size_t size)
{
    (void)digest;
    const uint64_t bytes = links_sites(f->info.size) * links_site_bytes(f);
    lime_texts all = compose(f, meta);
    const int bad = lime_write_around(f, &all, is_ildg(f) ? "ildg-binary-data" : "scidac-binary-data", bytes, s->xored);
    lime_free_texts(&all);
    if (bad) file_fail(message, size, "%s: writing the LIME records: %s", f->path, strerror(errno));
    return bad;
}
