/* The seal of an HDF5 file: 512 bytes of text in its user block that guard all else but stated regions.
 *
 * HDF5 keeps checksums of only part of its structure, and its library may trip over damage. A sealed file is hashed
 * before the library sees it: the seal holds the length of the file, up to SEAL_REGIONS regions that are left out (bulk
 * data with checksums of its own), and the SHA-256 of everything between. Any flipped bit in the seal itself shows too,
 * since the block must be byte for byte what the writer makes of its values. Other HDF5 programs pass over the block.
 *
 * Create the file with H5Pset_userblock(plist, SEAL_BYTES), fill and close it, then call seal_write(). Local: one rank.
 */
#ifndef PLAQ_IO_SEAL_H
#define PLAQ_IO_SEAL_H

#include <stddef.h>
#include <stdint.h>

#define SEAL_BYTES 512
#define SEAL_REGIONS 4

typedef struct {
    int n;
    uint64_t start[SEAL_REGIONS],
        bytes[SEAL_REGIONS]; /* ascending, not overlapping, in bytes from the start of the file */
} seal_regions;

/* True if the first n bytes of a file are a seal, damaged or not. */
int seal_present(const unsigned char *first, size_t n);
/* 0, or nonzero with a message: of seal_check() bits as of links_read(). It fills the regions that are not covered. */
int seal_write(const char *path, const seal_regions *out, char *message, size_t size);
int seal_check(const char *path, seal_regions *out, char *message, size_t size);

#endif
