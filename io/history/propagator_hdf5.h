/* Propagators of quarks in HDF5 files.
 *
 * Dataset `propagator` [t][z][y][x][source spin][source colour][spin][colour][re, im], contiguous, little-endian floats of 64 or 32
 * bits; without the two spins for quarks that have none. Its attribute `checksum` holds the two words of the SciDAC checksum of its
 * bytes. Dataset `solves` [solves][values]: how each solve went that it is made of, itself first. Attributes of the file: size, links
 * (the digest of io/links/links.h), trajectory (-1: none), program; dataset `identity`: lines "key = value" of all that decides
 * the numbers beside the links.
 *
 * The user block is a seal (io/files/seal.h) over all but the propagator, which the checksum guards: every byte is verified. All
 * ranks write and read their own sites at their places. A file is written under a temporary name, read back, and renamed, so
 * jobs that write the same file at the same time leave a whole one. Its bytes do not depend on ranks or time.
 *
 * All functions are collective, and all ranks get the same result and message: 0, or bits as of links_read(). */
#ifndef PLAQ_IO_PROPAGATOR_HDF5_H
#define PLAQ_IO_PROPAGATOR_HDF5_H

#include "io/links/links.h"

enum { PROPAGATOR_SOLVES = 16, PROPAGATOR_VALUES = 4 };

typedef struct {
    int size[4], columns, spins; /* extents; columns of sources; 4 spins, or 1 of quarks without */
    int bits;                    /* 64 or 32 */
    char links[65];
    int64_t trajectory;
    char *identity; /* owned by a file that was looked at */
    int nsolves;
    double solves[PROPAGATOR_SOLVES][PROPAGATOR_VALUES];
    uint64_t data;        /* set by propagator_file_look(): byte offset of the numbers, */
    uint32_t checksum[2]; /* and their checksum */
} propagator_file;

/* Bytes of the numbers of such a file. Local. */
uint64_t propagator_file_bytes(const propagator_file *f);

/* Writes the columns, vectors in double precision and of both parities, with a right-hand side for each column; extents, columns
 * and spins are theirs, and the rest is that of *f. */
int propagator_file_write(const char *path, const field *columns, const propagator_file *f, const char *program,
                          char *message, size_t size);
/* All of a file but its numbers. Free with propagator_file_free() where the result is 0. LINKS_NO_ACCESS: there is no file, or it
 * cannot be read; LINKS_NO_LATTICE: a file of another kind. */
int propagator_file_look(const char *path, propagator_file *f, char *message, size_t size);
void propagator_file_free(propagator_file *f);
/* Numbers of a file that was looked at, into columns of its shape on a lattice of its extents; with null columns only the checksum is
 * verified. */
int propagator_file_read(const char *path, const propagator_file *f, const lattice *lat, field *columns, char *message,
                         size_t size);
/* The columns as a file of 32 bits gives them back, in place. */
void propagator_round(field *columns);

#endif
