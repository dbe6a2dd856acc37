/* The conserved vector current of Wilson quarks at the sink of a meson (L. H. Karsten and J. Smit, Nucl. Phys. B183 (1981) 103,
 * sect. 3), on the link from x to x + mu:
 *
 *   V_mu(x) = [conj(psi)(x+mu) (1 + gamma_mu) U_mu(x)^dagger psi(x) - conj(psi)(x) (1 - gamma_mu) U_mu(x) psi(x+mu)] / 2,
 *
 * U the links of the quark's hop, smearing and boundary included. The clover term leaves it as it is. Of two quarks of one
 * mass the backward difference sum_mu [V_mu(x) - V_mu(x-mu)] is zero where no source is, so it needs no renormalisation. Momenta
 * are of the sites x. */
#ifndef PLAQ_CONSERVED_H
#define PLAQ_CONSERVED_H

#include "hmc/measure/contraction.h"

/* (1 - gamma_mu) U_mu(x) chi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dagger chi(x-mu), a new field of all right-hand sides. Collective. */
field *conserved_hop(const field *links, const field *chi, int mu);

/* Contractions of a direction, whose fields are the halves of the current. */
typedef struct {
    int mu;
    contraction before, behind;
} conserved_current;

/* Contractions of propagators as of contraction_open(), in direction mu, on the links of the quark. Collective. */
void conserved_open(conserved_current *v, const momenta *p, const field *links, const field *a, const field *b,
                    const int x0[4], int mu);
void conserved_close(conserved_current *v);
/* sum_x exp(-i p.(x - x_0)) of the current V_mu(x), B from the source to psi and A, by gamma_5 hermiticity, from conj(psi), as
 * contraction_meson() has it for gamma_mu. */
double complex conserved_meson(const conserved_current *v, const spin_matrix *source, int i, int t);

#endif
