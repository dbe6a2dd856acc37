/* Messages by MPI from and to memory of the device, where MPI says that it can.
 *
 * finish does it all: the host waits for the side stream, that is for packing, and for the kernels of the main stream
 * that read what arrived two exchanges ago in the buffers that now receive. MPI moves data on streams of its own, so
 * neither sends nor receives may be posted earlier. When comm_wait() returns the data are there. */
#include "kernels/gpu/transport.cuh"

#include <stdio.h>

#include "kernels/lattice/comm.h"

static int usable(char *why, size_t size)
{
    snprintf(why, size, "this MPI does not take memory of a GPU (it was built without CUDA support)");
    return comm_cuda_aware();
}

static void nothing(void) {}

static void start(gpu_message *m, int n)
{
    (void)m, (void)n;
}

static void finish(gpu_message *m, int n)
{
    gpu_wait(gpu_in_use()->side, "messages packed on the GPU");
    for (int i = 0; i < n; i++) comm_start_receive(m[i].in, m[i].bytes, m[i].from, m[i].slot);
    for (int i = 0; i < n; i++) comm_start_send(m[i].out, m[i].bytes, m[i].to, m[i].slot);
    comm_wait();
}

const gpu_transport transport_cuda_aware = {"cuda_aware", "MPI on memory of the GPU", 0,     usable, nothing,
                                            nothing,      transport_begin_buffers,    start, finish};
