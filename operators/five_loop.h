/* Energy and topological charge of the gauge field, improved by loops of up to five sizes (P. de Forcrand, M. Garcia Perez and I.
 * Stamatescu, hep-lat/9701012):
 *
 *   Q = sum_i c_i Q(m_i, n_i),   E = sum_i c_i E(m_i, n_i),   (m, n) = (1, 1), (2, 2), (1, 2), (1, 3), (3, 3),
 *
 * Q(m, n) = -eps tr F F / 32 pi^2 and E(m, n) = -tr F F of the field strength F(m, n) = (C - C^dagger) / (8 m n), C the sum of the four
 * leaves of m x n loops around a site, and the mean over m x n and n x m. Errors of a^2 and a^4 go with sum_i c_i (m^2 + n^2), sum_i
 * c_i (m^4 + n^4) and sum_i c_i m^2 n^2, which vanish for
 *
 *   c_1 = (19 - 55 c_5) / 9,  c_2 = (1 - 64 c_5) / 9,  c_3 = (-64 + 640 c_5) / 45,  c_4 = 1/5 - 2 c_5,
 *
 * with c_5 = 1/20 of five loops, and 1/10 of three, where c_3 and c_4 are zero. Collective. */
#ifndef PLAQ_FIVE_LOOP_H
#define PLAQ_FIVE_LOOP_H

#include "kernels/ops/gauge.h"

enum { FIVE_LOOP_SIZES = 5 };

typedef struct {
    int m, n;
    double c;
} loop_size;

/* Sizes with their coefficients, for this c_5. Local. */
void five_loop_sizes(loop_size sizes[FIVE_LOOP_SIZES], double c_5);
/* Field strength F(m, n) of all planes, on lattices that are periodic in time. */
void loop_field_strength(field *tensor, const field *links, int m, int n);
/* The improved sums; of sizes without weight nothing is made. tensor is to work in. */
gauge_energy five_loop_energy(field *tensor, const field *links, double c_5);

#endif
