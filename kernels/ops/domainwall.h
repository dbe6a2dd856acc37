/* Operations of domain wall quarks: spinors with Ls slices of a fifth dimension, on which Wilson's hop acts slice by
 * slice (kernels/ops/wilson.h), and matrices in that dimension. */
#ifndef PLAQ_OPS_DOMAINWALL_H
#define PLAQ_OPS_DOMAINWALL_H

#include "kernels/family/domainwall.h"
#include "kernels/field/field.h"

/* out = factor m in + b add on parity p, of all right-hand sides. in is not out, unless their parities differ; add may be
 * out, and counts where b is not zero. transposed: by the transpose of m. */
void domainwall_fifth(field *out, parity p, double factor, const fifth_matrix *m, int transposed, const field *in,
                      double b, const field *add);
/* factor m, or its transpose. */
fifth_matrix domainwall_scaled(double factor, const fifth_matrix *m, int transposed);
/* Between fields of four dimensions and of five, on both parities: five = the first column of m times four, and four = the
 * first row of m times five. */
void domainwall_enter(field *five, const fifth_matrix *m, const field *four);
void domainwall_leave(field *four, const fifth_matrix *m, const field *five);

#endif
