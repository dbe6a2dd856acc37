/* The inside of a format of propagator files: a `const propagator_format propagator_format_NAME` in propagator_NAME.c, and a line of
 * propagator_formats.def. Functions are of rank 0 alone. Numbers of a site are contiguous, x fastest. */
#ifndef PLAQ_IO_PROPAGATOR_FORMAT_H
#define PLAQ_IO_PROPAGATOR_FORMAT_H

#include "io/history/propagator_file.h"

typedef struct {
    const char *name, *endings; /* endings of names to write, ".lime .scidac"; null: of all other names */
    int big;                    /* numbers are big-endian */
    int transformations;        /* true: files hold gauge transformations, too */
    int spins_first; /* order of a site's numbers: [spin][source spin][colour][source colour], else [source spin][source colour][spin][colour] */
    /* True if the first n bytes are of the format. */
    int (*probe)(const unsigned char *first, size_t n);
    /* Fills *f but for `format`: 0, or bits with a message. */
    int (*look)(const char *path, propagator_file *f, char *message, size_t size);
    /* Sets f->data before the numbers are written, and writes all but these when the checksum is in *f: 0, or bits with a
     * message. */
    int (*prepare)(const char *path, propagator_file *f, const char *program, char *message, size_t size);
    int (*finish)(const char *path, const propagator_file *f, const char *program, char *message, size_t size);
} propagator_format;

#endif
