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

#include "io/links/links_info.h"
#include "kernels/field/field.h"

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

/* The i-th format, and the i-th of those that can be written, NULL beyond the last; whether it has a checksum of the links. */
const char *links_format_name(int i);
const char *links_format_writable(int i);
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
/* True if they have a place for a logical file name. */
int links_format_carries_lfn(const char *name);

/* The links as a file of that layout gives them back: a new field on the host, or NULL where they are those of u bit for
 * bit. Collective. */
field *links_rounded(const field *u, const char *format, int bits, int rows);

#endif
