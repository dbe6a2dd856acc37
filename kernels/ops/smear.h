/* Operations that smear links, and take forces of smeared links back to those that they are made of.
 *
 * All fields are in double precision, of one lattice and place; links hold both parities and are in SU(3). Forces are
 * momenta fields in the normalisation of gauge.h. All functions are collective. */
#ifndef PLAQ_OPS_SMEAR_H
#define PLAQ_OPS_SMEAR_H

#include "kernels/family/smear.h"
#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = links after one step of stout smearing (hep-lat/0311018, eqs. (1) to (3)); out is not links. */
void smear_stout(field *out, const field *links, const stout_weights *w);
/* Takes a force back in place: that of the smeared links becomes that of `links`, of which they are made by one step with these weights. */
void smear_stout_back(field *force, const field *links, const stout_weights *w);

#ifdef __cplusplus
}
#endif
#endif
