#include "hmc/bench/timing.h"

#include "hmc/bench/times.h"
#include "kernels/base/device.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/kernel.h"

#define MAX_BATCHES 65536
#define BATCH_SECONDS 2e-3 /* batches so short that other load on the machine leaves some undisturbed */

static double batch(bench *b, const bench_op *o, long calls)
{
    comm_barrier();
    const double start = comm_wtime();
    for (long i = 0; i < calls; i++) o->run(b);
    if (b->where == PLACE_DEVICE) gpu_finish();
    double took = comm_wtime() - start;
    comm_max(&took, 1);
    return took;
}

/* Seconds, flops and bytes of the kernels that are measured since the counters were reset, this rank. */
static double counted(double *flops, double *bytes)
{
    double seconds = 0;
    *flops = *bytes = 0;
    for (int k = 0; k < KERNEL_COUNTED; k++)
        for (int p = 0; p < PREC_COUNT && !bench_is_packing(k); p++) {
            const kernel_count c = kernel_counted(k, p);
            *flops += c.flops;
            *bytes += c.bytes;
            seconds += c.seconds;
        }
    return seconds;
}

bench_timing bench_time(bench *b, const bench_op *o, double seconds)
{
    static double times[MAX_BATCHES];
    batch(b, o, 1); /* builds what is built on first use */
    kernel_counts_reset();
    long calls = 1;
    double took = batch(b, o, 1);
    bench_timing t = {0};
    const double inside = counted(&t.flops, &t.bytes);
    t.rank_bytes = t.bytes;
    uint64_t sums[2] = {(uint64_t)t.flops, (uint64_t)t.bytes};
    comm_sum_u64(sums, 2);
    t.flops = (double)sums[0];
    t.bytes = (double)sums[1];
    if (seconds <= 0) {
        t.best = t.median = took;
        t.inside = inside > 0 ? inside : took;
        return t;
    }
    while (took < BATCH_SECONDS) {
        calls *= 2;
        took = batch(b, o, calls);
    }
    int n = 0;
    double spent = 0;
    kernel_counts_reset();
    for (; n < MAX_BATCHES && (spent < seconds || n < 5); n++) {
        took = batch(b, o, calls);
        times[n] = took / (double)calls;
        spent += took;
    }
    best_and_median(times, n, &t.best, &t.median);
    double flops, bytes;
    t.inside = t.best * counted(&flops, &bytes) / spent;
    return t;
}
