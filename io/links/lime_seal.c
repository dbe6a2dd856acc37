#include "io/links/lime_seal.h"

#include <stdio.h>
#include <string.h>

#include "io/files/checksum.h"

enum { TEXT = 64, SEAL_RECORD = LIME_HEADER + TEXT };

/* The whole record of a checksum. */
static void compose(unsigned char record[SEAL_RECORD], uint32_t crc)
{
    char text[TEXT + 1] = "";
    snprintf(text, sizeof text, "CRC-32 of all bytes but the links and this record: %08x\n", crc);
    lime_header(record, LIME_SEAL, TEXT, LIME_BEGIN | LIME_END);
    memcpy(record + LIME_HEADER, text, TEXT);
}

/* Continues the checksum with the bytes from `at` to `end`. 0, or -1 with errno. */
static int add_bytes(uint32_t *crc, int fd, uint64_t at, uint64_t end)
{
    unsigned char buf[4096];
    while (at < end) {
        const size_t n = end - at < sizeof buf ? (size_t)(end - at) : sizeof buf;
        if (file_pread(fd, buf, n, at)) return -1;
        *crc = crc32_of(*crc, buf, n);
        at += n;
    }
    return 0;
}

int lime_seal_write(const links_file *f, int fd, uint64_t bytes, uint64_t end)
{
    unsigned char record[SEAL_RECORD];
    uint32_t crc = 0;
    if (add_bytes(&crc, fd, 0, f->data) || add_bytes(&crc, fd, f->data + bytes, end)) return -1;
    compose(record, crc);
    return file_pwrite(fd, record, sizeof record, end);
}

void lime_seal_check(lime_reader *in, const lime_record *links)
{
    links_file *f = in->f;
    unsigned char record[SEAL_RECORD], found[SEAL_RECORD];
    uint32_t crc = 0;
    const lime_record *r = lime_find(f, in->index, LIME_SEAL, &in->bad, in->message, in->size);
    if (in->bad || !r) return;
    const uint64_t at = r->data - LIME_HEADER;
    if (r != &in->index->r[in->index->n - 1] || r->length != TEXT || at < links->data) {
        links_odd(&f->info, "LIME record " LIME_SEAL ": not as plaq writes it");
        return;
    }
    if (add_bytes(&crc, in->fd, 0, links->data) || add_bytes(&crc, in->fd, links->data + links->length, at) ||
        file_pread(in->fd, found, sizeof found, at)) {
        in->bad = file_fail_read(in->message, in->size, f->path, "the LIME records");
        return;
    }
    compose(record, crc);
    if (memcmp(record, found, sizeof record))
        links_odd(&f->info,
                  "LIME record " LIME_SEAL ": the CRC-32 of the other records is %08x, and not the one recorded: a "
                  "record has changed since plaq wrote it",
                  crc);
}
