#include "kernels/kernels.h"

#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/watchdog.h"
#include "kernels/cpu/cpu.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/comm.h"

#define DOUBLE 1
#define ALL PREC_COUNT
const kernel_info kernel_infos[KERNEL_COUNT] = {
#define KERNEL(name, precisions, flops, reads, writes, registers) {#name, 0, precisions, flops, reads, writes},
#define KERNEL_SUM(name, sums, precisions, flops, reads, writes, registers)                                            \
    {#name, sums, precisions, flops, reads, writes},
#include "kernels/kernels.def"
#undef KERNEL
#undef KERNEL_SUM
};
#undef DOUBLE
#undef ALL

static kernel_count counts[KERNEL_COUNT][PREC_COUNT];

/* On the device a sample of calls is timed, weighted by their bytes. Not the first, which loads the kernel. */
static gpu_clock clocks[KERNEL_COUNT][PREC_COUNT];
static long started[KERNEL_COUNT][PREC_COUNT]; /* in all */
#define TIMED_AT_FIRST 8
#define TIMED_EVERY 8

/* A kernel on the device has sums that are not fetched yet. */
static int awaited;

void kernel_run(kernel_id id, const field *like, const void *args, kernel_work work)
{
    const kernel_info *info = &kernel_infos[id];
    DEBUG_ASSERT(info->sums == 0 || work.sums, "kernel %s without a place for its sums", info->name);
    REQUIRE(info->sums == 0 || !awaited, "kernel %s sums before the sums in front of it are fetched", info->name);
    if (work.n == 0) return;
    watchdog_note(info->name);
    kernel_count *c = &counts[id][like->prec];
    const double sites = (double)work.n * like->lay->lanes;
    const double bytes = work.bytes > 0 ? work.bytes : sites * (info->reads + info->writes) * field_traffic(like);
    if (like->where == PLACE_DEVICE) {
        const int timed = started[id][like->prec]++ > 0 && (c->calls < TIMED_AT_FIRST || c->calls % TIMED_EVERY == 0);
        const int watch = timed ? gpu_clock_start(work.aside) : 0;
        const int known = gpu_run(id, like, args, &work);
        REQUIRE(known, "kernel %s on the device in precision %d", info->name, like->prec);
        if (timed) gpu_clock_stop(watch, work.aside, bytes, &clocks[id][like->prec]);
        if (work.later) awaited = 1;
        else if (info->sums > 0) gpu_add_sums(id, work.sums);
    } else {
        const cpu_runner run = cpu_find(id, like->prec, like->lay->lanes > 1);
        REQUIRE(run, "kernel %s in precision %d", info->name, like->prec);
        const double start = comm_wtime();
        run(args, work.list, work.n, work.sums);
        c->seconds += comm_wtime() - start;
    }
    c->calls++;
    c->flops += work.flops > 0 ? work.flops : sites * info->flops;
    c->bytes += bytes;
}

void kernel_sums(kernel_id id, const field *like, exact_sum *sums)
{
    if (like->where == PLACE_HOST) return; /* there they were added when the kernel ran */
    REQUIRE(awaited, "no sums of kernel %s to fetch", kernel_infos[id].name);
    awaited = 0;
    gpu_add_sums(id, sums);
}

kernel_count kernel_counted(kernel_id id, precision prec)
{
    gpu_clock_collect();
    kernel_count c = counts[id][prec];
    const gpu_clock *t = &clocks[id][prec];
    if (t->weight > 0) c.seconds += t->seconds * c.bytes / t->weight;
    return c;
}

void kernel_counts_reset(void)
{
    gpu_clock_collect();
    memset(counts, 0, sizeof counts);
    memset(clocks, 0, sizeof clocks);
}
