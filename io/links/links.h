/* Lattice files of gauge links: what a file says of itself, reading, writing, and the digest.
 *
 *   links_probe   the header only: format, size, recorded values
 *   links_read    the links, every rank its own box at 64-bit offsets; verifies length, header, checksum, digest, and the
 *                 plaquette and link trace that the file records
 *   links_write   to a temporary name in the same folder, fsync, then rename: a file of the final name is whole
 *   links_digest  SHA-256 of the links as big-endian doubles in ILDG order: t slowest, then z y x, mu = x y z t, 3x3
 *                 row-major, re im; the same for any process grid and any format the links came from
 *
 * The formats are listed in io/links/links_formats.def; names: ildg, scidac, nersc, milc, milc-old, openqcd, hdf5; all but
 * milc-old are written. Two-row files get their third row; 32-bit numbers are widened as they are. A file of 32-bit
 * numbers or two rows records the averages of the links as it gives them back. Fat or long links, not unitary, are read
 * like links: io/links/links_check.h looks at unitarity. A LIME file may hold links and no size; then the size is that of the
 * field that it is read into.
 *
 * All functions are collective, and all ranks get the same result and message. A message names file, place (byte,
 * record or key), what was found and what is allowed. */
#ifndef PLAQ_IO_LINKS_H
#define PLAQ_IO_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "io/files/file_io.h"
#include "kernels/field/field.h"

/* Largest extent taken from a header, so that offsets stay within 63 bits. */
#define LINKS_MAX_EXTENT 8192
/* Room for the parameters that a file records. */
#define LINKS_PARAMETERS 16384

/* Faults that links_read() finds, as bits. */
enum {
    LINKS_UNREADABLE =
        FILE_UNREADABLE, /* no file, not a known format, wrong header or length, wrong lattice: nothing was read */
    LINKS_BAD_CHECKSUM = 2,
    LINKS_NOT_FINITE = 4, /* NaN or infinity among the links */
    LINKS_NO_ACCESS =
        FILE_NO_ACCESS,      /* beside LINKS_UNREADABLE: the file cannot be opened or read, whatever it contains */
    LINKS_BAD_RECORDED = 16, /* plaquette or link trace differ from those recorded */
    LINKS_NO_REGULAR = FILE_NO_REGULAR, /* beside LINKS_NO_ACCESS: a folder, FIFO, socket or device */
    LINKS_NO_LATTICE = 64 /* beside LINKS_UNREADABLE: a file of plaq that holds no links: a history, tables */
};

typedef struct {
    char format[16];
    int size[4];          /* x y z t; all zero where the file does not say: links_settle_size() */
    int precision_bits;   /* 32 or 64; 0 where the file does not say */
    uint64_t links_bytes; /* bytes of all links, where the file says neither; else 0 */
    int rows;             /* rows of a link in the file: 2 or 3 */
    int big_endian;
    int has_plaquette, has_link_trace; /* (1/3) Re tr averaged, as recorded, and the worth of the last digit given */
    double plaquette, plaquette_unit;
    double link_trace, link_trace_unit;
    int has_sequence, sequence;        /* trajectory number */
    char ensemble[128];                /* label, one line of text, or "" */
    char lfn[256];                     /* logical file name (ILDG), or "" */
    char parameters[LINKS_PARAMETERS]; /* ensemble parameters as plaq writes them: lines "key = value", or "" */
    int has_checksum;
    char checksum[96]; /* recorded checksum, with its kind */
    char oddity[256];  /* the first thing in the header that no standard writer writes, though it can be read; or "" */
    char remark[256];  /* a peculiarity of a healthy file, for its reader to know; or "" */
    char digest[65];   /* recorded digest (hdf5), or "" */
    uint64_t file_bytes;
    /* Findings of links_read(). */
    uint64_t nonfinite; /* numbers that are NaN or infinite; then the two averages are NaN */
    double found_plaquette, found_link_trace;
    int open_boundary; /* zero links in time in all of the last time slice, as openQCD has them */
    int idle_slices;   /* 1: zero links on all of that slice; else 0 */
    int plaquette_ok, link_trace_ok, digest_ok; /* 1 right, 0 wrong, -1 not recorded */
} links_info;

/* Metadata that the writer adds to the links. The link trace is computed. */
typedef struct {
    int has_plaquette;
    double plaquette;
    const char *ensemble; /* free text of one line, or NULL */
    int sequence;         /* trajectory number */
    const char *program;  /* program that writes the file, one line, or NULL */
    const char *lfn;      /* ildg: logical file name, or NULL; other formats have no place for it */
    /* Ensemble parameters: lines "key = value" with a dot in each key, or NULL. Lines beyond LINKS_PARAMETERS bytes are
     * not read back. */
    const char *parameters;
    int bits, rows; /* 32 or 64, 2 or 3, as the format allows; 0: as exact as it allows */
    /* hdf5: adds more to the file, an hid_t of HDF5; called on rank 0. NULL: nothing more. Returns nonzero on failure. */
    int (*add)(int64_t file, double link_trace, const char *digest, void *context);
    void *context;
} links_meta;

/* 0, or LINKS_UNREADABLE, alone or with the bits that say more, with a message. */
int links_probe(const char *path, links_info *info, char *message, size_t size);

/* Settles the size of a file that was probed: its own, or `size` (zeros or NULL: none is given) where the file has
 * none; then also the precision. 0, or LINKS_UNREADABLE with a message when there is no size, two, or one that does not
 * fit; `key` names what gives the size: "--size", "[lattice] size". Local. */
int links_settle_size(links_info *info, const char *path, const int *size, const char *key, char *message,
                      size_t message_size);

/* Fills u, a field of links of both parities on a lattice of the file's size. 0, or bits as above with a message
 * of the first fault; without LINKS_UNREADABLE u holds what the file holds. info may be NULL. A recorded value that is
 * off in its last digits only, where the checksum is right, is noted as an oddity. */
int links_read(field *u, const char *path, links_info *info, char *message, size_t size);

/* 0, or nonzero with a message; then nothing is left behind and an older file of that name is untouched. The file is
 * read back from disk and its checksum verified before it has its name. meta may be NULL. */
int links_write(const field *u, const char *path, const char *format, const links_meta *meta, char *message,
                size_t size);

void links_digest(const field *u, char hex[65]);

/* (1/3) Re tr averaged over all links, summed exactly. */
double links_trace(const field *u);

/* The i-th format, and the i-th of those that can be written, NULL beyond the last; whether it can be written; whether it has
 * a checksum of the links. */
const char *links_format_name(int i);
const char *links_format_writable(int i);
int links_format_writes(const char *name);
int links_format_has_checksum(const char *name);
/* The ending of files written in this format, ".lime". */
void links_format_ending(const char *name, char ending[16]);
/* The format that files of this ending are written in, or NULL. */
const char *links_format_of_ending(const char *path);
/* Formats that can be written, with their endings: "ildg (.lime .ildg), nersc (.nersc), ...". Returns text. */
const char *links_formats_written(char *text, size_t size);
/* Tests the layout of meta.bits and meta.rows for a format that can be written: 0, or nonzero with what it has. */
int links_format_layout(const char *name, int bits, int rows, char *message, size_t size);
int links_format_most_bits(const char *name);
/* True if files of the format have a place for trajectory number, label and parameters. */
int links_format_carries_names(const char *name);

/* The links as a file of that layout gives them back: a new field on the host, or NULL where they are those of u bit for
 * bit. Collective. */
field *links_rounded(const field *u, const char *format, int bits, int rows);

#endif
