/* Transports of messages between GPUs (kernels/run/messages.h), and what they share (transport.cu): the number of the
 * exchange, the device, and buffers that grow. transports.def lists them. To add one: transport_NAME.cu with a table
 * gpu_transport transport_NAME, and its line in transports.def. */
#ifndef PLAQ_TRANSPORT_CUH
#define PLAQ_TRANSPORT_CUH

#include "kernels/gpu/launch.cuh"
#include "kernels/gpu/signals.cuh"
#include "kernels/run/messages.h"

typedef struct {
    const char *name, *help;
    int kernels_wait; /* kernels wait for those of other ranks; a shared GPU runs them in turns, so auto looks further */
    /* The answer of this rank, with the reason in `why` if it is no; all ranks ask in the same order, so it may
     * communicate. */
    int (*usable)(char *why, size_t size);
    /* Collective; between them the exchanges. */
    void (*open)(void);
    void (*close)(void);
    void (*begin)(gpu_message *m, int n);
    void (*start)(gpu_message *m, int n);
    void (*finish)(gpu_message *m, int n); /* puts what is left on the side stream; the main stream then waits for it */
    /* Or, where one kernel can be the exchange: begin for it, and what it needs. May be null. */
    const struct gpu_fusion *(*fuse)(gpu_message *m, int n);
    /* Boards with which kernels add up sums over all ranks, or null; the same answer on all. May be null. */
    const struct gpu_boards *(*boards)(void);
} gpu_transport;

#ifdef __cplusplus
extern "C" {
#endif
#define TRANSPORT(name) extern const gpu_transport transport_##name;
#include "kernels/gpu/transports.def"
#undef TRANSPORT
#ifdef __cplusplus
}
#endif

/* The number of the exchange in progress, of those that the transport in use carries, from 1 since it was opened; the
 * same on all ranks. */
unsigned long long transport_exchange(void);

typedef enum { BUFFER_OUT, BUFFER_IN, BUFFER_HOST_OUT, BUFFER_HOST_IN, BUFFER_KINDS } transport_buffer_kind;

/* The buffer of a slot for the exchange in progress, of at least so many bytes: memory of the device, or pinned memory
 * of the host. The two of arrivals alternate from one exchange to the next; there is one of departures. It grows after
 * both streams are done; what was in it is lost. Freed when the transport is closed. */
void *transport_buffer(transport_buffer_kind kind, int slot, size_t bytes);

/* begin of a transport that moves messages from one buffer of the device to another. */
void transport_begin_buffers(gpu_message *m, int n);

/* Exchange for the kernel that is one; taken once. */
const gpu_fusion *transport_take_fusion(void);

/* True if kernels of the transport in use wait for those of other ranks. */
int transport_kernels_wait(void);

/* Boards for a sum over all ranks, or null. */
const gpu_boards *transport_boards(void);

#endif
