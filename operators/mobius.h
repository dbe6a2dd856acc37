/* Moebius domain wall quarks (R. Brower, H. Neff and K. Orginos, arXiv:1206.5214).
 *
 * On Ls slices, with D_W = 4 - M5 - D / 2 of Wilson's hop D, and the step S in the fifth dimension
 *
 *   (S psi)_s = P_- psi_(s+1) + P_+ psi_(s-1),  psi_Ls = -m psi_0, psi_(-1) = -m psi_(Ls-1), P_+- = (1 +- gamma5) / 2
 *   M = D_W (b5 + c5 S) + 1 - S = A - D B / 2,  B = b5 + c5 S, A = (4 - M5) B + 1 - S
 *
 * A and B are real matrices in s, one a chirality, and commute. With K = B / A the even-odd system for z = B psi_p is
 *
 *   Mhat z = z - K D_pq K D_qp z / 4 = K (eta_p + D_pq K eta_q / 2),  psi_p = B^-1 z, psi_q = A^-1 (eta_q + D_qp z / 2)
 *
 * With complex coefficients of each slice (zMoebius; T. Blum et al., arXiv:1411.7017, section on it) of numbers omega_s that come with
 * their conjugates,
 *
 *   b_s = ((b5 + c5) / omega_s + b5 - c5) / 2,   c_s = ((b5 + c5) / omega_s - b5 + c5) / 2,
 *
 * B = b + c S with the diagonal matrices b and c; all the rest stands, with adjoints for transposes, (1 - c_s D_W) in the source,
 * the even-odd system of row s of M times |omega_s|^1/2 (else CG takes two to three times as many iterations), and
 * eps(H) = (P - Q) / (P + Q) of the products P and Q over slices of 1 + H / omega_s and 1 - H / omega_s.
 *
 * Four-dimensional fields: a source eta enters as (1 - c5 D_W) (P_+ eta on slice 0, P_- eta on slice Ls - 1), and the
 * quark is P_- psi_0 + P_+ psi_(Ls-1). It is (D_ov^-1 - 1) eta / (1 - m) with the overlap operator D_ov = (1 + m) / 2 +
 * gamma5 (1 - m) / 2 eps(H), eps(H) = tanh(Ls artanh H), H = gamma5 (b5 + c5) D_W / (2 + (b5 - c5) D_W). */
#ifndef PLAQ_MOBIUS_H
#define PLAQ_MOBIUS_H

#include "kernels/ops/domainwall.h"
#include "operators/fermion.h"

typedef struct {
    double mass, M5, b5, c5;
    int Ls;
    parity p;                 /* parity of the even-odd system's vectors */
    field_kind storage;       /* hop links: FIELD_LINKS, or FIELD_LINKS_TWO_ROWS for less traffic, without a twist */
    link_map *map;            /* link map of the hop; null: the links themselves */
    const double (*omega)[2]; /* Ls complex numbers; null: all are 1. Copied. */
} mobius_settings;

/* Physical fields of M have Ls slices; fermion_import() and fermion_export() lead from and to those of four dimensions. Its
 * regulator is the Pauli-Villars field, the same with m = 1. Links are borrowed, in double precision. */
fermion *mobius_fermion(const field *links, const mobius_settings *s);
/* D_W + N instead, with any N and without walls' meaning or regulator; b5, c5 and the mass do not count. It is a quark to
 * be solved for, as EOFA has them (operators/eofa.h). */
fermion *mobius_with(const field *links, const mobius_settings *s, const fifth_matrix *N);

#endif
