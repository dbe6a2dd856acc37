/* Shared parts of the CUDA sources: the device in use, the check of CUDA's answers, and for the launchers of all precisions the
 * exact sum over a grid of threads.
 *
 * Two streams. All fields live on the main one (`stream`): kernels, copies and memory come in the order of the calls.
 * The side stream, of higher priority, carries messages (kernels/run/messages.h): it waits for the main one where an
 * exchange begins, the main one for it where the exchange ends, so that in between both run.
 *
 * Sums: every thread sums its sites, a block its threads by shuffles, blocks add to totals in memory, and the block
 * that comes last leaves the result in memory of the host, and its value for kernels behind it. Adding is exact
 * (kernels/lattice/exact.h), so neither the grid nor the order of the blocks shows in the bits. */
#ifndef PLAQ_GPU_LAUNCH_H
#define PLAQ_GPU_LAUNCH_H

#include <cuda_runtime.h>

#include "kernels/base/error.h"
#include "kernels/gpu/fault.h"
#include "kernels/gpu/signals.cuh"
#include "kernels/lattice/exact.h"

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t cuda_error = (call);                                                                         \
        if (cuda_error != cudaSuccess) gpu_fault(cuda_error, #call, __FILE__, __LINE__, __func__);                     \
    } while (0)

#define WARP 32
#define BLOCK_MAX 128
#define BLOCKS_PER_PROCESSOR 32 /* blocks of a kernel that sums, at most */

/* A sum over the grid in the making: folds by their place, from the last of the lowest bin up. */
#define LOWEST_FOLD (EXACT_BIN_MIN - 2)
#define FOLDS (EXACT_BIN_MAX - LOWEST_FOLD + 1)
typedef struct {
    unsigned long long fold[FOLDS];
    int bin, broken;
} gpu_grand_total;

/* Results of sums travel as words of 64 bits: 32 of an exact_sum, below the number of the sum. Each tells for itself
 * that it is there, so that the kernel does not wait for one to arrive before it sends another. */
#define SUM_WORDS (sizeof(exact_sum) / sizeof(uint32_t))
/* Words of a value that a kernel has rounded. */
#define VALUE_WORDS (sizeof(double) / sizeof(uint32_t))
#define FEW_SUMS WARP /* sums that pass through shared memory on their way to the result */

/* Boards for sums of kernels over ranks, by words of the same form: each rank has a board, in memory that all map, where every
 * rank leaves its words, at places that two sums in a row take in turn. A rank that is done with the second has read all of the
 * first. */
#define BOARD_RANKS WARP
#define BOARD_TURNS 2
#define BOARD_WORDS (BOARD_TURNS * BOARD_RANKS * SUM_WORDS)

typedef struct gpu_boards {
    int ranks, me;
    uint64_t *of[BOARD_RANKS]; /* [turn][rank that writes][SUM_WORDS] */
    gpu_stall stall;
} gpu_boards;

typedef struct {
    int processors;
    cudaStream_t stream; /* stream of kernels; in the copy that gpu_run() hands to a launcher maybe the side stream */
    cudaStream_t side;
    cudaEvent_t given, moved; /* the two places where a stream waits for the other */
    gpu_grand_total *totals;  /* device memory: [KERNEL_MAX_SUMS], empty between kernels */
    exact_sum *closed;        /* device memory: [KERNEL_MAX_SUMS], more than FEW_SUMS on their way to the result */
    unsigned *ticket;         /* device memory: blocks that are done, zero between kernels */
    uint64_t *result;         /* [sums][SUM_WORDS] on the host, written by the device */
    double *value;            /* device memory: the first sum of the kernel */
    const gpu_boards *boards; /* device memory: a kernel with one sum adds up those of all ranks; or null */
    unsigned long long round; /* number of the sum over boards; its lower half is not zero */
    unsigned number;          /* number of the sum that a kernel makes */
    int early;                /* kernels may be brought to the processors before the one in front of them ends */
    int way;                  /* the shape of blocks: a line of tile.cuh's table, or below zero by rule */
    const void *pack;         /* arguments of what a hop packs first, or null */
    const gpu_fusion *fusion; /* exchange of that hop */
} gpu_device;

/* The device of gpu_open(); an error without one. */
const gpu_device *gpu_in_use(void);
static inline cudaStream_t gpu_main_stream(void)
{
    return gpu_in_use()->stream;
}

/* Stops the run as gpu_fault() does, for memory of the device that is not left, with what is free and what fields use.
 */
void gpu_exhausted(size_t bytes, size_t in_use);

/* Memory beside the pool, for messages; never null. It is given back with its bytes. */
void *gpu_allocate(size_t bytes);
void gpu_release(void *p, size_t bytes);

/* The watchdog's eyes are on a call that waits for the GPU, until watchdog_leave(): for others' sake, if kernels of the
 * transport in use wait for those of other ranks. */
void gpu_enter_wait(const char *what);
/* The host waits for a stream, under the watchdog's eyes; `what` says for what. */
void gpu_wait(cudaStream_t stream, const char *what);
/* Sets what every gpu_wait() does in the end, null for nothing: a transport looks there for what its kernels found. */
void gpu_after_wait(void (*check)(void));

/* Whom a device belongs to: UUIDs tell devices apart that ranks may see under different numbers, or not at all. */
typedef struct {
    char uuid[16];
} gpu_identity;
/* Identities of all ranks' devices, if this rank takes device `index`, in a block to be freed; collective. */
gpu_identity *gpu_identities(int index);
/* Ranks that use the same device as this one, itself included, if it takes device `index`; collective. */
int gpu_sharers(int index);

/* Starts a kernel on dev->stream; the sums of one that sums come in dev->result, in words of dev->number. */
typedef void (*gpu_launcher)(const gpu_device *dev, const void *args, const int *list, long n);

/* Starts a kernel on dev->stream, with so many bytes of shared memory a block beside its own, and so many blocks side by side in x on
 * neighbouring processors, which divide the grid's x. Where the device can, the kernel is brought to the processors while the
 * one in front of it still runs; each kernel therefore calls gpu_begin() before anything else. */
template <typename... Parameters, typename... Given>
static inline void gpu_start_near(const gpu_device *dev, void (*kernel)(Parameters...), dim3 grid, int threads,
                                  int shared, unsigned near, const Given &...given)
{
    cudaLaunchAttribute attributes[2];
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = near;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = grid;
    c.blockDim = dim3((unsigned)threads);
    c.stream = dev->stream;
    c.attrs = near > 1 ? attributes : attributes + 1;
    c.numAttrs = (near > 1) + (dev->early != 0);
    c.dynamicSmemBytes = (size_t)shared;
    /* gpu_run() asks how it went */
    if (shared > 0) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    cudaLaunchKernelEx(&c, kernel, given...);
}

/* Starts a kernel with shared memory beside its own. */
template <typename... Parameters, typename... Given>
static inline void gpu_start_sharing(const gpu_device *dev, void (*kernel)(Parameters...), dim3 grid, int threads,
                                     int shared, const Given &...given)
{
    gpu_start_near(dev, kernel, grid, threads, shared, 1, given...);
}

/* Starts a kernel without shared memory beside its own. */
template <typename... Parameters, typename... Given>
static inline void gpu_start(const gpu_device *dev, void (*kernel)(Parameters...), dim3 grid, int threads,
                             const Given &...given)
{
    gpu_start_near(dev, kernel, grid, threads, 0, 1, given...);
}

/* Waits for the kernel in front to end and its results to be seen, and lets the next one come. */
static __device__ __forceinline__ void gpu_begin(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Blocks of a kernel that sums: no more than run at once, for a second wave would leave processors idle; one where there
 * is nothing to sum, which leaves zeros. `resident` is the kernel's own, zero at first. */
static inline int gpu_sum_blocks(const gpu_device *dev, const void *kernel, int *resident, int threads, long n)
{
    if (*resident == 0) {
        CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, kernel, threads, 0));
        REQUIRE(*resident >= 1 && *resident <= BLOCKS_PER_PROCESSOR, "%d blocks of %d threads", *resident, threads);
    }
    const long blocks = (n + threads - 1) / threads, most = (long)dev->processors * *resident;
    return (int)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* The sum over a warp, of folds that all have the same bin, in its thread 0. */
static __device__ __forceinline__ void gpu_warp_add(exact_sum *s)
{
    s->broken = __any_sync(0xffffffffu, s->broken);
#pragma unroll 1
    for (int step = WARP / 2; step > 0; step /= 2)
        for (int i = 0; i < 3; i++) s->fold[i] += __shfl_down_sync(0xffffffffu, (long long)s->fold[i], step);
}

/* The sum over a block, in its thread 0; all threads must come. */
static __device__ __forceinline__ exact_sum gpu_block_sum(exact_sum s)
{
    __shared__ exact_sum warps[BLOCK_MAX / WARP];
    __shared__ int highest[BLOCK_MAX / WARP];
    const int warp = (int)threadIdx.x / WARP, nwarp = (int)blockDim.x / WARP;
    const int top = __reduce_max_sync(0xffffffffu, s.bin);
    __syncthreads(); /* the sum before this one has been read */
    if (threadIdx.x % WARP == 0) highest[warp] = top;
    __syncthreads();
    int bin = highest[0];
    for (int w = 1; w < nwarp; w++) bin = highest[w] > bin ? highest[w] : bin;
    exact_raise(&s, bin);
    gpu_warp_add(&s);
    if (threadIdx.x % WARP == 0) warps[warp] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < nwarp; w++) {
            for (int i = 0; i < 3; i++) s.fold[i] += warps[w].fold[i];
            s.broken |= warps[w].broken;
        }
    return s;
}

/* Folds are integers, so each adds up in memory at its own place, whatever the order. */
static __device__ __forceinline__ void gpu_total_add(gpu_grand_total *total, const exact_sum *s)
{
    for (int i = 0; i < 3; i++)
        if (s->fold[i] != 0) atomicAdd(&total->fold[s->bin - i - LOWEST_FOLD], (unsigned long long)s->fold[i]);
    atomicMax(&total->bin, s->bin);
    if (s->broken) atomicOr(&total->broken, 1);
}

/* Sum that the totals hold: of the folds the three of the highest bin, as merging keeps them. */
static __device__ __forceinline__ exact_sum gpu_total(const volatile gpu_grand_total *total)
{
    exact_sum s = exact_zero();
    s.bin = total->bin;
    s.broken = total->broken;
    for (int i = 0; i < 3; i++) s.fold[i] = (int64_t)total->fold[s.bin - i - LOWEST_FOLD];
    return s;
}

static __device__ __forceinline__ uint64_t gpu_sum_word(unsigned number, uint32_t word)
{
    return (uint64_t)number << 32 | word;
}

/* The sum over all ranks of what each of them has, in thread 0; for one warp, whose thread r deals with rank r. A rank
 * that gave up leaves a sum without meaning, and the note of the stall. */
static __device__ __noinline__ exact_sum gpu_sum_over_ranks(const gpu_boards *b, unsigned long long round,
                                                            const exact_sum *mine)
{
    const int r = (int)threadIdx.x, turn = (int)(round % BOARD_TURNS) * BOARD_RANKS;
    exact_sum s = exact_zero();
    if (r < b->ranks) {
        uint32_t words[SUM_WORDS];
        volatile uint64_t *there = b->of[r] + (turn + b->me) * (int)SUM_WORDS;
        const volatile uint64_t *here = b->of[b->me] + (turn + r) * (int)SUM_WORDS;
        const signal_number start = nanoseconds();
        bool waits = true;
        memcpy(words, mine, sizeof words);
        for (int i = 0; i < (int)SUM_WORDS; i++) there[i] = gpu_sum_word((unsigned)round, words[i]);
        for (int i = 0; i < (int)SUM_WORDS; i++) {
            uint64_t seen = here[i];
            while (waits && (unsigned)(seen >> 32) != (unsigned)round) {
                waits = nanoseconds() - start <= b->stall.patience && !*(volatile int *)b->stall.broken;
                if (!waits) give_up(&b->stall, r, STALLED_IN_SUM);
                seen = here[i];
            }
            words[i] = (uint32_t)seen;
        }
        memcpy(&s, words, sizeof s);
    }
    if (!(s.bin >= EXACT_BIN_MIN && s.bin <= EXACT_BIN_MAX)) s = exact_zero(); /* garbage after give_up() */
    exact_raise(&s, __reduce_max_sync(0xffffffffu, s.bin));
    gpu_warp_add(&s);
    return s;
}

/* After a block has added to the totals: the last block to come leaves the n results, and empty totals. */
static __device__ __forceinline__ void gpu_totals_close(int n, const gpu_device *dev)
{
    __shared__ int last;
    __shared__ exact_sum whole, few[FEW_SUMS];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();                                               /* behind the barrier, for all who have added */
        last = atomicInc(dev->ticket, gridDim.x - 1) == gridDim.x - 1; /* the last one sets it back to zero */
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    const bool over_ranks = n == 1 && dev->boards;
    if (over_ranks) {
        if (threadIdx.x < WARP) {
            const exact_sum mine = gpu_total(dev->totals), all = gpu_sum_over_ranks(dev->boards, dev->round, &mine);
            if (threadIdx.x == 0) whole = all;
        }
        __syncthreads();
    }
    exact_sum *const closed = n <= FEW_SUMS ? few : dev->closed;
    for (int k = (int)threadIdx.x; k < n; k += (int)blockDim.x) {
        const exact_sum s = over_ranks ? whole : gpu_total(&dev->totals[k]);
        closed[k] = s;
        if (k == 0) *dev->value = exact_value(&s);
    }
    __syncthreads();
    /* Neighbours write neighbouring words: each store that the bus sees by itself takes a quarter of a microsecond. */
    for (int w = (int)threadIdx.x; w < n * (int)SUM_WORDS; w += (int)blockDim.x)
        *(volatile uint64_t *)&dev->result[w] = gpu_sum_word(dev->number, ((const volatile uint32_t *)closed)[w]);
    __syncthreads();
    for (int k = (int)threadIdx.x; k < n * FOLDS; k += (int)blockDim.x) dev->totals[k / FOLDS].fold[k % FOLDS] = 0;
    for (int k = (int)threadIdx.x; k < n; k += (int)blockDim.x) {
        dev->totals[k].bin = EXACT_BIN_MIN;
        dev->totals[k].broken = 0;
    }
}

/* The sums of all threads of the grid into result[n]. */
static __device__ __forceinline__ void gpu_grid_sum(const exact_sum *mine, int n, const gpu_device *dev)
{
    for (int k = 0; k < n; k++) {
        const exact_sum s = gpu_block_sum(mine[k]);
        if (threadIdx.x == 0) gpu_total_add(&dev->totals[k], &s);
    }
    gpu_totals_close(n, dev);
}

/* Sums of a grid whose every warp has sums of its own, into places first ... first + n - 1 of `all` results. */
static __device__ __forceinline__ void gpu_grid_sum_warps(exact_sum *mine, int n, int first, int all,
                                                          const gpu_device *dev)
{
    for (int k = 0; k < n; k++) {
        exact_raise(&mine[k], __reduce_max_sync(0xffffffffu, mine[k].bin));
        gpu_warp_add(&mine[k]);
        if (threadIdx.x % WARP == 0) gpu_total_add(&dev->totals[first + k], &mine[k]);
    }
    gpu_totals_close(all, dev);
}

#endif
