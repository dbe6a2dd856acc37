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

/* One level of a smearing that makes several fields of links: output j is made of thin links and of the staples staples[j]
 * of the input fields. Where an input field of links is in staples of links of its direction (across) and of the other
 * direction of a plane (side), the staples' other links have to be of one field. */
typedef struct {
    int outputs, inputs;
    smear_staples staples[SMEAR_FIELDS];
} smear_level;

/* The level with the thin links themselves as its input, and one output. */
smear_level smear_level_thin(const stout_weights *w);

/* out[j] = exp(P(C U^dagger)) U of thin links U and the sum C of the weighted staples j (kernels/site/stout.h); out[j] is
 * no input, and not `thin`. Links without staples are thin ones. */
void smear_exponential(field *const *out, const field *thin, const field *const *in, const smear_level *l);
/* The same with the matrix of SU(3) that is nearest to own U + C: the one with the largest Re tr with it
 * (kernels/site/special.h). */
void smear_project(field *const *out, const field *thin, const field *const *in, const smear_level *l, double own);
/* Takes forces back through smear_exponential(): of_out[j], forces of the outputs, become what of them is of thin links,
 * and are added to of_thin, unless they are of_thin; the forces of in[i] are added to of_in[i]. of_in[i] may be of_thin,
 * which the thin links as an input ask for, but no of_out[j] other than that. */
void smear_exponential_back(field *of_thin, field *const *of_out, field *const *of_in, const field *thin,
                            const field *const *in, const smear_level *l);

#ifdef __cplusplus
}
#endif
#endif
