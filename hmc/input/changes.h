/* How the parameters of a run differ from those that its checkpoint was made with. */
#ifndef PLAQ_CHANGES_H
#define PLAQ_CHANGES_H

#include "hmc/input/parameters.h"

/* Other physics is refused as a user error that names each difference, unless `accept`. Other ways of computing the
 * same (integrator, solvers, form of the operator) are told in the log: the ensemble stays, its bits do not.
 * Collective. */
void changes_judge(const char *checkpoint, const char *before, const parameters *now, int accept);

/* The lines "key = value" of a dump, or of an identity (hmc/input/identity.h), without keys that the kind of their
 * fermion does not have: earlier versions wrote those, too. Free with param_text_free(). */
param_text changes_own_keys(const char *text);

#endif
