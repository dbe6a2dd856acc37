/* How the parameters of a run differ from those that its checkpoint was made with. */
#ifndef PLAQ_CHANGES_H
#define PLAQ_CHANGES_H

#include "hmc/input/parameters.h"

/* Other physics is refused as a user error that names each difference, unless `accept`. Other ways of computing the
 * same (integrator, solvers, form of the operator) are told in the log: the ensemble stays, its bits do not.
 * Collective. */
void changes_judge(const char *checkpoint, const char *before, const parameters *now, int accept);

#endif
