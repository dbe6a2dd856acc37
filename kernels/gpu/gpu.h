/* The GPU backend as the rest of the kernel layer sees it. A build without CUDA links none.c in place of gpu.cu: no
 * devices, and every other call is an internal error. */
#ifndef PLAQ_GPU_H
#define PLAQ_GPU_H

#include <stddef.h>

#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices that can be used now; 0 on a machine without a GPU. */
int gpu_count(void);
/* Takes device number `index` for this process and installs its memory in the pool. */
void gpu_open(int index);
/* Takes a device for each rank by its place on its node; collective. Ranks that would share a device get it if `share`
 * is set. Returns 0; or non-zero with the same message on all ranks: no GPU, or more ranks on a node than GPUs. */
int gpu_bind(int share, char *message, size_t size);
const char *gpu_name(void);
/* Whether this program was built with CUDA. */
int gpu_built_in(void);

void gpu_zero(void *p, size_t bytes);
void gpu_copy(void *to, place to_place, const void *from, place from_place, size_t bytes);
/* The same on the side stream (kernels/gpu/transport.h), without waiting for it: memory of the host stays untouched
 * until gpu_finish(). */
void gpu_copy_aside(void *to, place to_place, const void *from, place from_place, size_t bytes);
/* Copies `units` sites between linear layouts, converting precision and storage of links. */
void gpu_convert(const stored_field *to, const stored_field *from, long units);

/* Runs a kernel; false when it does not come in this precision. Sums are added into work.sums. Without sums the call
 * returns before the kernel ends; gpu_finish() waits for all work on both streams. work->list lies on the device. */
int gpu_run(kernel_id id, precision prec, const void *args, const kernel_work *work);
void gpu_finish(void);

/* Seconds that the device spent on what was asked of it between the two calls; the second waits for it. */
void gpu_time_begin(void);
double gpu_time_end(void);

#ifdef __cplusplus
}
#endif
#endif
