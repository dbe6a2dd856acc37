/* Store of the low parts of quarks on a configuration, and of averages over them, which hmc/measure/low_propagator.c makes. */
#ifndef PLAQ_LOW_STORE_H
#define PLAQ_LOW_STORE_H

#include <complex.h>

#include "hmc/measure/low_modes.h"
#include "hmc/measure/measure.h"

/* The vectors f_l of low modes, and a_l of the same blocks, of a quark and a solver. */
typedef struct {
    const char *quark, *solver;
    low_modes *modes;
    field **solutions;
} low_part;

/* An average: its sums, [pair of spins at the source][t - t_0][momentum][pair at the sink]. */
typedef struct {
    const measure_params *of;
    int start; /* time of the source on a bounded lattice, else 0 */
    double complex *sums;
} low_sums;

typedef struct low_store {
    int nparts, naverages;
    low_part parts[MAX_NAMED];
    low_sums *averages;
} low_store;

/* An empty store: low parts of propagators, and averages, on one configuration, made once at whatever position of the sources. */
low_store *low_store_open(void);
void low_store_close(low_store *s);

#endif
