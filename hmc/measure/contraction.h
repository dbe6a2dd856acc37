/* Contractions of two propagators over colours, for every pair of their spins, by time slice and momentum:
 *
 *   T(p, t)[b][b'][a][a'] = sum_x exp(-i p.(x - x_0)) sum_(c d) conj(A(x)_(a c; b d)) B(x)_(a' c; b' d)
 *
 * with spins a, a' and colour c of the sink, b, b' and d of the source. All mesons of the two quarks, with any gamma matrices
 * at both ends, are sums of these numbers. They are made where the fields are, with the same bits on any grid and place
 * (kernels/ops/contract.h). */
#ifndef PLAQ_CONTRACTION_H
#define PLAQ_CONTRACTION_H

#include "hmc/sources/gamma.h"
#include "hmc/measure/momentum.h"
#include "kernels/ops/contract.h"

enum { COLUMNS_OF_SOURCE = 12 };

typedef struct {
    const lattice *lat;
    const momenta *p;
    int start;            /* time of the source */
    double complex *sums; /* [b, b'][global time][momentum][a, a'] */
} contraction;

/* Sums of the propagators a and b, which may be one: spinor fields of both parities in double precision, with a right-hand
 * side for each column, spin 3 + colour, of the source at x0. Collective. */
void contraction_open(contraction *c, const momenta *p, const field *a, const field *b, const int x0[4]);
void contraction_close(contraction *c);
/* Adds sums of the same momenta, in the order of c->sums, whose source is at time `start`. */
void contraction_add(contraction *c, double weight, const double complex *sums, int start);
/* sum_x exp(-i p.(x - x_0)) tr [gamma_5 A(x)^dagger gamma_5 sink B(x) source] at t after the source, of momentum number i. */
double complex contraction_meson(const contraction *c, const spin_matrix *sink, const spin_matrix *source, int i,
                                 int t);

#endif
