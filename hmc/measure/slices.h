/* Sums over time slices of products of two vectors, for correlators of real numbers at zero momentum or with signs. They are
 * made where the fields are, with the same bits on any grid and place (kernels/ops/contract.h). */
#ifndef PLAQ_SLICES_H
#define PLAQ_SLICES_H

#include "kernels/field/field.h"
#include "kernels/lattice/exact.h"

typedef struct {
    const lattice *lat;
    int channels;
    exact_sum *sums; /* [channel][global time] */
} slices;

void slices_open(slices *s, const lattice *lat, int channels);
void slices_close(slices *s);
/* Channel first + i += sum over the sites of each slice of (-1)^(sum of the coordinates whose bits, 1 x to 8 t, are in
 * odd[i]) Re y^dagger x, of all slices of a fifth dimension, for i < n. Both are in double precision and hold both parities. */
void slices_add(slices *s, int first, int n, const int *odd, const field *x, const field *y);
/* Sums over all ranks, once, when all is added. Collective. */
void slices_sum(slices *s);
/* Value of a channel, t after the time of the source. */
double slices_value(const slices *s, int channel, int source_time, int t);

/* Energy and charge of a time slice, summed over its sites (operators/flow.h). */
typedef struct {
    double temporal, spatial; /* -tr F F of the clover field strength in temporal and in spatial planes */
    double plaquette;         /* 2 sum of 3 - Re tr: plaquettes in space, and half of those in time on either side */
    double charge;
} slice_energy;

/* Energies of all N_t slices. On lattices bounded in time the field strength is zero on the end slices, and plaquettes in space there
 * count half (M. Luescher and S. Schaefer, arXiv:1206.2809). The tensor is to work in. Collective. */
void slices_energy(slice_energy *of, const field *links, field *tensor);

#endif
