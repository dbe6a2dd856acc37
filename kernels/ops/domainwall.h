/* Operations of domain wall quarks: spinors with Ls slices of a fifth dimension, on which Wilson's hop acts slice by
 * slice (kernels/ops/wilson.h), and matrices in that dimension. */
#ifndef PLAQ_OPS_DOMAINWALL_H
#define PLAQ_OPS_DOMAINWALL_H

#include "kernels/family/domainwall.h"
#include "kernels/field/field.h"

/* Matrix of zeros. */
fifth_matrix domainwall_matrix(int Ls, int from);
/* out = factor m in + b add on parity p, of all right-hand sides: fields of the slices that m leads from and to. in is not
 * out, unless their parities differ; add may be out, and counts where b is not zero. transposed: by the transpose of m. */
void domainwall_fifth(field *out, parity p, double factor, const fifth_matrix *m, int transposed, const field *in,
                      double b, const field *add);
/* factor m, or its transpose. */
fifth_matrix domainwall_scaled(double factor, const fifth_matrix *m, int transposed);
/* out = m in, or with the transpose of m, on all parities of the fields. A field of four dimensions has one slice. */
void domainwall_map(field *out, const fifth_matrix *m, int transposed, const field *in);
/* out = gamma_5 in, of the diagonal gamma_5 of kernels/site/spin.h, on spinors of four dimensions. */
void domainwall_gamma_5(field *out, const field *in);

#endif
