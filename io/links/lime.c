#include "io/links/lime.h"

#include <ctype.h>
#include <string.h>

uint64_t lime_bytes(uint64_t length)
{
    return LIME_HEADER + (length + 7) / 8 * 8;
}

void lime_header(unsigned char header[LIME_HEADER], const char *type, uint64_t length, int flags)
{
    memset(header, 0, LIME_HEADER);
    store32(header, LIME_MAGIC, 1);
    store32(header + 4, 1u << 16 | (uint32_t)flags, 1);
    store64(header + 8, length, 1);
    memcpy(header + 16, type, strlen(type));
}

static int take_record(links_file *f, const unsigned char *h, uint64_t at, lime_record *r, char *message, size_t size)
{
    const unsigned long long where = at;
    if (load32(h, 1) != LIME_MAGIC)
        return file_fail(message, size, "%s: LIME record at byte %llu: magic %08x, not %08x", f->path, where,
                          load32(h, 1), LIME_MAGIC);
    const uint32_t word = load32(h + 4, 1);
    if (word >> 16 != 1)
        return file_fail(message, size, "%s: LIME record at byte %llu: version %u, not 1", f->path, where, word >> 16);
    *r = (lime_record){.data = at + LIME_HEADER, .length = load64(h + 8, 1), .flags = (int)(word & 0xffff)};
    memcpy(r->type, h + 16, 128);
    size_t n = strlen(r->type);
    for (size_t i = 0; i < n; i++)
        if (!isprint((unsigned char)r->type[i]))
            return file_fail(message, size, "%s: LIME record at byte %llu: type is not text", f->path, where);
    for (; n < 128; n++)
        if (h[16 + n])
            links_odd(&f->info, "LIME record at byte %llu: byte %02x after the type %s", where, h[16 + n], r->type);
    if (r->flags & ~(LIME_BEGIN | LIME_END))
        links_odd(&f->info, "LIME record at byte %llu: reserved flags %04x", where, (unsigned)r->flags);
    const uint64_t rest = f->info.file_bytes - r->data;
    if (r->length > rest || lime_bytes(r->length) > rest + LIME_HEADER)
        return file_fail(message, size, "%s: LIME record %s at byte %llu: %llu bytes of data, the file has %llu more",
                          f->path, r->type, where, (unsigned long long)r->length, (unsigned long long)rest);
    return 0;
}

static int check_padding(links_file *f, int fd, const lime_record *r, char *message, size_t size)
{
    unsigned char pad[8] = {0};
    const size_t n = (size_t)(lime_bytes(r->length) - LIME_HEADER - r->length);
    if (n && file_pread(fd, pad, n, r->data + r->length))
        return file_fail_read(message, size, f->path, "padding of a LIME record");
    for (size_t i = 0; i < n; i++)
        if (pad[i])
            return file_fail(message, size, "%s: LIME record %s: byte %02x at %llu where padding is zero", f->path,
                              r->type, pad[i], (unsigned long long)(r->data + r->length + i));
    return 0;
}

/* Messages begin after the end of the one before, and the file ends with one. */
static void check_messages(links_file *f, const lime_index *index)
{
    int inside = 0;
    for (int i = 0; i < index->n; i++) {
        const int begin = (index->r[i].flags & LIME_BEGIN) != 0;
        if (begin == inside)
            links_odd(&f->info, "LIME record %d (%s): a message %s", i + 1, index->r[i].type,
                      begin ? "begins inside another" : "does not begin");
        inside = !(index->r[i].flags & LIME_END);
    }
    if (inside) links_odd(&f->info, "the last LIME message does not end");
}

int lime_scan(links_file *f, int fd, lime_index *index, char *message, size_t size)
{
    index->n = 0;
    for (uint64_t at = 0; at < f->info.file_bytes;) {
        unsigned char h[LIME_HEADER];
        if (f->info.file_bytes - at < LIME_HEADER)
            return file_fail(message, size, "%s: %llu bytes at %llu are not a LIME record", f->path,
                              (unsigned long long)(f->info.file_bytes - at), (unsigned long long)at);
        if (index->n == LIME_RECORDS)
            return file_fail(message, size, "%s: more than %d LIME records", f->path, LIME_RECORDS);
        if (file_pread(fd, h, sizeof h, at)) return file_fail_read(message, size, f->path, "a LIME record");
        lime_record *r = &index->r[index->n];
        int bad = take_record(f, h, at, r, message, size);
        if (!bad) bad = check_padding(f, fd, r, message, size);
        if (bad) return bad;
        index->n++;
        at += lime_bytes(r->length);
    }
    check_messages(f, index);
    return 0;
}

const lime_record *lime_find(const links_file *f, const lime_index *index, const char *type, int *status, char *message,
                             size_t size)
{
    const lime_record *found = NULL;
    for (int i = 0; i < index->n; i++) {
        if (strcmp(index->r[i].type, type)) continue;
        if (found) *status = file_fail(message, size, "%s: more than one LIME record %s", f->path, type);
        found = &index->r[i];
    }
    return found;
}
