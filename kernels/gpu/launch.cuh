/* What the CUDA sources share: the device in use, the check of CUDA's answers, and for the launchers of all precisions
 * the exact sum over a grid of threads.
 *
 * Two streams. All fields live on the main one (`stream`): kernels, copies and memory come in the order of the calls.
 * The side stream, of higher priority, carries messages (kernels/gpu/transport.h): it waits for the main one where an
 * exchange begins, the main one for it where the exchange ends, so that in between both run.
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
        if (cuda_error != cudaSuccess) gpu_fault(cuda_error, #call, __FILE__, __LINE__, __func__);                     \
    } while (0)

#define WARP 32
#define BLOCK_MAX 128
#define BLOCKS_PER_PROCESSOR 32 /* at most, of a kernel that sums */

typedef struct {
    int processors;
    cudaStream_t stream; /* of kernels: in the copy that gpu_run() hands to a launcher it may be the side stream */
    cudaStream_t side;
    cudaEvent_t given, moved; /* the two places where a stream waits for the other */
    exact_sum *partial;       /* on the device: [KERNEL_MAX_SUMS] of each block */
    unsigned *ticket;         /* on the device: blocks that are done, zero between kernels */
    exact_sum *result;        /* [KERNEL_MAX_SUMS] on the host, written by the device */
} gpu_device;

/* The device of gpu_open(); an error without one. */
const gpu_device *gpu_in_use(void);
static inline cudaStream_t gpu_main_stream(void)
{
    return gpu_in_use()->stream;
}

/* Stops the run with what happened and what to do (EXIT_DEVICE), or, where only a mistake in the program can be the
 * reason, as REQUIRE does. */
__attribute__((noreturn)) void gpu_fault(cudaError_t error, const char *call, const char *file, int line,
                                         const char *function);
/* The same for memory of the device that is not left, with what is free and what fields use. */
void gpu_exhausted(size_t bytes, size_t in_use);

/* Memory beside the pool, for messages; never null. */
void *gpu_allocate(size_t bytes);

/* The host waits for a stream, under the watchdog's eyes; `what` says for what. */
void gpu_wait(cudaStream_t stream, const char *what);
/* Sets what every gpu_wait() does in the end, null for nothing: a transport looks there for what its kernels found. */
void gpu_after_wait(void (*check)(void));

/* Whom a device belongs to: UUIDs tell devices apart that ranks may see under different numbers, or not at all. */
typedef struct {
    char uuid[16];
    int node;
} gpu_identity;
/* All ranks' identities, if this one takes device `index`, in a block to be freed; collective. */
gpu_identity *gpu_identities(int index);
/* Ranks that use the device of this one, itself included. */
int gpu_sharers(const gpu_identity *all);

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
