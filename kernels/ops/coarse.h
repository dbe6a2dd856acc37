/* Operations of coarse operators (M. Clark et al., arXiv:1612.07873, sections 4 to 6): null vectors on aggregates, transfer
 * between lattices, the Galerkin product, coarse hops and products with a site's matrix.
 *
 * Vectors are in rows order: coarse vectors [chirality][vector], and fine spinors as rows of 4 x 3 components. All fields of
 * a call share precision and place; those of one lattice the lattice. Outputs come first. What exchanges halos or sums is
 * collective. */
#ifndef PLAQ_OPS_COARSE_H
#define PLAQ_OPS_COARSE_H

#include "kernels/family/coarse.h"
#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks of a fine lattice, which lie inside the ranks' boxes, are the sites of a coarse one; of `spins` x `colours` fine
 * components and so many null vectors. */
typedef struct {
    const lattice *fine, *coarse;
    int block[4], spins, colours, vectors;
} aggregation;

/* Parity of whole fields: both, or the one of a lattice without parity. */
parity coarse_whole(const lattice *lat);
/* Null vectors of an aggregation, all zero: FIELD_MATRICES on the whole fine lattice. */
field *coarse_null_vectors(const aggregation *a, precision prec, place where);

/* Rows of spinors, links or clover terms on parity p: groups of spinors as groups of rows, those of links and clover terms
 * one behind the other. */
void coarse_rows(field *rows, parity p, const field *f);
/* f = rows, or f += rows, of spinors on parity p. */
void coarse_sites(field *f, parity p, const field *rows, int add);

/* Null vector number k = v, on the parities that v has. */
void coarse_insert(const aggregation *a, field *vectors, int k, const field *v);
/* Makes the null vectors of each aggregate and chirality orthonormal. Returns how many of them depend on those before,
 * which are then no unit vectors. */
double coarse_orthonormalise(const aggregation *a, field *vectors);
/* coarse = P^dagger fine and fine = P coarse; on the parities that the fine vector has. The coarse one is whole. */
void coarse_restrict(const aggregation *a, field *coarse, const field *vectors, const field *fine);
void coarse_prolong(const aggregation *a, field *fine, const field *vectors, const field *coarse);

/* Coarse links (8 matrices a site) and diagonal of P^dagger M P. Of a Wilson-clover operator M, from rows of its links and
 * of its site-diagonal part; and of a coarse operator X (1 + Y). */
void coarse_galerkin_wilson(const aggregation *a, field *links, field *diagonal, const field *vectors,
                            const field *link_rows, const field *clover_rows);
void coarse_galerkin(const aggregation *a, field *links, field *diagonal, const field *vectors, const field *fine_links,
                     const field *fine_diagonal);

/* inverse = diagonal^-1 at each site. */
void coarse_invert(field *inverse, const field *diagonal);
/* Links in half precision from those in floating point, with a scale each; and back. */
void coarse_compress(field *fixed, const field *links);
void coarse_expand(field *links, const field *fixed);
/* matrices = matrices times + plus, one matrix a site */
void coarse_shift(field *matrices, coarse_scalar times, coarse_scalar plus);
static inline coarse_scalar coarse_number(double number, double twist)
{
    const coarse_scalar s = {number, twist};
    return s;
}
/* links = inverse links */
void coarse_fold(field *links, const field *inverse);
/* out = a sum_dir Y_dir in(x + dir) + b add on parity p, from the other parity where there are two. out may be add; with
 * b = 0 that may be null. Any number of right-hand sides. links may be in half precision. COARSE_TENSOR_CORES: a device
 * multiplies vectors in single precision, COARSE_TENSOR_RHS of them or more and a multiple of 16 components, on tensor
 * cores: products of TF32 numbers (11 bits), whose bits are those of a device, alike on all grids. */
typedef enum { COARSE_IN_PRECISION, COARSE_TENSOR_CORES } coarse_products;
#define COARSE_TENSOR_RHS 4
void coarse_hop(field *out, parity p, double a, const field *links, const field *in, double b, const field *add,
                coarse_products products);
/* out = X in on parity p; out is not in. And the same with gamma_5 in front of X, or behind it. */
typedef enum { GAMMA_NONE, GAMMA_LEFT, GAMMA_RIGHT } coarse_gamma;
void coarse_local(field *out, parity p, const field *matrices, const field *in, coarse_gamma gamma);

#ifdef __cplusplus
}
#endif
#endif
