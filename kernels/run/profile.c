#include "kernels/run/profile.h"

#include "kernels/base/watchdog.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/backend.h"

#define DOUBLE 1
#define ROWS 2
#define ALL PREC_COUNT
#define KERNEL_DEVICE_BITS(name)
const kernel_info kernel_infos[KERNEL_COUNTED] = {
#define KERNEL(name, precisions, flops, reads, writes, registers) {#name, 0, precisions, flops, reads, writes},
#define KERNEL_SUM(name, sums, precisions, flops, reads, writes, registers)                                            \
    {#name, sums, precisions, flops, reads, writes},
#include "kernels/family/families.def"
#undef KERNEL
#undef KERNEL_SUM
    [KERNEL_convert] = {.name = "convert", .precisions = ALL},
};
#undef DOUBLE
#undef ROWS
#undef ALL
#undef KERNEL_DEVICE_BITS

#define KERNEL(...)
#define KERNEL_SUM(name, sums, ...) _Static_assert((sums) <= KERNEL_MAX_SUMS, "sums of " #name);
#define KERNEL_DEVICE_BITS(name)
#include "kernels/family/families.def"
#undef KERNEL_SUM
#undef KERNEL_DEVICE_BITS

int kernel_has_device_bits(kernel_id id)
{
#define KERNEL_SUM(...)
#define KERNEL_DEVICE_BITS(name) [KERNEL_##name] = 1,
    static const char device_bits[KERNEL_COUNTED] = {
#include "kernels/family/families.def"
        [KERNEL_convert] = 0};
    return device_bits[id];
}

typedef struct {
    kernel_count count; /* seconds: of calls on the host */
    long device_calls;
    double device_bytes; /* theirs */
    gpu_clock clock;     /* sample of device calls that is timed, weighted by bytes */
    long started;        /* device calls in all; the first loads the kernel, and is not timed */
} tally;
static tally tallies[KERNEL_COUNTED][PREC_COUNT];
static int paused;  /* pauses that one is within */
static long pauses; /* begun so far */

/* The sample. Kernels come in cycles, whose length the interval must have nothing in common with. */
#define TIMED_AT_FIRST 8
#define TIMED_EVERY 61

kernel_timing kernel_timing_start(kernel_id id, precision prec, int on_device, int aside)
{
    tally *t = &tallies[id][prec];
    kernel_timing now = {.id = id, .prec = prec, .on_device = on_device, .aside = aside, .watch = -1};
    watchdog_note(kernel_infos[id].name);
    now.pauses = pauses;
    if (paused) return now;
    if (!now.on_device) now.start = comm_wtime();
    else if (t->started++ > 0 && (t->device_calls < TIMED_AT_FIRST || t->device_calls % TIMED_EVERY == 0))
        now.watch = gpu_clock_start(aside);
    return now;
}

void kernel_timing_stop(const kernel_timing *now, double flops, double bytes)
{
    tally *t = &tallies[now->id][now->prec];
    if (paused) return;
    if (now->watch >= 0 && now->pauses == pauses) gpu_clock_stop(now->watch, now->aside, bytes, &t->clock);
    if (now->on_device) {
        t->device_calls++;
        t->device_bytes += bytes;
    } else {
        t->count.seconds += comm_wtime() - now->start;
    }
    t->count.calls++;
    t->count.flops += flops;
    t->count.bytes += bytes;
}

kernel_count kernel_counted(kernel_id id, precision prec)
{
    gpu_clock_collect();
    const tally *t = &tallies[id][prec];
    kernel_count c = t->count;
    if (t->clock.weight > 0) c.seconds += t->clock.seconds * t->device_bytes / t->clock.weight;
    return c;
}

void kernel_counts_pause(int pause)
{
    pauses += pause;
    paused += pause ? 1 : -1;
}

void kernel_counts_reset(void)
{
    gpu_clock_collect();
    for (int k = 0; k < KERNEL_COUNTED; k++)
        for (int p = 0; p < PREC_COUNT; p++) {
            const long started = tallies[k][p].started;
            tallies[k][p] = (tally){.started = started};
        }
}
