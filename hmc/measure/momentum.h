/* Momenta p = 2 pi (n_x / L_x, n_y / L_y, n_z / L_z) of correlators, and their plane waves. Local. */
#ifndef PLAQ_MOMENTUM_H
#define PLAQ_MOMENTUM_H

#include <complex.h>

#include "kernels/lattice/lattice.h"
#include "kernels/ops/contract.h"

enum { MOMENTA_MOST = 1024, MOMENTUM2_MOST = 25 };

typedef struct {
    int n, number[MOMENTA_MOST][3]; /* n_x, n_y, n_z */
    int reach;                      /* the largest of them */
    int size[3];
    double complex *wave[3]; /* exp(-2 pi i k / L) for k < L */
} momenta;

/* Momenta with n_x^2 + n_y^2 + n_z^2 up to most2, at most MOMENTUM2_MOST. */
void momenta_open(momenta *m, const lattice *lat, int most2);
void momenta_close(momenta *m);
/* exp(-i p.x) of momentum number i at global coordinates, which may be differences of such. */
double complex momenta_wave(const momenta *m, int i, const int x[3]);
/* Number of the momentum -p of momentum number i. */
int momenta_opposite(const momenta *m, int i);
/* Waves exp(-i p.(x - x0)) of all momenta in their order, by their factors. Free with momenta_waves_free(). */
slice_waves momenta_waves(const momenta *m, const int x0[3]);
void momenta_waves_free(slice_waves *w);

/* Columns with the numbers of a momentum. */
#define MOMENTUM_COLUMNS                                                                                               \
    {"nx", "", "momentum along x, in units of 2 pi / L_x"}, {"ny", "", "along y"},                                     \
    {                                                                                                                  \
        "nz", "", "along z"                                                                                            \
    }

/* Key of most2 for a table, with the offset of its int. */
#define MOMENTUM2_KEY(at)                                                                                              \
    {                                                                                                                  \
        "momentum2", PARAM_INT, at, "0", "[0,25]", NULL,                                                               \
            "all momenta 2 pi n / L with n_x^2 + n_y^2 + n_z^2 up to this", 0                                          \
    }

#endif
