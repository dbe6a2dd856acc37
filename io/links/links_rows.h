/* Rows of sites between a rank's box, a file, and rank 0.
 *
 * A file holds sites with x fastest. The box of a rank is, per time slice, a number of runs of sites that are
 * contiguous in that order: whole slices where neither x, y nor z is split, else slabs, planes or single rows. */
#ifndef PLAQ_IO_LINKS_ROWS_H
#define PLAQ_IO_LINKS_ROWS_H

#include "io/files/checksum.h"
#include "io/links/links_format.h"
#include "kernels/lattice/exact.h"

typedef struct {
    uint64_t site; /* global number of the first site */
    size_t start;  /* number of the first site in the rank's slice buffer */
    size_t n;
} rows_run;

/* Runs in a time slice of this rank, and the i-th one of local slice t. */
int rows_count(const lattice *lat);
rows_run rows_get(const lattice *lat, int t, int i);

/* Runs in pieces that threads share: how many in a time slice, and the k-th one of local slice t. */
int rows_pieces(const lattice *lat);
rows_run rows_piece(const lattice *lat, int t, int k);

/* Between file bytes and doubles [18]. Reading completes two rows to three, writing rounds to the width. */
void rows_decode(const links_file *f, const unsigned char *bytes, size_t links, double *u);
void rows_encode(const links_file *f, const double *u, size_t links, unsigned char *bytes);

/* Adds Re tr of these links to the sum. */
void rows_trace(const double *u, size_t links, exact_sum *sum);

/* Hashes all links in ILDG order as big-endian doubles, which pass by rank 0 plane after plane. Collective. */
void rows_hash(const field *u, sha256 *s);

#endif
