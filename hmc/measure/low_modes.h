/* Low modes of a quark on the whole lattice, from eigenvectors v of its even-odd normal operator: orthonormal vectors whose
 * span holds what makes M^-1 large, so that M^-1 (1 - sum_k e_k e_k^dagger) has no part of the eigenvectors left.
 *
 * The part of v in M^-1 is a product of a column w, the solution that is reconstructed from v without a source, and of
 * rows, the conjugates of G w by M^dagger = G M G: G = gamma_5, or the parity of the site for staggered quarks. For these v
 * and its partner on the other parity are both rows: span {w, G w}, in which D stays. With v alone taken out, D would lead
 * from modes that are out to partners that are not, at a size of 1 where mass and condensate are far smaller.
 *
 * Physical fields (operators/fermion.h), in double precision. All calls are collective. */
#ifndef PLAQ_LOW_MODES_H
#define PLAQ_LOW_MODES_H

#include "operators/fermion.h"
#include "solvers/eigen.h"

typedef struct low_modes low_modes;

/* Low modes from the first `modes` eigenpairs of f->normal. Those of domain wall quarks are of physical fields: M^-1 is then the
 * propagator between these, and w the physical quark field of the reconstructed solution. */
low_modes *low_modes_create(const eigen_pairs *e, int modes, fermion *f);
void low_modes_free(low_modes *l);
/* sum_k w_k (v_k, b) / lambda_k of the same eigenpairs for all vectors, in the blocks that hold them: b is the right-hand side of
 * the normal system for the vector, w the physical quark field of the solution that is reconstructed from v without a source.
 * That is the part of the eigenvectors in the quark's propagator from the vector, without a solve. Only of fermions with a
 * direct system. Free the fields and the list. */
field **low_modes_propagate(const low_modes *l, const eigen_pairs *e, int modes, fermion *f);
int low_modes_count(const low_modes *l);
/* Blocks that hold the vectors, in their order. */
int low_modes_blocks(const low_modes *l);
const field *low_modes_block(const low_modes *l, int i);
/* Vector k, a view. */
field low_modes_vector(const low_modes *l, int k);
/* x -= sum_k e_k (e_k, x), of any number of right-hand sides. */
void low_modes_project(const low_modes *l, field *x);

#endif
