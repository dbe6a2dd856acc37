/* Blocks that overlap, for Schwarz methods: every block of sites (kernels/ops/block.h) is continued by `overlap` sites on
 * either side, in the directions along which it is shorter than the lattice.
 *
 * The extended blocks of a rank lie side by side on a lattice of its own, which no other rank knows of: along direction
 * d block n has the places [n e, (n + 1) e), with e = block + 2 overlap. Cut into blocks of e sites, that lattice has
 * Dirichlet conditions at the extended edges, and the kernels run on it as on any other. overlap_gather() brings to it
 * what the sites hold, over ranks where a block reaches beyond its own; overlap_keep() brings back what each block has
 * found on the sites that are its own alone (restricted additive Schwarz: X.-C. Cai and M. Sarkis, SIAM J. Sci.
 * Comput. 21 (1999) 792).
 *
 * Along the antiperiodic time, vectors beyond the edge of the lattice have the opposite sign: the same as the sign on
 * the links that lead there. */
#ifndef PLAQ_OVERLAP_H
#define PLAQ_OVERLAP_H

#include "kernels/field/field.h"

typedef struct overlap overlap;

#ifdef __cplusplus
extern "C" {
#endif

/* True if blocks of `size` sites (all zero: the box of a rank), which divide that box, can be continued by so many sites (0 to
 * the extents of the lattice) on a lattice, which may be a plan; else the reason is in `message`. */
int overlap_can_be(const lattice *lat, const int size[4], int sites, char *message, size_t bytes);
/* True if overlap_can_be(), no extended block has a site twice, and one is longer than its block unless `sites` is 0. */
int overlap_fit(const lattice *lat, const int size[4], int sites, char *message, size_t bytes);
/* Extents of the extended blocks, and of the lattice on which those of a rank lie. */
void overlap_extents(const lattice *lat, const int size[4], int sites, int block[4], int all[4]);
/* Bytes of the lists of sites of such blocks, beside that lattice, which may be a plan. */
size_t overlap_list_bytes(const lattice *lat, const int size[4], int sites);

/* Overlap of blocks as overlap_can_be() allows, for fields of this precision and place. The lattice is borrowed. */
overlap *overlap_create(const lattice *lat, const int size[4], int sites, precision prec, place where);
void overlap_destroy(overlap *o);

const lattice *overlap_lattice(const overlap *o);
/* The parity that sites of parity p have there; that of both is both. */
parity overlap_parity(const overlap *o, parity p);

/* Gathers on every site of the extended blocks what the lattice has there. y: on overlap_lattice(), with overlap_parity() of
 * the parity of x; x: on the lattice; else alike. Collective. */
void overlap_gather(const overlap *o, field *y, const field *x);
/* Keeps on every site of the lattice what its own block has there. The fields are those of overlap_gather(), the other way
 * round. Not collective. */
void overlap_keep(const overlap *o, field *y, const field *x);
/* The way back: on the sites of every block that are its own what the lattice has there, others are left alone. The
 * fields are those of overlap_gather(). Not collective. */
void overlap_place(const overlap *o, field *y, const field *x);

#ifdef __cplusplus
}
#endif
#endif
