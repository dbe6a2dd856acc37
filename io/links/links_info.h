/* Lattice files of gauge links: what a file says of itself, and what its writer adds. */
#ifndef PLAQ_IO_LINKS_INFO_H
#define PLAQ_IO_LINKS_INFO_H

#include <stdint.h>

#include "io/files/file_io.h"
#include "kernels/lattice/lattice.h"

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
    /* Sees the links of each local time slice, [z][y][x][mu][18], as they are written. NULL: nobody does. */
    void (*look)(const lattice *lat, int t, const double *links, void *context);
    void *context; /* argument of add and look */
} links_meta;

#endif
