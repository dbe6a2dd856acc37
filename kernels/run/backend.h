/* Functions by which kernels run, which kernels/cpu/ and kernels/gpu/ have. A build without CUDA has kernels/gpu/none.c, whose
 * calls are internal errors. */
#ifndef PLAQ_BACKEND_H
#define PLAQ_BACKEND_H

#include "kernels/run/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*cpu_runner)(const void *args, const int *list, long n, exact_sum *sums);

/* The runner for a layout of so many lanes, or null when the kernel does not come in this precision. */
cpu_runner cpu_find(kernel_id id, precision prec, int lanes);

/* Starts a kernel; false when it does not come in the precision of `like`. work->list is on the device. gpu_finish()
 * waits for it; gpu_add_sums() for a kernel that sums, by the ticket that was left, and adds what it found: at once, or where
 * work->ticket is set any time, but once. */
int gpu_run(kernel_id id, const field *like, const void *args, const kernel_work *work, sum_ticket *ticket);
void gpu_add_sums(kernel_id id, sum_ticket ticket, int n, exact_sum *sums);
/* n values that a kernel has rounded; waits for them. */
void gpu_take_values(kernel_id id, sum_ticket ticket, int n, double *values);
/* Value, on the device, of the sum of a ticket, for kernels behind it. */
const double *gpu_sum_value(sum_ticket ticket);

/* The time of a sample of kernels: what the one between start and stop takes among others, collected into `of` without
 * waiting now; `weight` is added beside it. */
typedef struct {
    double seconds, weight;
} gpu_clock;
int gpu_clock_start(int aside);
void gpu_clock_stop(int started, int aside, double weight, gpu_clock *of);
/* Waits for what was stopped, and brings all clocks up to date. */
void gpu_clock_collect(void);

#ifdef __cplusplus
}
#endif
#endif
