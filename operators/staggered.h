/* The staggered operator and its even-odd normal operator.
 *
 * M = m + D / 2 with the anti-Hermitian hop D of kernels/site/staggered.h (MILC's M is twice ours). D leads from one
 * parity to the other, so M^dagger M = m^2 - D^2 / 4 is block diagonal:
 *   A = m^2 - D_pq D_qp / 4 on parity p,  det M = det A.
 *
 * Quarks of several masses share their links, which are borrowed. */
#ifndef PLAQ_STAGGERED_OPERATOR_H
#define PLAQ_STAGGERED_OPERATOR_H

#include "operators/linop.h"
#include "operators/staggered_links.h"

typedef struct staggered staggered;

/* p: parity of the normal operator's vectors. */
staggered *staggered_create(staggered_links *links, double mass, parity p);
void staggered_destroy(staggered *s);

/* A in double precision where the links are; Hermitian, positive for a mass that is not zero; owned by s. */
linop *staggered_normal(staggered *s);

/* The right-hand side on parity p of A x_p = m b_p - D_pq b_q / 2 for M x = b, and x from its solution, for masses that
 * are not zero: x_q = (b_q - D_qp x_p / 2) / m. b and x hold both parities. */
void staggered_prepare(staggered *s, field *normal_source, const field *source);
void staggered_reconstruct(staggered *s, field *x, const field *normal_x, const field *source);
/* y = M x, or M^dagger x, on both parities. */
void staggered_apply(staggered *s, field *y, const field *x, int dagger);

#endif
