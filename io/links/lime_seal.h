/* The seal of LIME files that plaq writes: a last record, LIME_SEAL, with the CRC-32 of all bytes of the file but the links,
 * which have a checksum of their own, and the seal itself, which has to be byte for byte what the writer makes. So every
 * flipped bit of the records shows, also in free text. Other readers pass over records that they do not know. Local: rank 0. */
#ifndef PLAQ_IO_LIME_SEAL_H
#define PLAQ_IO_LIME_SEAL_H

#include "io/links/lime_records.h"

#define LIME_SEAL "plaq-seal"

/* Adds the seal at byte `end`, where the records end; the links are `bytes` from f->data on. The descriptor reads and writes.
 * 0, or -1 with errno. */
int lime_seal_write(const links_file *f, int fd, uint64_t bytes, uint64_t end);
/* Compares the seal, if there is one, with the records; `links` is that of the links. A seal that is wrong is an oddity. */
void lime_seal_check(lime_reader *in, const lime_record *links);

#endif
