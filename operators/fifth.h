/* Matrices in the fifth dimension of domain wall quarks, one a chirality, as kernels/ops/domainwall.h applies them, and complex ones made of
 * two of these. */
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

/* re + i im; im is not read unless it is complex. */
typedef struct {
    fifth_matrix re, im;
    int is_complex;
} fifth_complex;

fifth_complex fifth_real(const fifth_matrix *m);
fifth_complex fifth_complex_inverse(const fifth_complex *m, const char *name);
fifth_complex fifth_complex_product(const fifth_complex *a, const fifth_complex *b);
/* out = factor m in + b add on parity p, of domainwall_fifth(), with the adjoint in place of the transpose. */
void fifth_apply(field *out, parity p, double factor, const fifth_complex *m, int adjoint, const field *in, double b,
                 const field *add);

#endif
