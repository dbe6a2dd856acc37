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

void kernel_run(kernel_id id, const field *like, const void *args, kernel_work work)
{
    const kernel_info *info = &kernel_infos[id];
    DEBUG_ASSERT(info->sums == 0 || work.sums, "kernel %s without a place for its sums", info->name);
    if (work.n == 0) return;
    watchdog_note(info->name);
    const double start = comm_wtime();
    if (like->where == PLACE_DEVICE) {
        const int known = gpu_run(id, like->prec, args, &work);
        REQUIRE(known, "kernel %s on the device in precision %d", info->name, like->prec);
    } else {
        const cpu_runner run = cpu_find(id, like->prec, like->lay->lanes > 1);
        REQUIRE(run, "kernel %s in precision %d", info->name, like->prec);
        run(args, work.list, work.n, work.sums);
    }
    const double sites = (double)work.n * like->lay->lanes;
    kernel_count *c = &counts[id][like->prec];
    c->calls++;
    c->seconds += comm_wtime() - start;
    c->flops += work.flops > 0 ? work.flops : sites * info->flops;
    c->bytes += work.bytes > 0 ? work.bytes : sites * (info->reads + info->writes) * (double)field_real_bytes(like);
}

kernel_count kernel_counted(kernel_id id, precision prec)
{
    return counts[id][prec];
}

void kernel_counts_reset(void)
{
    memset(counts, 0, sizeof counts);
}
