/* Messages through pinned memory of the host and plain MPI: slow, and always there.
 *
 *   start    side stream: copies what is packed to the host; the receives are posted
 *   finish   the host waits for those copies, sends, waits for what arrives; side stream: copies it to the device
 *
 * The host enters finish after it has started the interior kernels, so that they hide packing, copies and messages.
 * Receives may be posted before the host has waited for the device, because arrivals have two buffers in turn: the copy
 * from that of exchange n - 2 came before packing of exchange n - 1 on the side stream, and finish n - 1 waited for it.
 */
#include "kernels/gpu/transport.cuh"

#include "kernels/lattice/comm.h"

static int usable(char *why, size_t size)
{
    (void)why, (void)size;
    return 1;
}

static void nothing(void) {}

static void start(gpu_message *m, int n)
{
    const gpu_device *dev = gpu_in_use();
    for (int i = 0; i < n; i++) {
        void *out = transport_buffer(BUFFER_HOST_OUT, m[i].slot, m[i].bytes);
        CUDA(cudaMemcpyAsync(out, m[i].out, m[i].bytes, cudaMemcpyDeviceToHost, dev->side));
    }
    for (int i = 0; i < n; i++)
        comm_start_receive(transport_buffer(BUFFER_HOST_IN, m[i].slot, m[i].bytes), m[i].bytes, m[i].from, m[i].slot);
}

static void finish(gpu_message *m, int n)
{
    const gpu_device *dev = gpu_in_use();
    gpu_wait(dev->side, "messages packed on the GPU");
    for (int i = 0; i < n; i++)
        comm_start_send(transport_buffer(BUFFER_HOST_OUT, m[i].slot, m[i].bytes), m[i].bytes, m[i].to, m[i].slot);
    comm_wait();
    for (int i = 0; i < n; i++) {
        const void *in = transport_buffer(BUFFER_HOST_IN, m[i].slot, m[i].bytes);
        CUDA(cudaMemcpyAsync(m[i].in, in, m[i].bytes, cudaMemcpyHostToDevice, dev->side));
    }
}

const gpu_transport transport_host = {"host",  "MPI through memory of the host", 0,     usable, nothing,
                                      nothing, transport_begin_buffers,          start, finish};
