/* The CUDA backend: one device a process. All work and all copies go through the main stream, so that calls happen in
 * the order in which they are made, and memory of the pool can be given back while kernels still use it; only the
 * messages of an exchange go through the side stream, between its begin and its finish. */
#include "kernels/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/pool.h"
#include "kernels/base/watchdog.h"
#include "kernels/gpu/shape.cuh"
#include "kernels/gpu/transport.cuh"
#include "kernels/lattice/comm.h"
#include "kernels/run/tune.h"

static gpu_device device;
/* Sums on their way have places of their own in front of those that are waited for at once: their numbers, or 0. */
static sum_ticket on_way[SUMS_ON_WAY];
static int is_open;
static void (*after_wait)(void);

#define FILL_THREADS 256

static __global__ void fill(uint32_t *p, uint32_t word, size_t n)
{
    const size_t i = (size_t)blockIdx.x * FILL_THREADS + threadIdx.x;
    if (i < n) p[i] = word;
}

/* ---- the device ---- */

int gpu_built_in(void)
{
    return 1;
}

/* No driver or no device is an answer, not an error. */
static cudaError_t count_devices(int *n)
{
    *n = 0;
    const cudaError_t status = cudaGetDeviceCount(n);
    cudaGetLastError();
    if (status != cudaSuccess) *n = 0;
    return status;
}

int gpu_count(void)
{
    int n;
    count_devices(&n);
    return n;
}

void gpu_why_none(char *message, size_t size)
{
    int n;
    const cudaError_t status = count_devices(&n);
    snprintf(message, size, "rank %d finds no GPU that it can use (%s; see what nvidia-smi says there)", comm_rank(),
             cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status));
}

void gpu_enter_wait(const char *what)
{
    if (transport_kernels_wait()) watchdog_enter(what);
    else watchdog_enter_own(what);
}

/* The driver waits for what kernels still do with memory that is given back. */
static void *device_allocate(size_t bytes)
{
    void *p = NULL;
    gpu_enter_wait("memory of the GPU");
    const cudaError_t status = cudaMalloc(&p, bytes);
    watchdog_leave();
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return NULL;
    }
    CUDA(status);
    return p;
}

static void device_release(void *p)
{
    gpu_enter_wait("memory of the GPU");
    CUDA(cudaFree(p));
    watchdog_leave();
}

static size_t beside_pool, beside_pool_peak;

void *gpu_allocate(size_t bytes)
{
    void *p = device_allocate(bytes);
    if (!p) {
        pool_trim(PLACE_DEVICE);
        p = device_allocate(bytes);
    }
    if (!p) gpu_exhausted(bytes, pool_in_use(PLACE_DEVICE));
    beside_pool += bytes;
    if (beside_pool > beside_pool_peak) beside_pool_peak = beside_pool;
    return p;
}

void gpu_release(void *p, size_t bytes)
{
    device_release(p);
    beside_pool -= bytes;
}

size_t gpu_beside_pool_peak(void)
{
    return beside_pool_peak;
}

double gpu_memory(void)
{
    size_t available, total;
    if (!is_open) return 0;
    CUDA(cudaMemGetInfo(&available, &total));
    return (double)total;
}

static size_t context_bytes;

size_t gpu_context_bytes(void)
{
    return context_bytes;
}

/* Totals that are empty. */
static void open_totals(void)
{
    const size_t bytes = KERNEL_MAX_SUMS * sizeof(gpu_grand_total);
    gpu_grand_total *empty = (gpu_grand_total *)calloc(1, bytes);
    REQUIRE_MEMORY(empty, "out of memory for %d sums", KERNEL_MAX_SUMS);
    for (int k = 0; k < KERNEL_MAX_SUMS; k++) empty[k].bin = EXACT_BIN_MIN;
    CUDA(cudaMalloc(&device.totals, bytes));
    CUDA(cudaMalloc(&device.closed, KERNEL_MAX_SUMS * sizeof *device.closed));
    CUDA(cudaMemcpy(device.totals, empty, bytes, cudaMemcpyHostToDevice));
    free(empty);
}

void gpu_open(int index)
{
    REQUIRE(!is_open, "device %d after another one", index);
    REQUIRE(index >= 0 && index < gpu_count(), "device %d of %d", index, gpu_count());
    int least, greatest;
    CUDA(cudaSetDevice(index));
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaStreamCreateWithPriority(&device.stream, cudaStreamNonBlocking, least));
    CUDA(cudaStreamCreateWithPriority(&device.side, cudaStreamNonBlocking, greatest));
    CUDA(cudaEventCreateWithFlags(&device.given, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&device.moved, cudaEventDisableTiming));
    CUDA(cudaDeviceGetAttribute(&device.processors, cudaDevAttrMultiProcessorCount, index));
    /* Kernels wait for the one in front only where they were compiled for such a device, not for an older one, from
     * whose code the driver made theirs. */
    cudaFuncAttributes compiled;
    int major;
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index));
    CUDA(cudaFuncGetAttributes(&compiled, fill));
    device.early = major >= 9 && compiled.ptxVersion >= 90;
    device.way = TUNE_BY_RULE;
    open_totals();
    CUDA(cudaMalloc(&device.ticket, sizeof *device.ticket));
    CUDA(cudaMemsetAsync(device.ticket, 0, sizeof *device.ticket, device.stream));
    CUDA(cudaMalloc(&device.value, (SUMS_ON_WAY + 1) * sizeof *device.value));
    const size_t result_bytes = (SUMS_ON_WAY + KERNEL_MAX_SUMS) * SUM_WORDS * sizeof *device.result;
    CUDA(cudaHostAlloc(&device.result, result_bytes, cudaHostAllocMapped));
    memset(device.result, 0, result_bytes);
    const pool_source source = {device_allocate, device_release, gpu_exhausted};
    pool_install(PLACE_DEVICE, source);
    size_t available, total;
    CUDA(cudaMemGetInfo(&available, &total));
    context_bytes = total - available;
    is_open = 1;
}

const gpu_device *gpu_in_use(void)
{
    REQUIRE(is_open, "no device is open");
    return &device;
}

gpu_identity *gpu_identities(int index)
{
    gpu_identity mine, *all = (gpu_identity *)malloc((size_t)comm_size() * sizeof *all);
    cudaDeviceProp properties;
    REQUIRE_MEMORY(all, "out of memory for the devices of %d ranks", comm_size());
    CUDA(cudaGetDeviceProperties(&properties, index));
    memcpy(mine.uuid, &properties.uuid, sizeof mine.uuid);
    comm_gather_all(&mine, all, sizeof mine);
    return all;
}

int gpu_sharers(int index)
{
    gpu_identity *all = gpu_identities(index);
    int n = 0;
    for (int r = 0; r < comm_size(); r++) n += !memcmp(all[r].uuid, all[comm_rank()].uuid, sizeof all[r].uuid);
    free(all);
    return n;
}

int gpu_bind(int share, char *message, size_t size)
{
    const int count = gpu_count();
    gpu_why_none(message, size);
    if (comm_any_bad(count == 0, message, size)) return 1;
    const int index = comm_node_rank() % count;
    const int sharers = gpu_sharers(index);
    snprintf(
        message, size,
        "%d ranks have one GPU, that of rank %d, whose node has %d rank%s and shows it %d GPU%s: start no more ranks "
        "a node than it has GPUs, or set [machine] share_gpu = yes to let ranks share a GPU (slow; for tests)",
        sharers, comm_rank(), comm_node_size(), comm_node_size() == 1 ? "" : "s", count, count == 1 ? "" : "s");
    if (comm_any_bad(sharers > 1 && !share, message, size)) return 1;
    gpu_open(index);
    return 0;
}

const char *gpu_name(void)
{
    static cudaDeviceProp properties;
    int index;
    if (!is_open) return "none";
    CUDA(cudaGetDevice(&index));
    CUDA(cudaGetDeviceProperties(&properties, index));
    return properties.name;
}

/* ---- waiting ---- */

void gpu_after_wait(void (*check)(void))
{
    after_wait = check;
}

void gpu_wait(cudaStream_t stream, const char *what)
{
    gpu_enter_wait(what);
    CUDA(cudaStreamSynchronize(stream));
    watchdog_leave();
    if (after_wait) after_wait();
}

void gpu_finish(void)
{
    if (!is_open) return;
    gpu_wait(device.side, "messages of the GPU");
    gpu_wait(device.stream, "kernels of the GPU");
}

/* ---- memory ---- */

void gpu_fill(void *p, uint32_t word, size_t bytes)
{
    const size_t n = bytes / sizeof word;
    if (word == 0) {
        CUDA(cudaMemsetAsync(p, 0, bytes, device.stream));
    } else if (n > 0) {
        fill<<<(unsigned)((n + FILL_THREADS - 1) / FILL_THREADS), FILL_THREADS, 0, device.stream>>>((uint32_t *)p, word,
                                                                                                    n);
        CUDA(cudaGetLastError());
    }
}

void gpu_fill_stretches(void *p, size_t step, uint32_t word, size_t bytes, long n)
{
    if (n > 1 && word == 0) {
        CUDA(cudaMemset2DAsync(p, step, 0, bytes, (size_t)n, device.stream));
        return;
    }
    for (long k = 0; k < n; k++) gpu_fill((char *)p + (size_t)k * step, word, bytes);
}

static const cudaMemcpyKind kinds[2][2] = {{cudaMemcpyHostToHost, cudaMemcpyHostToDevice},
                                           {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}};

static void start_copy(void *to, place to_place, const void *from, place from_place, size_t bytes, cudaStream_t stream)
{
    gpu_enter_wait("a copy to or from the GPU"); /* copies return at once only where memory of the host is pinned */
    CUDA(cudaMemcpyAsync(to, from, bytes, kinds[from_place][to_place], stream));
    watchdog_leave();
}

static void finish_copy(place to_place, place from_place)
{
    if (from_place == PLACE_HOST || to_place == PLACE_HOST) gpu_wait(device.stream, "a copy to or from the GPU");
}

void gpu_copy(void *to, place to_place, const void *from, place from_place, size_t bytes)
{
    start_copy(to, to_place, from, from_place, bytes, device.stream);
    finish_copy(to_place, from_place);
}

void gpu_copy_stretches(void *to, place to_place, size_t to_step, const void *from, place from_place, size_t from_step,
                        size_t bytes, long n)
{
    if (n == 1) {
        gpu_copy(to, to_place, from, from_place, bytes);
        return;
    }
    gpu_enter_wait("a copy to or from the GPU");
    CUDA(cudaMemcpy2DAsync(to, to_step, from, from_step, bytes, (size_t)n, kinds[from_place][to_place], device.stream));
    watchdog_leave();
    finish_copy(to_place, from_place);
}

void gpu_copy_aside(void *to, place to_place, const void *from, place from_place, size_t bytes)
{
    start_copy(to, to_place, from, from_place, bytes, device.side);
}

/* ---- kernels ---- */

/* Launchers by kernel and precision, null where a kernel does not come in it; instance.cuh makes them. */
#define FOR_DOUBLE(X, name) X(name, d)
#define FOR_ALL(X, name) X(name, d) X(name, s) X(name, h) X(name, q)
#define FOR_ROWS(X, name) X(name, d) X(name, s)
#define DECLARE(name, suffix)                                                                                          \
    void name##_launch_##suffix##g(const gpu_device *dev, const void *args, const int *list, long n);
#define LAUNCHER(name, suffix) name##_launch_##suffix##g,

#define KERNEL_DEVICE_BITS(name)
#define KERNEL(name, precisions, ...) FOR_##precisions(DECLARE, name)
#define KERNEL_SUM(name, sums, precisions, ...) FOR_##precisions(DECLARE, name)
#include "kernels/family/families.def"
#undef KERNEL
#undef KERNEL_SUM

#define KERNEL(name, precisions, ...) {FOR_##precisions(LAUNCHER, name)},
#define KERNEL_SUM(name, sums, precisions, ...) {FOR_##precisions(LAUNCHER, name)},
static const gpu_launcher launchers[KERNEL_COUNT][PREC_COUNT] = {
#include "kernels/family/families.def"
};

/* Place of the sum with a number, of those on their way. */
static int place_of(sum_ticket number)
{
    return (int)(number % SUMS_ON_WAY);
}

/* Gives the sums of a kernel their number and place. */
static sum_ticket number_sums(gpu_device *on, kernel_id id, int later)
{
    if (++device.number == 0) device.number = 1; /* number 0: words that nobody has written */
    const int place = later ? place_of(device.number) : SUMS_ON_WAY;
    on->number = device.number;
    on->result = device.result + place * (int)SUM_WORDS;
    on->value = device.value + place;
    if (!later) return on->number;
    REQUIRE(!on_way[place], "kernel %s sums before the sum of number %u is fetched", kernel_infos[id].name,
            on_way[place]);
    on_way[place] = on->number;
    return on->number;
}

int gpu_run(kernel_id id, const field *like, const void *args, const kernel_work *work, sum_ticket *ticket)
{
    const gpu_launcher launch = launchers[id][like->prec];
    if (!launch) return 0;
    const int sums = kernel_infos[id].sums;
    gpu_device on = device;
    if (sums > 0) *ticket = number_sums(&on, id, work->ticket != NULL);
    REQUIRE(!work->sum_over_ranks || sums == 1, "%d sums of kernel %s over all ranks", sums, kernel_infos[id].name);
    if (work->sum_over_ranks && comm_group_size(like->lat->group) > 1) {
        device.round++;
        if ((unsigned)device.round == 0) device.round += BOARD_TURNS;
        on.round = device.round;
        on.boards = transport_boards();
        REQUIRE(on.boards, "nothing adds up the sum of kernel %s over all ranks", kernel_infos[id].name);
    }
    if (work->aside) {
        REQUIRE(sums == 0, "kernel %s sums, which the side stream has no room for", kernel_infos[id].name);
        on.stream = device.side;
    }
    if (work->pack) {
        on.pack = work->pack;
        on.fusion = transport_take_fusion();
    }
    on.way = gpu_way(&device, launch, id, like, args, work);
    if (work->n > 0 || sums > 0) launch(&on, args, work->list, work->n); /* nothing sums to zero, for all ranks */
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) gpu_fault(status, kernel_infos[id].name, __FILE__, __LINE__, __func__);
    return 1;
}

#define LOOKS 100000 /* between questions to the driver, which are slow */

/* A word of the result, with the kernel's number. Memory that the kernel writes is watched: it is there sooner than the
 * driver's word that the stream is done. */
static uint32_t await_word(const uint64_t *word, sum_ticket number)
{
    for (long i = 1;; i++) {
        const uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if ((unsigned)(seen >> 32) == number) return (uint32_t)seen;
        if (i % LOOKS) continue;
        const cudaError_t status = cudaStreamQuery(device.stream);
        if (status != cudaErrorNotReady) CUDA(status);
    }
}

static uint32_t words[KERNEL_MAX_SUMS * SUM_WORDS];

/* Waits for n words of the result of the kernel with a number. */
static void take_words(kernel_id id, sum_ticket number, int n)
{
    gpu_enter_wait(kernel_infos[id].name);
    const int place = on_way[place_of(number)] == number ? place_of(number) : SUMS_ON_WAY;
    const uint64_t *result = device.result + place * (int)SUM_WORDS;
    REQUIRE(place < SUMS_ON_WAY || number == device.number, "no sum of number %u", number);
    for (int w = 0; w < n; w++) words[w] = await_word(result + w, number);
    if (place < SUMS_ON_WAY) on_way[place] = 0;
    watchdog_leave();
    if (after_wait) after_wait();
}

const double *gpu_sum_value(sum_ticket ticket)
{
    return device.value + place_of(ticket);
}

void gpu_add_sums(kernel_id id, sum_ticket ticket, int n, exact_sum *sums)
{
    take_words(id, ticket, n * (int)SUM_WORDS);
    for (int k = 0; k < n; k++) {
        exact_sum arrived;
        memcpy(&arrived, words + k * (int)SUM_WORDS, sizeof arrived);
        exact_merge(&sums[k], &arrived);
    }
}

void gpu_take_values(kernel_id id, sum_ticket ticket, int n, double *values)
{
    take_words(id, ticket, n * (int)VALUE_WORDS);
    memcpy(values, words, (size_t)n * sizeof *values);
}
