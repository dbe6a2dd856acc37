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
const char *gpu_name(void);

void gpu_zero(void *p, size_t bytes);
void gpu_copy(void *to, place to_place, const void *from, place from_place, size_t bytes);
/* A copy on the device of a table on the host, made on first use and kept. */
const void *gpu_table(const void *host, size_t bytes);
/* Drops that copy, if there is one: due before the table's memory on the host is freed or changed. */
void gpu_forget(const void *host);

/* Runs a kernel; false when it does not come in this precision. Sums are added into work.sums. Without sums the call
 * returns before the kernel ends; gpu_finish() waits for all work. work->list is a table as above. */
int gpu_run(kernel_id id, precision prec, const void *args, const kernel_work *work);
void gpu_finish(void);

/* Seconds that the device spent on what was asked of it between the two calls; the second waits for it. */
void gpu_time_begin(void);
double gpu_time_end(void);

#ifdef __cplusplus
}
#endif
#endif
