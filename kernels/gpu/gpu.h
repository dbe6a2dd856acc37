/* The GPU backend: functions that its own files and tests call beside those of the headers below, by which the rest of the
 * program knows it. A build without CUDA links none.c in place of gpu.cu: no devices, and every other call is an internal
 * error. */
#ifndef PLAQ_GPU_H
#define PLAQ_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/device.h"
#include "kernels/field/stored_device.h"
#include "kernels/gpu/fault.h"
#include "kernels/run/backend.h"
#include "kernels/run/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes device number `index` for this process and installs its memory in the pool. */
void gpu_open(int index);
/* How many shapes of blocks the tuner tries. */
int gpu_shape_count(void);
/* gpu_copy() on the side stream (kernels/run/messages.h), without waiting for it: memory of the host stays untouched
 * until gpu_finish(). */
void gpu_copy_aside(void *to, place to_place, const void *from, place from_place, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
