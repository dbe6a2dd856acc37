/* Gauge transformations, and the steps of gauge fixing (kernels/site/fixing.h has the formulas).
 *
 * Fields are in double precision and hold both parities, on one lattice and in one place; a transformation g is a
 * FIELD_COLOUR_MATRIX. Directions are the first ones, x y z t: three for Coulomb gauge, four for Landau gauge. Sums are
 * exact and over all ranks. All functions are collective. */
#ifndef PLAQ_OPS_FIXING_H
#define PLAQ_OPS_FIXING_H

#include "kernels/field/field.h"

typedef struct {
    double functional; /* Re tr / 3 of the links of these directions after g, averaged */
    double theta; /* sum_x tr Delta Delta^dagger / (3 V): the gradient, Delta of antihermitian parts without trace */
} gauge_gradient;

#ifdef __cplusplus
extern "C" {
#endif

/* out = g(x) links g(x+mu)^dagger; out may be `links`. */
void gauge_rotate(field *out, const field *links, const field *g);
/* g over-relaxed on even, then on odd sites; 0 < over_relaxation < 2, where 1 takes the maximum of each subgroup. */
void gauge_relax(field *g, const field *links, int directions, double over_relaxation);
/* Functional and gradient of the links after g. */
gauge_gradient gauge_gradient_of(const field *g, const field *links, int directions);

#ifdef __cplusplus
}
#endif
#endif
