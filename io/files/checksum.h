/* Checksums of lattice files.
 *
 *   crc32_of       the CRC of zlib and Ethernet (reflected polynomial 0xedb88320), as the SciDAC checksum uses it
 *   scidac_add     the SciDAC checksum of links: the CRC of each site's bytes, rotated left by its number mod 29 and
 *                  mod 31, xored into two words, in any order of the sites
 *   sha256_*       FIPS 180-4; the digest of links and the seal of HDF5 files
 *
 * Threads may make sums of their own side by side. Nothing here knows of ranks. */
#ifndef PLAQ_IO_CHECKSUM_H
#define PLAQ_IO_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} sha256;

/* The SHA instructions of x86 where the CPU has them, else portable C: the same digests. */
typedef enum { SHA256_FASTEST, SHA256_INSTRUCTIONS, SHA256_PORTABLE } sha256_way;

/* CRC of n bytes; `crc` is 0, or the CRC of what came before. */
uint32_t crc32_of(uint32_t crc, const void *data, size_t n);

void scidac_add(uint32_t sums[2], uint64_t first_site, const void *data, size_t sites, size_t site_bytes);

void sha256_start(sha256 *s);
void sha256_add(sha256 *s, const void *data, size_t n);
/* Ends the hash: 64 hexadecimal digits in lower case, and a zero. */
void sha256_end(sha256 *s, char hex[65]);

/* Sets how hashes are made from now on, for tests. Returns 0 where the CPU has not got the instructions asked for. */
int sha256_use(sha256_way way);

static inline uint32_t rotate_left32(uint32_t x, unsigned n)
{
    return n ? x << n | x >> (32 - n) : x;
}

#endif
