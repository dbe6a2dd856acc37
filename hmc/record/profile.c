#include "hmc/record/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/tell/text.h"
#include "io/files/file_time.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/exchange.h"
#include "kernels/run/kernel.h"
#include "kernels/run/tune.h"

typedef struct {
    char name[48];
    kernel_count count;
} profile_line;

static int by_time(const void *a, const void *b)
{
    const double x = ((const profile_line *)a)->count.seconds, y = ((const profile_line *)b)->count.seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Lines of all kernels that ran, the longest first; returns their number. */
static int profile_lines(profile_line *lines)
{
    int n = 0;
    for (int k = 0; k < KERNEL_COUNTED; k++)
        for (int p = 0; p < PREC_COUNT; p++) {
            const kernel_count c = kernel_counted((kernel_id)k, (precision)p);
            if (c.calls == 0) continue;
            snprintf(lines[n].name, sizeof lines[n].name, "%s, %s", kernel_infos[k].name, precision_names[p]);
            lines[n++].count = c;
        }
    qsort(lines, (size_t)n, sizeof *lines, by_time);
    return n;
}

profile_span profile_open(void)
{
    kernel_counts_reset();
    exchange_counts_reset();
    return (profile_span){comm_wtime(), tune_spent(), file_time(), field_copied_bytes()};
}

static void print_copies(const profile_totals *t)
{
    char all[32], inside[32];
    const double copied = field_copied_bytes() - t->since.copied;
    text_bytes(copied, all);
    if (t->has_trajectories)
        log_info("  %-24s %10s, in trajectories: %s", "host-device copies", all,
                 text_bytes(t->trajectory_bytes, inside));
    else log_info("  %-24s %10s", "host-device copies", all);
}

/* A line of what is no kernel. */
static void print_share(const char *what, double part, double whole)
{
    log_info("  %-24s %10s %10.3f %9s %9s %6.1f%%", what, "", part, "", "", 100 * part / whole);
}

void profile_print(const profile_totals *t)
{
    profile_line lines[KERNEL_COUNTED * PREC_COUNT];
    const int n = profile_lines(lines);
    const double seconds = comm_wtime() - t->since.begun, tuning = tune_spent() - t->since.tuned,
                 files = file_time() - t->since.filed;
    double in_kernels = 0, calls = 0, halo_bytes, halo_seconds;
    exchange_counted(&halo_bytes, &halo_seconds);
    log_info("%-26s %10s %10s %9s %9s %7s", "profile", "calls", "seconds", "GF/s", "GB/s", "share");
    for (int i = 0; i < n; i++) {
        const kernel_count *c = &lines[i].count;
        const double per = c->seconds > 0 ? 1e-9 / c->seconds : 0;
        in_kernels += c->seconds;
        calls += (double)c->calls;
        log_info("  %-24s %10ld %10.3f %9.2f %9.2f %6.1f%%", lines[i].name, c->calls, c->seconds, c->flops * per,
                 c->bytes * per, 100 * c->seconds / seconds);
    }
    log_info("  %-24s %10s %10.3f %9s %9.2f %6.1f%%", "halos, waiting", "", halo_seconds, "",
             halo_seconds > 0 ? 1e-9 * halo_bytes / halo_seconds : 0, 100 * halo_seconds / seconds);
    print_share("files", files, seconds);
    if (tuning > 0) print_share("tuning", tuning, seconds);
    /* Times of kernels on a GPU are estimates from samples, and may be more than there is. */
    print_share("all else", fmax(0, seconds - in_kernels - halo_seconds - files - tuning), seconds);
    if (t->iterations > 0)
        log_info("  %-24s %10.1f, of %.1f us", "calls an iteration", calls / t->iterations,
                 1e6 * seconds / t->iterations);
    if (t->where == PLACE_DEVICE) print_copies(t);
}
