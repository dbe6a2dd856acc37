/* Messages by NCCL, as one group of sends and receives on the side stream. In builds that found NCCL only
 * (PLAQ_WITH_NCCL).
 *
 * NCCL pairs the k-th send of one rank to another with the k-th receive there; so both go through the slots in
 * ascending order, which is the same order on both sides. NCCL needs a GPU of its own for each rank; whether it can
 * connect them, only a trial shows, whose connection is kept. Multicast over NVLink is switched off: sends and receives
 * do not use it, and setting it up takes time and memory. */
#include "kernels/gpu/transport.cuh"

#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/watchdog.h"
#include "kernels/lattice/comm.h"

#define NCCL(call) check(call, __LINE__, __func__, #call)

/* Failures of a rank that has died, or of a network, count as MPI's; others as the GPU's. */
static void check(ncclResult_t result, int line, const char *function, const char *call)
{
    if (result == ncclSuccess) return;
    error_fault(result == ncclRemoteError || result == ncclSystemError ? EXIT_HUNG : EXIT_DEVICE, __FILE__, line,
                function,
                "NCCL failed: %s (%s); the last checkpoint stands: continue with plaq run. NCCL_DEBUG=WARN in the "
                "environment tells more, transport = host works without NCCL.\n  In %s; last kernel started: %s",
                ncclGetErrorString(result), ncclGetLastError(NULL), call, watchdog_last_kernel());
}

static ncclComm_t comm;

static void drop(void)
{
    if (comm) ncclCommAbort(comm);
    comm = NULL;
}

/* Sends one byte to the next rank; collective. Where one rank fails, others may have received nothing and would wait. */
static ncclResult_t try_neighbours(void)
{
    const int next = (comm_rank() + 1) % comm_size(), previous = (comm_rank() + comm_size() - 1) % comm_size();
    const cudaStream_t side = gpu_in_use()->side;
    char *bytes = (char *)gpu_allocate(2);
    ncclResult_t result = ncclGroupStart();
    if (result == ncclSuccess) result = ncclSend(bytes, 1, ncclInt8, next, comm, side);
    if (result == ncclSuccess) result = ncclRecv(bytes + 1, 1, ncclInt8, previous, comm, side);
    watchdog_enter("NCCL to connect neighbours");
    const ncclResult_t end = ncclGroupEnd();
    watchdog_leave();
    if (result == ncclSuccess) result = end;
    if (comm_all(result == ncclSuccess)) gpu_wait(side, "NCCL's first message");
    else drop();
    gpu_release(bytes, 2);
    return result;
}

/* Collective; where it fails, some ranks may not know. */
static ncclResult_t connect_all(void)
{
    struct {
        ncclUniqueId id;
        ncclResult_t result;
    } root;
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    if (comm_rank() == 0) root.result = ncclGetUniqueId(&root.id);
    comm_bcast(&root, sizeof root);
    if (root.result != ncclSuccess) return root.result;
    watchdog_enter("NCCL to connect all ranks");
    const ncclResult_t result = ncclCommInitRank(&comm, comm_size(), root.id, comm_rank());
    watchdog_leave();
    return comm_all(result == ncclSuccess) ? try_neighbours() : result;
}

static int usable(char *why, size_t size)
{
    int index;
    CUDA(cudaGetDevice(&index));
    const int sharers = gpu_sharers(index);
    snprintf(why, size, "NCCL needs a GPU for each rank, and %d ranks share the one of rank %d", sharers, comm_rank());
    if (!comm_all(sharers == 1) || comm_size() == 1) return sharers == 1;
    const ncclResult_t result = connect_all();
    snprintf(why, size, "NCCL cannot connect rank %d: %s (%s); NCCL_DEBUG=WARN in the environment tells more",
             comm_rank(), ncclGetErrorString(result), ncclGetLastError(NULL));
    if (!comm_all(result == ncclSuccess)) drop();
    return result == ncclSuccess;
}

static void nothing(void) {}

static void nccl_close(void)
{
    if (!comm) return;
    watchdog_enter("NCCL to disconnect all ranks");
    NCCL(ncclCommDestroy(comm));
    watchdog_leave();
    comm = NULL;
}

static void start(gpu_message *m, int n)
{
    const cudaStream_t side = gpu_in_use()->side;
    NCCL(ncclGroupStart());
    for (int slot = 0; slot < GPU_SLOTS; slot++)
        for (int i = 0; i < n; i++) {
            if (m[i].slot != slot) continue;
            NCCL(ncclSend(m[i].out, m[i].bytes, ncclInt8, m[i].to, comm, side));
            NCCL(ncclRecv(m[i].in, m[i].bytes, ncclInt8, m[i].from, comm, side));
        }
    watchdog_enter("NCCL to connect neighbours"); /* first use connects */
    NCCL(ncclGroupEnd());
    watchdog_leave();
}

static void finish(gpu_message *m, int n)
{
    (void)m, (void)n;
    ncclResult_t state = ncclSuccess;
    NCCL(ncclCommGetAsyncError(comm, &state));
    NCCL(state);
}

const gpu_transport transport_nccl = {"nccl", "NCCL", 1, usable, nothing, nccl_close, transport_begin_buffers,
                                      start,  finish};
