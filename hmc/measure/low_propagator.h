/* Low part of propagators, and low-mode averaging of mesons (T. DeGrand and S. Schaefer, hep-lat/0401011; L. Giusti et al.,
 * hep-lat/0402002).
 *
 * The low part of a propagator is what eigenpairs v_k, lambda_k of the even-odd normal operator say of it, between the
 * orthonormal vectors f_l of low_modes.h:
 *
 *   S_L(x, y) = sum_l a_l(x) f_l(y)^dagger,   a_l = sum_k w_k (v_k, b_l) / lambda_k,
 *
 * with the right-hand side b_l of the normal system for the source f_l, and the solution w_k that is reconstructed from v_k
 * without a source: the start of a deflated solve. It is known between all sites, and takes no solve. Where both propagators
 * of a meson are low parts, its correlator
 * is averaged over all positions y of the source, and the rest is left to the source at x_0:
 *
 *   C(t) = C(t; x_0) - C_LL(t; x_0) + (1/V) sum_y C_LL(t; y).
 *
 * The last two terms have the same mean over gauge fields, and over x_0, whatever the quality of the eigenvectors: there is no bias.
 * On lattices bounded in time the average is over the sites of the source's time slice alone. Smearing of the source, which is
 * Hermitian, is applied to f_l, and that of the sink to a_l. All functions are collective. */
#ifndef PLAQ_LOW_PROPAGATOR_H
#define PLAQ_LOW_PROPAGATOR_H

#include "hmc/measure/contraction.h"
#include "hmc/measure/propagator.h"

/* Puts the average in place of the low part, in the sums of the contraction of two propagators of the measurement, which may
 * be one; c->propagators is open. MEASURE_DONE or _GIVEN_UP. */
int low_average(contraction *to, const measure_context *c, const measure_params *m, const propagator *const pair[2]);
/* The name of the propagator that low modes do not serve, with a message; or null. */
const char *low_average_refused(const parameters *p, const named_measure *m, char *message, size_t size);

#endif
