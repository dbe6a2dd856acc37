/* Propagators of quarks, and gauge transformations, in files, in the formats of propagator_format.h:
 *
 *   hdf5    propagator_hdf5.c, the format of all names but those of the other
 *   scidac  propagator_scidac.c, names that end in .lime or .scidac: for programs that read and write them by QIO;
 *            no gauge transformations
 *
 * A gauge transformation is a colour matrix [row][column] a site; its columns and spins are 3 and 1, its links those that it
 * transforms.
 *
 * All ranks write and read their own sites at their places. A file is written under a temporary name, read back, and renamed, so
 * jobs that write the same file at the same time leave a whole one. Every byte of a file of plaq is verified.
 *
 * All functions are collective unless they say otherwise, and all ranks get the same result and message: 0, or bits as of
 * links_read(). */
#ifndef PLAQ_IO_PROPAGATOR_FILE_H
#define PLAQ_IO_PROPAGATOR_FILE_H

#include "io/links/links.h"

enum { PROPAGATOR_SOLVES = 16, PROPAGATOR_VALUES = 4 };

typedef struct {
    int is_transformation;       /* true: a gauge transformation */
    int size[4], columns, spins; /* extents; columns of sources; 4 spins, or 1 of quarks without */
    int bits;                    /* 64 or 32 */
    char links[65];              /* digest of the links (io/links/links.h); "" in a file of another program */
    int64_t trajectory;          /* number that the configuration bears, or -1 */
    char *identity; /* lines "key = value" of all else that decides the numbers; owned by a file that was looked at */
    int nsolves;    /* how the solves went that it is made of, itself first */
    double solves[PROPAGATOR_SOLVES][PROPAGATOR_VALUES];
    /* Set by propagator_file_look(). */
    int format;       /* number of the format */
    uint64_t data;    /* byte offset of the numbers */
    int has_checksum; /* the numbers have the checksum of SciDAC: */
    uint32_t checksum[2];
    char oddity[256]; /* the first thing that no standard writer writes, or "" */
} propagator_file;

/* Bytes of the numbers of such a file. Local. */
uint64_t propagator_file_bytes(const propagator_file *f);
/* Name of the format. Local. */
const char *propagator_file_format(const propagator_file *f);

/* True if a file of this name has a format for gauge transformations. Local. */
int propagator_file_takes_transformation(const char *path);

/* Writes the columns, vectors in double precision and of both parities, with a right-hand side for each column, or a gauge
 * transformation, a FIELD_COLOUR_MATRIX; kind, extents, columns and spins are theirs, and the rest is that of *f. */
int propagator_file_write(const char *path, const field *columns, const propagator_file *f, const char *program,
                          char *message, size_t size);
/* Header of a file: everything but the numbers. Free with propagator_file_free() where the result is 0. LINKS_NO_ACCESS: there is no file, or it
 * cannot be read; LINKS_NO_LATTICE: a file of another kind. */
int propagator_file_look(const char *path, propagator_file *f, char *message, size_t size);
/* True for a propagator that plaq wrote and whose header is whole. Local: rank 0. */
int propagator_file_is_ours(const char *path);
void propagator_file_free(propagator_file *f);
/* Numbers of a file that was looked at, into columns of its shape on a lattice of its extents; with null columns only the checksum is
 * verified. */
int propagator_file_read(const char *path, const propagator_file *f, const lattice *lat, field *columns, char *message,
                         size_t size);

/* The columns as a file of 32 bits gives them back, in place. */
void propagator_round(field *columns);

#endif
