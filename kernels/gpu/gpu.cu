/* The CUDA backend: one device a process, one stream. All work and all copies go through that stream, so that calls
 * happen in the order in which they are made, and memory of the pool can be given back while kernels still use it. */
#include "kernels/gpu/gpu.h"

#include <stdlib.h>

#include "kernels/base/pool.h"
#include "kernels/gpu/launch.cuh"

static gpu_device device;
static cudaEvent_t time_begin, time_end;
static int is_open;

/* ---- the device ---- */

int gpu_count(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        cudaGetLastError(); /* no driver or no device is an answer, not an error */
        return 0;
    }
    return n;
}

static void *device_allocate(size_t bytes)
{
    void *p = NULL;
    const cudaError_t status = cudaMalloc(&p, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return NULL;
    }
    CUDA(status);
    return p;
}

static void device_release(void *p)
{
    CUDA(cudaFree(p));
}

void gpu_open(int index)
{
    REQUIRE(!is_open, "device %d after another one", index);
    REQUIRE(index >= 0 && index < gpu_count(), "device %d of %d", index, gpu_count());
    CUDA(cudaSetDevice(index));
    CUDA(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceGetAttribute(&device.processors, cudaDevAttrMultiProcessorCount, index));
    const size_t blocks = (size_t)device.processors * BLOCKS_PER_PROCESSOR;
    CUDA(cudaMalloc(&device.partial, blocks * KERNEL_MAX_SUMS * sizeof *device.partial));
    CUDA(cudaMalloc(&device.ticket, sizeof *device.ticket));
    CUDA(cudaMemsetAsync(device.ticket, 0, sizeof *device.ticket, device.stream));
    CUDA(cudaHostAlloc(&device.result, KERNEL_MAX_SUMS * sizeof *device.result, cudaHostAllocMapped));
    CUDA(cudaEventCreate(&time_begin));
    CUDA(cudaEventCreate(&time_end));
    const pool_source source = {device_allocate, device_release};
    pool_install(PLACE_DEVICE, source);
    is_open = 1;
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

void gpu_finish(void)
{
    if (is_open) CUDA(cudaStreamSynchronize(device.stream));
}

void gpu_time_begin(void)
{
    CUDA(cudaEventRecord(time_begin, device.stream));
}

double gpu_time_end(void)
{
    float milliseconds;
    CUDA(cudaEventRecord(time_end, device.stream));
    CUDA(cudaEventSynchronize(time_end));
    CUDA(cudaEventElapsedTime(&milliseconds, time_begin, time_end));
    return 1e-3 * milliseconds;
}

/* ---- memory ---- */

void gpu_zero(void *p, size_t bytes)
{
    CUDA(cudaMemsetAsync(p, 0, bytes, device.stream));
}

void gpu_copy(void *to, place to_place, const void *from, place from_place, size_t bytes)
{
    static const cudaMemcpyKind kinds[2][2] = {{cudaMemcpyHostToHost, cudaMemcpyHostToDevice},
                                               {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}};
    CUDA(cudaMemcpyAsync(to, from, bytes, kinds[from_place][to_place], device.stream));
    if (from_place == PLACE_HOST || to_place == PLACE_HOST) CUDA(cudaStreamSynchronize(device.stream));
}

typedef struct table_copy {
    const void *host;
    void *copy;
    size_t bytes;
    struct table_copy *next;
} table_copy;

static table_copy *tables;

const void *gpu_table(const void *host, size_t bytes)
{
    for (const table_copy *t = tables; t; t = t->next) {
        if (t->host != host) continue;
        REQUIRE(t->bytes == bytes, "a table of %zu bytes was one of %zu before: gpu_forget() is missing", bytes,
                t->bytes);
        return t->copy;
    }
    table_copy *t = (table_copy *)malloc(sizeof *t);
    REQUIRE(t, "out of memory for %zu bytes", sizeof *t);
    t->host = host;
    t->bytes = bytes;
    t->next = tables;
    CUDA(cudaMalloc(&t->copy, bytes));
    gpu_copy(t->copy, PLACE_DEVICE, host, PLACE_HOST, bytes);
    tables = t;
    return t->copy;
}

void gpu_forget(const void *host)
{
    for (table_copy **link = &tables; *link; link = &(*link)->next) {
        table_copy *t = *link;
        if (t->host != host) continue;
        *link = t->next;
        CUDA(cudaStreamSynchronize(device.stream));
        CUDA(cudaFree(t->copy));
        free(t);
        return;
    }
}

/* ---- kernels ---- */

int gpu_run(kernel_id id, precision prec, const void *args, const kernel_work *work)
{
    static gpu_launcher (*const find[PREC_COUNT])(kernel_id) = {gpu_find_d, gpu_find_s, gpu_find_h, gpu_find_q};
    const gpu_launcher launch = find[prec](id);
    if (!launch) return 0;
    const int *list = work->list ? (const int *)gpu_table(work->list, (size_t)work->n * sizeof *list) : NULL;
    launch(&device, args, list, work->n);
    const cudaError_t status = cudaGetLastError();
    REQUIRE(status == cudaSuccess, "kernel %s in precision %d: %s", kernel_infos[id].name, (int)prec,
            cudaGetErrorString(status));
    const int sums = kernel_infos[id].sums;
    if (sums > 0) {
        CUDA(cudaStreamSynchronize(device.stream));
        for (int k = 0; k < sums; k++) exact_merge(&work->sums[k], &device.result[k]);
    }
    return 1;
}
