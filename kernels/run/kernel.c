#include "kernels/run/kernel.h"

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/backend.h"
#include "kernels/run/messages.h"

void kernel_run(kernel_id id, const field *like, const void *args, kernel_work work)
{
    const kernel_info *info = &kernel_infos[id];
    if (like->lat->planned) return;
    DEBUG_ASSERT(info->sums == 0 || work.sums || work.values, "kernel %s without a place for its sums", info->name);
    const int on_device = like->where == PLACE_DEVICE;
    REQUIRE(work.nsums >= 0 && work.nsums <= KERNEL_MAX_SUMS && !(work.nsums && work.ticket), "%d sums of kernel %s",
            work.nsums, info->name);
    REQUIRE(!work.values || (on_device && work.nsums > 0), "values of the sums of kernel %s", info->name);
    REQUIRE(!work.ticket || info->sums == 1, "a ticket for the %d sums of kernel %s", info->sums, info->name);
    sum_ticket ticket = 0;
    const double sites = (double)work.n * like->lay->lanes;
    const double bytes = work.bytes > 0 ? work.bytes : sites * (info->reads + info->writes) * field_traffic(like);
    const double flops = work.flops > 0 ? work.flops : sites * info->flops;
    kernel_timing timing = {0};
    if (work.n > 0) timing = kernel_timing_start(id, like->prec, on_device, work.aside);
    if (on_device) {
        const int known = gpu_run(id, like, args, &work, &ticket);
        REQUIRE(known, "kernel %s on the device in precision %d", info->name, like->prec);
    } else {
        const cpu_runner run = cpu_find(id, like->prec, like->lay->lanes);
        REQUIRE(run, "kernel %s in precision %d", info->name, like->prec);
        run(args, work.list, work.n, work.sums);
    }
    if (work.n > 0) kernel_timing_stop(&timing, flops, bytes);
    if (work.ticket) *work.ticket = ticket;
    else if (work.values) gpu_take_values(id, ticket, work.nsums, work.values);
    else if (on_device && info->sums > 0) gpu_add_sums(id, ticket, work.nsums ? work.nsums : info->sums, work.sums);
}

void kernel_sums(kernel_id id, sum_ticket ticket, exact_sum *sum)
{
    if (ticket) gpu_add_sums(id, ticket, 1, sum);
}

/* Sites whose sum fits into 64 bits a fold, which is all that a kernel adds over ranks (exact.h). */
#define SUM_IN_KERNEL_SITES (1L << 31)

int kernel_can_sum_over_ranks(const field *like)
{
    const comm_group *group = like->lat->group;
    if (like->lat->planned) return 0;
    if (comm_group_size(group) == 1) return 1;
    return like->where == PLACE_DEVICE && group == comm_world() && like->lat->volume <= SUM_IN_KERNEL_SITES &&
           gpu_sums_whole();
}

const double *kernel_sum_value(sum_ticket ticket)
{
    return ticket ? gpu_sum_value(ticket) : NULL;
}
