/* plaq bench --op halo: how long messages between ranks take, by size and transport. */
#ifndef PLAQ_BENCH_HALO_H
#define PLAQ_BENCH_HALO_H

#include "kernels/field/field.h"

/* Every rank sends a message to the next and one to the previous rank, as in a lattice that is split in one direction.
 * On GPUs by `transport`, or by all that can be used if it is "auto"; in the end it is the open one again. Prints one
 * line, or one JSON object, a transport and size. Collective. */
void bench_halo(place where, const char *transport, double seconds, int as_json);

/* Network of neighbouring ranks by the transport that is open: microseconds of a small one, and GB/s of both messages
 * of a large one. Of several ranks. Collective. */
void bench_network(place where, double seconds, double *latency, double *bandwidth);

#endif
