/* The Wilson flow dV/dt = -(dS/dV) V of the plaquette action S (M. Luescher, arXiv:1006.4518), by the third-order Runge-Kutta
 * scheme of its appendix (C.2). With Z_i the slope at W_i times the step:
 *
 *   W_1 = exp(Z_0 / 4) W_0,   W_2 = exp(8/9 Z_1 - 17/36 Z_0) W_1,   V' = exp(3/4 Z_2 - 8/9 Z_1 + 17/36 Z_0) W_2
 *
 * On an anisotropic lattice, a_s = xi a_t, the flow is that of the continuum with times in units of a_s^2: temporal plaquettes
 * weigh xi^2 in S, and slopes of links in time are divided by it (S. Borsanyi et al., arXiv:1205.0781). */
#ifndef PLAQ_FLOW_H
#define PLAQ_FLOW_H

#include "kernels/field/field.h"

/* The scheme is unstable beyond 0.157, where 16 steps (the fastest mode of the flow) are more than 2.51; the fastest mode is
 * 12 + 4 xi^2 with an anisotropy. */
#define FLOW_STEPS "(0,0.15]"
#define FLOW_STEP_HELP                                                                                                 \
    "step of the flow's Runge-Kutta, which is unstable beyond 0.157, where 16 steps (the fastest mode of the flow) "   \
    "are more than 2.51"

#define FLOW_XI_HELP                                                                                                   \
    "anisotropy a_s / a_t of the flow, whose times are in units of a_s^2; steps may be 2.4 / (12 + 4 xi^2) at most"

/* Steps of this size, the last one perhaps shorter, from 0 to a flow time, both in units of a^2. */
long flow_steps(double time, double step);
/* Flow time after step number i of those (0: before the first). */
double flow_time_after(long i, double time, double step);
/* Largest step for this anisotropy. */
double flow_largest_step(double xi);
/* Links after one step, in double precision and of both parities, in place; a and b are momenta fields to work in.
 * Collective. */
void flow_advance(field *links, double step, double xi, field *a, field *b);

#endif
