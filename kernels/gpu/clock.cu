/* How long kernels take, by events around a sample of them: the host does not wait, and collects when it asks. */
#include "kernels/base/watchdog.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/launch.cuh"

#define WATCHES 256

static struct {
    cudaEvent_t start, stop;
    gpu_clock *of; /* null: idle */
    double weight;
} watches[WATCHES];
static int next;

static void collect(int i)
{
    float milliseconds;
    watchdog_enter("a kernel that is timed");
    CUDA(cudaEventSynchronize(watches[i].stop));
    watchdog_leave();
    CUDA(cudaEventElapsedTime(&milliseconds, watches[i].start, watches[i].stop));
    watches[i].of->seconds += 1e-3 * milliseconds;
    watches[i].of->weight += watches[i].weight;
    watches[i].of = NULL;
}

static cudaStream_t stream_of(int aside)
{
    return aside ? gpu_in_use()->side : gpu_in_use()->stream;
}

int gpu_clock_start(int aside)
{
    const int i = next++ % WATCHES;
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
