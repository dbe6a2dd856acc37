/* Arguments of the kernels of contractions. */
#ifndef PLAQ_FAMILY_CONTRACT_H
#define PLAQ_FAMILY_CONTRACT_H

#include <stdint.h>

#include "kernels/field/view.h"
#include "kernels/lattice/exact.h"
#include "kernels/lattice/geom.h"

/* Colours of a source, columns of one of its spins. */
#define CONTRACT_COLOURS 3

/* Channel 4 k + l of out from spin k of columns first_a + d of a, and spin l of columns first_b + d of b, d < CONTRACT_COLOURS.
 * Views of columns are those of colour vectors: group 4 column + spin, of 6 reals. */
typedef struct {
    view a, b, out;
    int first_a, first_b;
} spin_pairs_args;

/* Groups of x and y, of `reals` components: 24 or 6. */
typedef struct {
    view x, y, out;
    int reals;
} inner_args;

/* Colour vectors with a column for each colour of the source; out of one channel. */
typedef struct {
    view a, b, c, out;
} colour_triple_args;

/* Sums over time slices, of `parts` stretches of a slice's planes in z: [part][slice of the rank][wave][channel][re, im]. */
typedef struct {
    geom g;
    const double *factors; /* [number][re, im][lane]: factors of waves at the layout's coordinates */
    const int32_t *first;  /* [wave][x, y, z]: number of the factor of a direction at coordinate 0 */
    exact_sum *sums;       /* a device overwrites them, the host adds to them */
    int waves, channels, parts, slices;
} wave_sums;

/* A unit sums the cubes of one slice of the layout and one part, for SLICE_WAVES waves and SLICE_CHANNELS channels; the last ones
 * of each may be fewer. The slice counts fastest, then waves, channels and parts. */
#define SLICE_WAVES 4
#define SLICE_CHANNELS 8

typedef struct {
    wave_sums s;
    view rho; /* storage of both parities */
} slice_sums_args;

/* Channel 16 (columns_b i + j) + 4 k + l is conj(spin k of column i of a) times spin l of column j of b, over colours. A unit does a
 * tile of COLUMN_TILE columns of each for SLICE_WAVES waves; tiles of b count fastest, then tiles of a, waves, slices and parts,
 * so that a thread keeps its columns of a in the cache. */
#define COLUMN_TILE 2

typedef struct {
    wave_sums s;
    view a, b; /* Views like those of spin_pairs_args, storage of both parities. */
    int columns_a, columns_b;
} column_slices_args;

/* Views of columns as in spin_pairs_args; out of 16 channels. Spins of two lines of a diquark at the sink, and two spins at the
 * source, each pair with its factor. */
#define DIQUARK_TERMS 4

typedef struct {
    int at[DIQUARK_TERMS][2];
    double value[DIQUARK_TERMS][2];
} diquark_table;

typedef struct {
    view a, b, c, out;
    diquark_table sink, source;
} baryon_args;

typedef baryon_args baryon_direct_args;
typedef baryon_args baryon_crossed_args;

#endif
