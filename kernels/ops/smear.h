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

/* Level of a smearing that makes several fields of links: output j is made of thin links and of the staples staples[j] of
 * the input fields. In each plane an input is a side and a link across of at most one output each, and where it is both,
 * the links of the other direction are of one field. The derivative needs that. */
typedef struct {
    int outputs, inputs;
    smear_staples staples[SMEAR_FIELDS];
} smear_level;

/* The level with the thin links themselves as its input, and one output. */
smear_level smear_level_thin(const stout_weights *w);

/* out[j] = exp(P(C U^dagger)) U of thin links U and the sum C of the weighted staples j (kernels/site/stout.h); out[j] is
 * no input, and not `thin`. Links without staples are thin ones. */
void smear_exponential(field *const *out, const field *thin, const field *const *in, const smear_level *l);
/* Projection in place of the exponential: out[j] is the matrix W of SU(3) with the largest Re tr(W^dagger (own U + C))
 * (kernels/site/special.h). */
void smear_project(field *const *out, const field *thin, const field *const *in, const smear_level *l, double own);
/* Takes forces back through smear_exponential(). of_out[j], the force of out[j], becomes its part of the force of thin
 * links, which is added to of_thin; of_out[j] may be of_thin, which then holds that part in place. The force of in[i] is
 * added to of_in[i], which is of_thin where in[i] is `thin`, and no other of_out[j]. */
void smear_exponential_back(field *of_thin, field *const *of_out, field *const *of_in, const field *thin,
                            const field *const *in, const smear_level *l);

#ifdef __cplusplus
}
#endif
#endif
