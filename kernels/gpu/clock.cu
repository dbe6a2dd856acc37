/* How long kernels take, by events around a sample of them: the host does not wait, and collects when it asks. Events
 * keep a kernel from starting as early behind the one in front of it as it otherwise would; what that costs is measured
 * once, and taken off. */
#include <math.h>

#include "kernels/base/watchdog.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/launch.cuh"

#define WATCHES 256

static struct {
    cudaEvent_t start, stop;
    gpu_clock *of; /* null: idle */
    double weight;
} watches[WATCHES];
static unsigned next;

/* ---- the price of events ---- */

#define TRIALS 15
#define TRAIN 64
#define HEAD_START 1000000 /* nanoseconds in which the host queues a train */

static __global__ void nothing(void)
{
    gpu_begin();
}

static __global__ void pass_time(signal_number span)
{
    const signal_number start = nanoseconds();
    while (nanoseconds() - start < span) {
    }
}

/* Milliseconds from event to event of a train of n kernels that do nothing on all processors. Other work of the device
 * can only add to them. */
static float train(int n)
{
    const gpu_device *dev = gpu_in_use();
    cudaEvent_t event[2];
    float least = INFINITY;
    for (int i = 0; i < 2; i++) CUDA(cudaEventCreate(&event[i]));
    for (int trial = 0; trial < TRIALS; trial++) {
        float milliseconds;
        pass_time<<<1, 1, 0, dev->stream>>>(HEAD_START);
        CUDA(cudaEventRecord(event[0], dev->stream));
        for (int k = 0; k < n; k++) gpu_start(dev, nothing, dim3(8 * (unsigned)dev->processors), BLOCK_MAX);
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(event[1], dev->stream));
        gpu_wait(dev->stream, "kernels that calibrate the profile's clock");
        CUDA(cudaEventElapsedTime(&milliseconds, event[0], event[1]));
        least = fminf(least, milliseconds);
    }
    for (int i = 0; i < 2; i++) CUDA(cudaEventDestroy(event[i]));
    return least;
}

/* Seconds in a train of a kernel that took so many milliseconds between events; no fewer than of one that does nothing. */
static double seconds_of(float milliseconds)
{
    static float price = -1, nothing_in_train;
    if (price < 0) {
        train(1); /* loads the kernel */
        nothing_in_train = fmaxf((train(2 * TRAIN) - train(TRAIN)) / TRAIN, 0);
        price = fmaxf(train(1) - nothing_in_train, 0);
    }
    return 1e-3 * fmaxf(milliseconds - price, nothing_in_train);
}

/* ---- watches ---- */

static void collect(int i)
{
    float milliseconds;
    gpu_enter_wait("a kernel that is timed");
    CUDA(cudaEventSynchronize(watches[i].stop));
    watchdog_leave();
    CUDA(cudaEventElapsedTime(&milliseconds, watches[i].start, watches[i].stop));
    watches[i].of->seconds += seconds_of(milliseconds);
    watches[i].of->weight += watches[i].weight;
    watches[i].of = NULL;
}

static cudaStream_t stream_of(int aside)
{
    return aside ? gpu_in_use()->side : gpu_in_use()->stream;
}

int gpu_clock_start(int aside)
{
    const int i = (int)(next++ % WATCHES);
    if (watches[i].of) collect(i); /* begun long ago: it has ended */
    if (!watches[i].start) {
        CUDA(cudaEventCreate(&watches[i].start));
        CUDA(cudaEventCreate(&watches[i].stop));
    }
    CUDA(cudaEventRecord(watches[i].start, stream_of(aside)));
    return i;
}

void gpu_clock_stop(int i, int aside, double weight, gpu_clock *of)
{
    CUDA(cudaEventRecord(watches[i].stop, stream_of(aside)));
    watches[i].of = of;
    watches[i].weight = weight;
}

void gpu_clock_collect(void)
{
    for (int i = 0; i < WATCHES; i++)
        if (watches[i].of) collect(i);
}
