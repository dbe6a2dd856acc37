/* The GPU backend as the rest of the kernel layer sees it, with what the rooms above see (kernels/run/device.h). A build
 * without CUDA links none.c in place of gpu.cu: no devices, and every other call is an internal error. */
#ifndef PLAQ_GPU_H
#define PLAQ_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/field/field.h"
#include "kernels/gpu/fault.h"
#include "kernels/lattice/exact.h"
#include "kernels/run/device.h"
#include "kernels/run/profile.h"

struct kernel_work; /* kernels/run/kernel.h */

#ifdef __cplusplus
extern "C" {
#endif

/* Takes device number `index` for this process and installs its memory in the pool. */
void gpu_open(int index);
/* How many shapes of blocks the tuner tries. */
int gpu_shape_count(void);
/* gpu_copy() on the side stream (kernels/gpu/transport.h), without waiting for it: memory of the host stays untouched
 * until gpu_finish(). */
void gpu_copy_aside(void *to, place to_place, const void *from, place from_place, size_t bytes);
/* Copies `units` sites between linear layouts, converting precision and storage of links; or adds them, times the
 * factor, to fields of the same kind. */
void gpu_convert(const stored_field *to, stored_way way, double factor, const stored_field *from, long units);

/* Moves n sites by a list on the device; first_y and first_x are the storage units that the list counts from; where
 * `signs` are set, negative moves turn the sign; `back`: the list is of the moves from y to x. On the side stream if
 * `aside`. */
void gpu_move(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
              long n, int signs, int back, int aside);

/* Starts a kernel; false when it does not come in the precision of `like`. work->list is on the device. gpu_finish()
 * waits for it; gpu_add_sums() for a kernel that sums, and adds what it found. */
int gpu_run(kernel_id id, const field *like, const void *args, const struct kernel_work *work);
void gpu_add_sums(kernel_id id, int n, exact_sum *sums);
/* Value, on the device, of the first sum of the kernel that summed last, for kernels behind it. */
const double *gpu_sum_value(void);

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
