/* The transport in use: its choice, the calls of an exchange in their order, and the buffers that transports share.
 *
 * The two points where the streams meet are here. begin: the side stream waits for the main one, because packing reads
 * what kernels of the main stream wrote, and overwrites buffers that they read. finish: the main stream waits for the
 * side one, after the transport has put its last work there. */
#include "kernels/gpu/transport.cuh"

#include <stdio.h>
#include <string.h>

#include "kernels/base/log.h"
#include "kernels/base/param.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/comm.h"

static const gpu_transport *const transports[] = {
#define TRANSPORT(name) &transport_##name,
#include "kernels/gpu/transports.def"
#undef TRANSPORT
};
#define TRANSPORTS ((int)(sizeof transports / sizeof *transports))

static const gpu_transport *current;
static unsigned long long exchange, turn;
static const gpu_transport *carrier; /* transport of the exchange in progress */
static enum { IDLE, BEGUN, STARTED } phase;
static const gpu_fusion *fused; /* waits for its kernel */
static double counted_bytes, counted_seconds;

/* ---- buffers ---- */

typedef struct {
    void *p;
    size_t bytes;
} buffer;

static buffer buffers[BUFFER_KINDS][GPU_SLOTS][2];

unsigned long long transport_exchange(void)
{
    return exchange;
}

static void buffer_free(transport_buffer_kind kind, buffer *b)
{
    if (b->p && (kind == BUFFER_OUT || kind == BUFFER_IN)) gpu_release(b->p, b->bytes);
    else if (b->p) CUDA(cudaFreeHost(b->p));
    b->p = NULL;
    b->bytes = 0;
}

static void take_pinned(void **p, size_t bytes)
{
    const cudaError_t status = cudaHostAlloc(p, bytes, cudaHostAllocDefault);
    if (status == cudaErrorMemoryAllocation)
        error_fault(
            EXIT_DEVICE, __FILE__, __LINE__, __func__,
            "the host has no %.1f MiB of pinned memory for messages: free memory there, raise the limit of locked "
            "memory (ulimit -l), or take transport = peer or nccl",
            (double)bytes / (1 << 20));
    CUDA(status);
}

void *transport_buffer(transport_buffer_kind kind, int slot, size_t bytes)
{
    const int turns = kind == BUFFER_IN || kind == BUFFER_HOST_IN;
    buffer *b = &buffers[kind][slot][turns ? turn % 2 : 0];
    if (b->bytes >= bytes) return b->p;
    if (b->p) gpu_finish();
    buffer_free(kind, b);
    if (kind == BUFFER_OUT || kind == BUFFER_IN) b->p = gpu_allocate(bytes);
    else take_pinned(&b->p, bytes);
    b->bytes = bytes;
    return b->p;
}

void transport_begin_buffers(gpu_message *m, int n)
{
    for (int i = 0; i < n; i++) {
        m[i].out = transport_buffer(BUFFER_OUT, m[i].slot, m[i].bytes);
        m[i].in = transport_buffer(BUFFER_IN, m[i].slot, m[i].bytes);
    }
}

static void free_buffers(void)
{
    for (int kind = 0; kind < BUFFER_KINDS; kind++)
        for (int slot = 0; slot < GPU_SLOTS; slot++)
            for (int turn = 0; turn < 2; turn++) buffer_free((transport_buffer_kind)kind, &buffers[kind][slot][turn]);
}

/* ---- the choice ---- */

static const gpu_transport *find(const char *name)
{
    for (int i = 0; i < TRANSPORTS; i++)
        if (!strcmp(transports[i]->name, name)) return transports[i];
    return NULL;
}

static void unknown(const char *name, char *message, size_t size)
{
    const char *names[TRANSPORTS + 1];
    char list[512] = "auto";
    names[0] = "auto";
    for (int i = 0; i < TRANSPORTS; i++) {
        const size_t used = strlen(list);
        names[i + 1] = transports[i]->name;
        snprintf(list + used, sizeof list - used, ", %s (%s)", transports[i]->name, transports[i]->help);
    }
    const char *nearest = param_nearest(name, names, TRANSPORTS + 1);
    snprintf(message, size, "there is no transport '%s' in this build%s%s%s; there are %s", name,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "", list);
}

/* True if any ranks share a GPU. Collective. */
static int is_shared(void)
{
    int device;
    CUDA(cudaGetDevice(&device));
    return !comm_all(gpu_sharers(device) == 1);
}

static void adopt(const gpu_transport *t)
{
    current = t;
    exchange = 0;
    t->open();
    log_debug("messages between GPUs: %s (%s)", t->name, t->help);
}

int gpu_transport_choose(const char *name, char *message, size_t size)
{
    const gpu_transport *wanted = find(name);
    const int shared = is_shared();
    gpu_transport_close();
    if (!wanted && strcmp(name, "auto")) {
        unknown(name, message, size);
        return 1;
    }
    for (int i = 0; i < TRANSPORTS; i++) {
        const gpu_transport *t = transports[i];
        char why[512] = "";
        if (wanted ? t != wanted : t->kernels_wait && shared) continue;
        if (!comm_any_bad(!t->usable(why, sizeof why), why, sizeof why)) {
            adopt(t);
            return 0;
        }
        log_debug("transport %s is not used: %s", t->name, why);
        snprintf(message, size, "transport '%s' cannot be used here: %s", t->name, why);
    }
    return 1;
}

void gpu_transport_close(void)
{
    if (!current) return;
    REQUIRE(phase == IDLE, "the transport is closed within exchange %llu", exchange);
    gpu_finish();
    comm_barrier(); /* nobody's messages are on their way any more */
    current->close();
    free_buffers();
    current = NULL;
}

const char *gpu_transport_number(int i)
{
    return i < TRANSPORTS ? transports[i]->name : NULL;
}

const char *gpu_transport_name(void)
{
    return current ? current->name : "none";
}

/* ---- exchanges ---- */

static void check_messages(const gpu_message *m, int n)
{
    unsigned slots = 0;
    REQUIRE(current, "an exchange without a transport: gpu_transport_choose() is missing");
    REQUIRE(n <= GPU_SLOTS, "%d messages in %d slots", n, GPU_SLOTS);
    for (int i = 0; i < n; i++) {
        const gpu_message *x = &m[i];
        REQUIRE(x->slot >= 0 && x->slot < GPU_SLOTS && !(slots >> x->slot & 1), "message %d in slot %d", i, x->slot);
        REQUIRE(x->to >= 0 && x->to < comm_size() && x->to != comm_rank(), "message to rank %d", x->to);
        REQUIRE(x->from >= 0 && x->from < comm_size() && x->from != comm_rank(), "message from rank %d", x->from);
        REQUIRE(x->bytes > 0, "message of no bytes in slot %d", x->slot);
        slots |= 1u << x->slot;
    }
}

void gpu_exchange_begin(const comm_group *group, gpu_message *m, int n)
{
    if (n == 0) return;
    const double start = comm_wtime();
    const gpu_device *dev = gpu_in_use();
    REQUIRE(phase == IDLE && !fused, "an exchange begins within exchange %llu", exchange);
    check_messages(m, n);
    phase = BEGUN;
    carrier = group == comm_world() ? current : &transport_host;
    if (carrier == current) exchange++;
    turn++;
    CUDA(cudaEventRecord(dev->given, dev->stream));
    CUDA(cudaStreamWaitEvent(dev->side, dev->given, 0));
    carrier->begin(m, n);
    for (int i = 0; i < n; i++) counted_bytes += (double)m[i].bytes;
    counted_seconds += comm_wtime() - start;
}

const gpu_fusion *transport_take_fusion(void)
{
    const gpu_fusion *f = fused;
    REQUIRE(f, "a kernel that packs without an exchange");
    fused = NULL;
    return f;
}

int transport_kernels_wait(void)
{
    return current && current->kernels_wait;
}

int gpu_exchange_can_fuse(void)
{
    return current && current->fuse && !(comm_delay() > 0);
}

void gpu_exchange_fuse(gpu_message *m, int n)
{
    REQUIRE(phase == IDLE && !fused, "an exchange is fused within exchange %llu", exchange);
    REQUIRE(gpu_exchange_can_fuse(), "transport %s has no kernel that is an exchange", gpu_transport_name());
    check_messages(m, n);
    exchange++;
    turn++;
    fused = current->fuse(m, n);
    for (int i = 0; i < n; i++) counted_bytes += (double)m[i].bytes;
}

const gpu_boards *transport_boards(void)
{
    return current && current->boards && !(comm_delay() > 0) ? current->boards() : NULL;
}

int gpu_sums_whole(void)
{
    return comm_size() == 1 || transport_boards();
}

/* Holds a stream up for so many nanoseconds. */
static __global__ void hold(signal_number time)
{
    const signal_number start = nanoseconds();
    while (nanoseconds() - start < time) __nanosleep(100);
}

void gpu_exchange_start(gpu_message *m, int n)
{
    if (n == 0) return;
    const double start = comm_wtime();
    REQUIRE(phase == BEGUN, "exchange %llu starts in phase %d", exchange, (int)phase);
    phase = STARTED;
    if (comm_delay() > 0) {
        hold<<<1, 1, 0, gpu_in_use()->side>>>((signal_number)(1e9 * comm_delay()));
        CUDA(cudaGetLastError());
    }
    carrier->start(m, n);
    counted_seconds += comm_wtime() - start;
}

void gpu_exchange_finish(gpu_message *m, int n)
{
    if (n == 0) return;
    const double start = comm_wtime();
    const gpu_device *dev = gpu_in_use();
    REQUIRE(phase == STARTED, "exchange %llu is finished in phase %d", exchange, (int)phase);
    phase = IDLE;
    carrier->finish(m, n);
    CUDA(cudaEventRecord(dev->moved, dev->side));
    CUDA(cudaStreamWaitEvent(dev->stream, dev->moved, 0));
    counted_seconds += comm_wtime() - start;
}

void gpu_exchange_copies(const comm_group *group, gpu_message *m, int n, void *const *out)
{
    gpu_exchange_begin(group, m, n);
    /* Copies take the place of packing: a transport that stores into the neighbour's memory sends here. */
    for (int i = 0; i < n; i++) gpu_copy_aside(m[i].out, PLACE_DEVICE, out[i], PLACE_DEVICE, m[i].bytes);
    gpu_exchange_start(m, n);
    gpu_exchange_finish(m, n);
}

void gpu_exchange_counted(double *bytes, double *seconds)
{
    *bytes = counted_bytes;
    *seconds = counted_seconds;
}
