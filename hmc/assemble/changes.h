/* How the parameters of a run differ from those that its checkpoint was made with. */
#ifndef PLAQ_CHANGES_H
#define PLAQ_CHANGES_H

#include "hmc/assemble/parameters.h"

/* Physics that differs is refused as a user error that names each difference, unless `accept`. Methods that differ
 * (integrator, solvers, form of the operator) are told in the log: the ensemble stays, its bits do not. Collective. */
void changes_judge(const char *checkpoint, const char *before, const parameters *now, int accept);

/* Appends a line "  KEY: BEFORE before, NOW now" for each parameter that acts on the physics, and on the way to compute
 * it (which acts on dH and acceptance; not keys of quarks that are only measured, nor of solvers that no action has), and
 * differs between two dumps. Both texts may be the same one. Returns how many act on the physics. Local. */
int changes_between(const char *before, const char *now, param_text *physics, param_text *methods);

#endif
