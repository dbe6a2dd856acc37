/* Matrices in the fifth dimension of domain wall quarks, one a chirality, as kernels/ops/domainwall.h applies them. */
#ifndef PLAQ_FIFTH_H
#define PLAQ_FIFTH_H

#include "kernels/ops/domainwall.h"

/* unit + step S with the step of operators/mobius.h for a mass. */
fifth_matrix fifth_step(int Ls, double mass, double unit, double step);
/* Unit and reflection s -> Ls - 1 - s, of each chirality with its factor. */
fifth_matrix fifth_unit(int Ls);
fifth_matrix fifth_reflection(int Ls, double upper, double lower);
/* The inverse; `name` is for the message where there is none. */
fifth_matrix fifth_inverse(const fifth_matrix *m, const char *name);
fifth_matrix fifth_product(const fifth_matrix *a, const fifth_matrix *b);

#endif
