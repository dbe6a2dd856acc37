/* The tuner's cache: what kernels/run/tune.h finds out, kept in a file from one run to the next. */
#ifndef PLAQ_TUNING_H
#define PLAQ_TUNING_H

#include "kernels/lattice/lattice.h"
#include "kernels/run/tune.h"

/* Starts the tuner for the kind of GPU of rank 0. Reads the file, unless the mode wants nothing of it; one of another machine
 * is left alone, one that makes no sense is a user error, and TUNE_FILE without it too. Collective. */
void tuning_open(tune_mode mode, const char *path, const char *machine);

/* True if there is a choice of transports: several ranks, and no comm_delay(), whose times would be of no use to other
 * readers of the file. */
int tuning_has_transport(void);
/* Takes, for this lattice on GPUs, the transport that is the fastest for hops and norms; leaves the one that is open
 * where there is no choice, and where nothing is known and nothing may be measured. Between exchanges. Collective. */
void tuning_transport(const lattice *lat);

/* Keeps choices that were or will be measured out of the file. */
void tuning_discard(void);

/* Writes it, when something was measured; a failure is a warning. Without an open one it does nothing. */
void tuning_close(void);

#endif
