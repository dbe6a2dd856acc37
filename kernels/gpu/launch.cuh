/* What the launchers of all precisions share: the device in use, and the exact sum over a grid of threads.
 *
 * Sums: every thread sums its sites, a block merges its threads by shuffles, and the block that comes last merges those
 * of all blocks and leaves the result in memory of the host. Merging is exact (kernels/lattice/exact.h), so neither the
 * grid nor the order of the blocks shows in the bits. */
#ifndef PLAQ_GPU_LAUNCH_H
#define PLAQ_GPU_LAUNCH_H

#include <cuda_runtime.h>

#include "kernels/base/error.h"
#include "kernels/kernels.h"

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t cuda_error = (call);                                                                         \
        REQUIRE(cuda_error == cudaSuccess, "%s: %s", #call, cudaGetErrorString(cuda_error));                           \
    } while (0)

#define WARP 32
#define BLOCK_MAX 128
#define BLOCKS_PER_PROCESSOR 32 /* at most, of a kernel that sums */

typedef struct {
    int processors;
    cudaStream_t stream;
    exact_sum *partial; /* on the device: [KERNEL_MAX_SUMS] of each block */
    unsigned *ticket;   /* on the device: blocks that are done, zero between kernels */
    exact_sum *result;  /* [KERNEL_MAX_SUMS] on the host, written by the device */
} gpu_device;

/* Starts a kernel on dev->stream; the sums of one that sums are in dev->result once the stream is done. */
typedef void (*gpu_launcher)(const gpu_device *dev, const void *args, const int *list, long n);

/* The launcher, or null when the kernel does not come in this precision. */
gpu_launcher gpu_find_d(kernel_id id);
gpu_launcher gpu_find_s(kernel_id id);
gpu_launcher gpu_find_h(kernel_id id);
gpu_launcher gpu_find_q(kernel_id id);

/* Blocks of a kernel that sums: no more than run at once, for a second wave would leave processors idle. `resident` is
 * the kernel's own, zero at first. */
static inline int gpu_sum_blocks(const gpu_device *dev, const void *kernel, int *resident, int threads, long n)
{
    if (*resident == 0) {
        CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, kernel, threads, 0));
        REQUIRE(*resident >= 1 && *resident <= BLOCKS_PER_PROCESSOR, "%d blocks of %d threads", *resident, threads);
    }
    const long blocks = (n + threads - 1) / threads, most = (long)dev->processors * *resident;
    return (int)(blocks < most ? blocks : most);
}

/* The sum over a block, in its thread 0. */
static __device__ __forceinline__ exact_sum gpu_block_sum(exact_sum s)
{
    __shared__ exact_sum warps[BLOCK_MAX / WARP];
#pragma unroll 1
    for (int step = WARP / 2; step > 0; step /= 2) {
        exact_sum other;
        other.bin = __shfl_down_sync(0xffffffffu, s.bin, step);
        other.broken = __shfl_down_sync(0xffffffffu, s.broken, step);
        for (int i = 0; i < 3; i++) other.fold[i] = __shfl_down_sync(0xffffffffu, (long long)s.fold[i], step);
        exact_merge(&s, &other);
    }
    __syncthreads();
    if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < (int)blockDim.x / WARP; w++) exact_merge(&s, &warps[w]);
    return s;
}

/* The sums of all threads of the grid into result[n]. */
static __device__ void gpu_grid_sum(const exact_sum *mine, int n, exact_sum *partial, unsigned *ticket,
                                    exact_sum *result)
{
    __shared__ int last;
    for (int k = 0; k < n; k++) {
        const exact_sum s = gpu_block_sum(mine[k]);
        if (threadIdx.x == 0) partial[blockIdx.x * KERNEL_MAX_SUMS + k] = s;
    }
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1; /* the last one sets it back to zero */
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    for (int k = 0; k < n; k++) {
        exact_sum s = exact_zero();
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            exact_merge(&s, &partial[b * KERNEL_MAX_SUMS + k]);
        s = gpu_block_sum(s);
        if (threadIdx.x == 0) result[k] = s;
    }
}

#endif
