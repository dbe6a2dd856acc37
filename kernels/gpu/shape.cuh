/* The tuner's choice of a shape of blocks (tile.cuh), for gpu_run(). */
#ifndef PLAQ_GPU_SHAPE_CUH
#define PLAQ_GPU_SHAPE_CUH

#include "kernels/gpu/launch.cuh"
#include "kernels/run/kernel.h"

/* The shape of a kernel's blocks as the tuner finds it, or TUNE_BY_RULE. Collective. */
int gpu_way(const gpu_device *dev, gpu_launcher launch, kernel_id id, const field *like, const void *args,
            const kernel_work *work);

#endif
