/* How long an operation of plaq bench takes, and what the kernels inside it count. */
#ifndef PLAQ_BENCH_TIMING_H
#define PLAQ_BENCH_TIMING_H

#include "hmc/bench/ops.h"

typedef struct {
    double best, median; /* seconds of a call */
    double flops, bytes; /* counts of a call, all ranks */
    double rank_bytes;   /* bytes of a call, this rank */
    double inside;       /* seconds within kernels of a call as good as the best */
} bench_timing;

/* Batches of calls for about so many seconds, five at least; with 0 seconds one call. One more comes first, which builds
 * what is built on first use. Resets the counters of kernels. Collective. */
bench_timing bench_time(bench *b, const bench_op *o, double seconds);

#endif
