/* The exact one-flavour algorithm of domain wall quarks: det M(m) / det M(heavy), heavy > m, as a determinant of two
 * positive operators on four-dimensional fields of one chirality (Y.-C. Chen and T.-W. Chiu, arXiv:1403.1683; C. Jung,
 * C. Kelly, R. Mawhinney and D. Murphy, arXiv:1706.05843, whose shift operators these are).
 *
 * With M B^-1 = D_W + N(m) of operators/mobius.h, where N is a real matrix in s a chirality, and the reflection R of s,
 * H(m) = gamma5 R (D_W + N(m)) is Hermitian, and its two chiralities change with the mass by one vector w,
 *
 *   R (N_+(heavy) - N_+(m)) = kappa w w^T,  R (N_-(heavy) - N_-(m)) = kappa (R w) (R w)^T,  kappa > 0
 *   N_+(heavy) - N_+(m) = (b5 + c5) (heavy - m) B_+(m)^-1 e_0 e_last^T B_+(heavy)^-1
 *
 * With f = (f_+, f_-), H_f = H(m) + kappa (f_+ P_+ w w^T - f_- P_- (R w) (R w)^T), w_+ = w and w_- = R w, two steps from
 * H(m) = H_(0,0) over H_(0,1) to H(heavy) = H_(1,1) make
 *
 *   det M(m) / det M(heavy) = const / (det A_- det A_+),  A_- = 1 - kappa w_-^T H_(0,0)^-1 w_-, A_+ = 1 + kappa w_+^T
 *   H_(0,1)^-1 w_+,  1 / (A_-+ + b) = g (1 +- g kappa w^T H_f^-1 w),  g = 1 / (1 + b), f = (0, g) for A_-, (g, 1) for A_+
 *
 * For an even number of slices the spectra of both are within det B(m) / det B(heavy) [1, heavy / m], with det B = b5^Ls +
 * m c5^Ls: this is what remains of 4-D operators (1 + m) / 2 + gamma5 (1 - m) / 2 eps with |eps| <= 1. */
#ifndef PLAQ_EOFA_H
#define PLAQ_EOFA_H

#include "operators/mobius.h"

typedef struct eofa eofa;

/* Links are borrowed, in double precision, and s->map, of which it takes a share, may smear and twist them; 0 < s->mass <
 * heavy. */
eofa *eofa_create(const field *links, const mobius_settings *s, double heavy);
void eofa_destroy(eofa *e);

/* Bounds of the spectra of A_+ and A_-, for any links. */
void eofa_bounds(const eofa *e, double *low, double *high);

/* Chiralities: 0 is that of A_+, the upper spins, 1 that of A_-. The factor of w^T H^-1 w in A; and the quark D_W + N of
 * H_f with g = 1 / (1 + b) for the inverse of A + b, where g = 0 is that for A itself. New. */
double eofa_factor(const eofa *e, int chirality);
fermion *eofa_quark(const eofa *e, int chirality, double g);
/* Source for that quark, gamma5 R w phi; and y += factor w^T x of its solution x = H_f^-1 w phi, which leaves y's other
 * chirality as it is. phi and y are four-dimensional, on both parities; one chirality of them counts. */
void eofa_enter(const eofa *e, int chirality, field *source, const field *phi);
void eofa_leave(const eofa *e, int chirality, field *y, double factor, const field *x);
/* force += that of phi^dagger A phi, from the solution for A itself. */
void eofa_add_force(const eofa *e, int chirality, field *force, const field *x);

#endif
