/* Sources of kind = sequential_current: columns of the conserved vector current (conserved.h) on one time slice, acting on a
 * propagator S,
 *
 *   eta(x + mu) = (1 + gamma_mu) / 2 U_mu(x)^dagger w(x) S(x),   eta(x) -= (1 - gamma_mu) / 2 U_mu(x) w(x) S(x + mu),
 *
 * w(x) = exp(i p.(x - x_0)), for x on the slice, on the links that the quark hops on. Collective. */
#ifndef PLAQ_CURRENT_SOURCE_H
#define PLAQ_CURRENT_SOURCE_H

#include "hmc/measure/columns.h"
#include "hmc/sources/source.h"

/* Columns, a new field like those of `from`; s is of this kind. */
field *current_sources(const measure_context *c, const propagator *from, const source_params *s);

#endif
