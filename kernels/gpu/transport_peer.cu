/* Messages by stores into the memory of the other GPU: packing kernels write where the neighbour reads. For ranks of
 * one node that can map each other's memory (CUDA IPC), also of ranks that share a GPU, but for MPS, under which they do
 * not take turns. The host never waits.
 *
 * Memory. A block is memory of each rank that all ranks of the node map. One block holds flags, all 64-bit numbers of
 * exchanges that only grow, each written by one rank and read by the owner alone:
 *
 *   flags[r]                               rank r has read all that came in exchanges up to this one
 *   flags[ranks + r * GPU_SLOTS + slot]    what rank r sends into the slot has arrived up to this exchange
 *
 * Ghost buffers are a block for each slot and each of three turns; exchange n uses turn n mod 3.
 *
 * Protocol of exchange n, on the side stream of each rank:
 *
 *   begin    step enter: tells all ranks "read up to n - 2": this holds because the side stream has waited for the main
 *            one, and what came in n - 2 may be read until now and no longer. Then it waits, for each rank that it will
 *            send to, until that rank has read up to n - 3, which used the same turn.
 *   (pack)   kernels of the caller store into the ghost buffers of others
 *   start    step leave: release of the system scope, then "arrived: n" at each receiver
 *   finish   step arrive: waits, with acquire, until each sender's flag says n; the main stream then waits for it
 *
 * Two turns would do, too, but then a sender would wait for news that its receiver sends at the start of the same
 * exchange; with three the news is one exchange old and waiting for it is the exception. Who sends to whom may change
 * from one exchange to the next, since everybody hears what everybody has read and flags are a sender's own.
 *
 * An exchange may also be one kernel on the main stream (fuse): some blocks do enter, pack and leave, some work that
 * needs no message, and some wait as arrive does, behind all that pack. Blocks start in the order of their numbers, so
 * those that wait do not keep those that send from running.
 *
 * No deadlock. Every rank puts the kernels of exchange 1, 2, ... in this order on its side stream, and no kernel needs
 * another one of its own rank to run at the same time: all that an own kernel waits for on the main stream was given
 * before. Let the steps enter, leave, arrive of all ranks be ordered by (exchange, step). enter of n waits for enter of
 * n - 1 on other ranks, arrive of n for leave of n on other ranks: always for an earlier step. So among the steps not
 * yet done the earliest ones wait for nothing and get done, whatever the slots and neighbours, if only the hosts go on;
 * and these wait for their own streams and for each other in the same program order. GPUs shared by processes take
 * turns in time, so that a waiting kernel delays but does not stop the one it waits for.
 *
 * Buffers grow in begin. All ranks see the same sizes and so find the same buffer too small; they wait for their
 * streams and for each other, and make the block anew. Only the buffer of this turn is touched: what came in the two
 * exchanges before can still be read.
 *
 * Sums over all ranks: see gpu_boards in launch.cuh. Kernels of a sum wait for those of the same sum elsewhere, which
 * all ranks start at the same place of their programs, so what is said above holds with them among the steps.
 *
 * A rank that dies or hangs leaves others waiting. Under a watchdog the kernels give up after its limit, or PATIENCE if
 * that is longer, and the rank's turn, leave a note in memory of the host and let the streams run on; the host finds it
 * at its next wait or exchange, before any result is used, and ends the run with EXIT_HUNG. */
#include "kernels/gpu/transport.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/watchdog.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/signals.cuh"
#include "kernels/lattice/comm.h"

#define TURNS 3
#define MAX_RANKS NEWS_MAX      /* ranks of a node */
#define GRAIN ((size_t)2 << 20) /* smaller memory may lie in one mapping with other memory of its owner */
#define PATIENCE 60.0           /* seconds */

/* Memory of `bytes` bytes on every rank: rank r's is at at[r] here. */
typedef struct {
    size_t bytes;
    void *at[MAX_RANKS];
} block;

static block flags, board, ghosts[GPU_SLOTS][TURNS];
static gpu_boards *boards; /* device memory; null for one rank, or more than BOARD_RANKS */
static gpu_stall watch;
static unsigned *ticket;
static gpu_fusion fusion;

/* ---- the kernel ---- */

/* Step of one block: writes the flags of `tell`, then waits for those of `await`. Stores of kernels before it on its stream are
 * seen by whoever sees a flag that it wrote. */
static __global__ void step(const __grid_constant__ gpu_news news, const __grid_constant__ gpu_signals tell,
                            const __grid_constant__ gpu_signals await, const __grid_constant__ gpu_stall s)
{
    news_tell(&news);
    signals_tell(&tell);
    __syncthreads(); /* tell before waiting, also within a warp */
    signals_await(&await, &s);
}

static const gpu_news no_news = {};
static const gpu_signals none = {};

static void run_step(const gpu_news *news, const gpu_signals *tell, const gpu_signals *await)
{
    watch.exchange = transport_exchange();
    step<<<1, MAX_RANKS, 0, gpu_in_use()->side>>>(*news, *tell, *await, watch);
    CUDA(cudaGetLastError());
}

static void add(gpu_signals *s, signal_number *flag, int rank, int slot)
{
    s->to[s->n].flag = flag;
    s->to[s->n].rank = rank;
    s->to[s->n].slot = slot;
    s->n++;
}

static void check_stall(void)
{
    const volatile stall_note *note = watch.note;
    if (!note->set) return;
    char what[96];
    if (note->slot == STALLED_IN_SUM) snprintf(what, sizeof what, "to add to a sum");
    else if (note->slot < 0) snprintf(what, sizeof what, "to read what it was sent, in exchange %llu", note->exchange);
    else snprintf(what, sizeof what, "to send in slot %d, in exchange %llu", note->slot, note->exchange);
    error_fault(EXIT_HUNG, __FILE__, __LINE__, __func__,
                "the GPU has waited %.0f s for rank %d %s; last kernel started: %s.\n  That rank or its GPU hangs, or "
                "has ended without a word. The last checkpoint stands: continue with plaq run",
                1e-9 * (double)watch.patience, note->rank, what, watchdog_last_kernel());
}

/* ---- blocks ---- */

/* Collective. Makes a block of zeros; the answer is cudaSuccess, or what went wrong on this rank. */
static cudaError_t block_create(block *b, size_t bytes)
{
    struct {
        cudaIpcMemHandle_t handle;
        cudaError_t status;
        size_t bytes;
    } mine, all[MAX_RANKS];
    const int me = comm_rank(), ranks = comm_size();
    const cudaStream_t side = gpu_in_use()->side;
    memset(b, 0, sizeof *b);
    memset(&mine, 0, sizeof mine);
    mine.bytes = b->bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    b->at[me] = gpu_allocate(b->bytes);
    CUDA(cudaMemsetAsync(b->at[me], 0, b->bytes, side));
    gpu_wait(side, "memory of the GPU to be cleared");
    if (ranks == 1) return cudaSuccess;
    cudaError_t status = mine.status = cudaIpcGetMemHandle(&mine.handle, b->at[me]);
    comm_gather_all(&mine, all, sizeof mine);
    for (int r = 0; r < ranks; r++) {
        REQUIRE(all[r].bytes == mine.bytes, "rank %d wants %zu bytes, this one %zu", r, all[r].bytes, mine.bytes);
        if (r == me || all[r].status != cudaSuccess) continue;
        const cudaError_t opened = cudaIpcOpenMemHandle(&b->at[r], all[r].handle, cudaIpcMemLazyEnablePeerAccess);
        if (opened == cudaSuccess) continue;
        b->at[r] = NULL;
        status = opened;
    }
    cudaGetLastError(); /* the caller judges */
    return status;
}

/* Collective, when nobody uses the block any more. */
static void block_destroy(block *b)
{
    const int me = comm_rank();
    for (int r = 0; r < comm_size(); r++)
        if (r != me && b->at[r]) CUDA(cudaIpcCloseMemHandle(b->at[r]));
    comm_barrier(); /* memory may be freed when nobody maps it any more */
    gpu_release(b->at[me], b->bytes);
    memset(b, 0, sizeof *b);
}

static block *ghosts_of(int slot)
{
    return &ghosts[slot][transport_exchange() % TURNS];
}

/* Makes room for the messages of this exchange. By slots, since ranks may have their messages in different order. */
static void grow_ghosts(const gpu_message *m, int n)
{
    for (int slot = 0; slot < GPU_SLOTS; slot++)
        for (int i = 0; i < n; i++) {
            block *b = ghosts_of(slot);
            if (m[i].slot != slot || b->bytes >= m[i].bytes) continue;
            gpu_finish();
            comm_barrier(); /* nobody's stores are on their way any more */
            if (b->bytes > 0) block_destroy(b);
            CUDA(block_create(b, m[i].bytes));
        }
}

static signal_number *flag_at(int owner, int i)
{
    return (signal_number *)flags.at[owner] + i;
}

/* Flag of owner: what `from` sends into `slot` has arrived. */
static signal_number *arrival_flag(int owner, int from, int slot)
{
    return flag_at(owner, comm_size() + from * GPU_SLOTS + slot);
}

/* ---- can it be used? ---- */

static int device_with(const char uuid[16])
{
    cudaDeviceProp properties;
    for (int i = 0; i < gpu_count(); i++) {
        CUDA(cudaGetDeviceProperties(&properties, i));
        if (!memcmp(&properties.uuid, uuid, 16)) return i;
    }
    return -1;
}

/* GPUs that this process does not see are left to the trial. */
static int peers_reachable(char *why, size_t size)
{
    int mine, can = 1;
    CUDA(cudaGetDevice(&mine));
    gpu_identity *all = gpu_identities(mine);
    for (int r = 0; r < comm_size() && can; r++) {
        const int other = device_with(all[r].uuid);
        if (other < 0 || other == mine) continue;
        CUDA(cudaDeviceCanAccessPeer(&can, mine, other));
        snprintf(why, size, "the GPU of rank %d cannot reach the memory of that of rank %d", comm_rank(), r);
    }
    free(all);
    return can;
}

/* Each rank stores its signal_number at its place of everybody's block. Collective. */
static int stores_arrive(const block *b)
{
    const int me = comm_rank(), ranks = comm_size();
    gpu_news tell = {(signal_number)me + 1, 0, {}};
    signal_number found[MAX_RANKS];
    for (int r = 0; r < ranks; r++) tell.to[tell.n++] = (signal_number *)b->at[r] + me;
    run_step(&tell, &none, &none);
    gpu_finish();
    comm_barrier();
    gpu_copy(found, PLACE_HOST, b->at[me], PLACE_DEVICE, (size_t)ranks * sizeof *found);
    for (int r = 0; r < ranks; r++)
        if (found[r] != (signal_number)r + 1) return 0;
    return 1;
}

/* True if other ranks' kernels run on this GPU without taking turns. Collective. */
static int runs_beside_others(void)
{
    int index, mps;
    CUDA(cudaGetDevice(&index));
    /* Drivers before CUDA 12.3 cannot tell. */
    if (cudaDeviceGetAttribute(&mps, cudaDevAttrMpsEnabled, index) != cudaSuccess) {
        cudaGetLastError();
        mps = 0;
    }
    return gpu_sharers(index) > 1 && mps;
}

static int usable(char *why, size_t size)
{
    const int ranks = comm_size();
    if (ranks == 1) return 1;
    snprintf(why, size, "it needs all %d ranks on one node, at most %d", ranks, MAX_RANKS);
    if (comm_node_size() < ranks || ranks > MAX_RANKS) return 0;
    int ok = !runs_beside_others();
    snprintf(why, size,
             "ranks that share a GPU run at the same time there (MPS), and the waiting kernels of one could keep "
             "those of another from starting");
    if (!comm_all(ok)) return ok;
    ok = peers_reachable(why, size);
    if (!comm_all(ok)) return ok;
    block trial;
    const cudaError_t status = block_create(&trial, GRAIN);
    ok = status == cudaSuccess;
    snprintf(why, size, "memory of GPUs cannot be mapped by other processes: %s", cudaGetErrorString(status));
    if (comm_all(ok)) {
        ok = stores_arrive(&trial);
        snprintf(why, size, "what other GPUs store into the memory of that of rank %d does not arrive", comm_rank());
    }
    block_destroy(&trial);
    return ok;
}

/* ---- sums ---- */

static void open_boards(void)
{
    gpu_boards b = {comm_size(), comm_rank(), {}, watch};
    if (b.ranks == 1 || b.ranks > BOARD_RANKS) return;
    CUDA(block_create(&board, BOARD_WORDS * sizeof(uint64_t)));
    for (int r = 0; r < b.ranks; r++) b.of[r] = (uint64_t *)board.at[r];
    boards = (gpu_boards *)gpu_allocate(sizeof *boards);
    gpu_copy(boards, PLACE_DEVICE, &b, PLACE_HOST, sizeof b);
}

static void close_boards(void)
{
    if (!boards) return;
    block_destroy(&board);
    gpu_release(boards, sizeof *boards);
    boards = NULL;
}

static const gpu_boards *peer_boards(void)
{
    return boards;
}

/* ---- exchanges ---- */

static void peer_open(void)
{
    const size_t places = (size_t)comm_size() * (1 + GPU_SLOTS);
    const double limit = watchdog_limit(), seconds = (limit > PATIENCE ? limit : PATIENCE) + watchdog_turn();
    CUDA(cudaHostAlloc(&watch.note, sizeof *watch.note, cudaHostAllocMapped));
    memset(watch.note, 0, sizeof *watch.note);
    watch.broken = (int *)gpu_allocate(sizeof *watch.broken);
    CUDA(cudaMemsetAsync(watch.broken, 0, sizeof *watch.broken, gpu_in_use()->side));
    watch.patience = limit > 0 ? (signal_number)(1e9 * seconds) : ~(signal_number)0; /* nobody watches: for ever */
    ticket = (unsigned *)gpu_allocate(sizeof *ticket);
    CUDA(cudaMemsetAsync(ticket, 0, sizeof *ticket, gpu_in_use()->side));
    CUDA(block_create(&flags, places * sizeof(signal_number)));
    open_boards();
    gpu_after_wait(check_stall);
}

static void peer_close(void)
{
    gpu_after_wait(NULL);
    for (int slot = 0; slot < GPU_SLOTS; slot++)
        for (int turn = 0; turn < TURNS; turn++)
            if (ghosts[slot][turn].bytes > 0) block_destroy(&ghosts[slot][turn]);
    block_destroy(&flags);
    close_boards();
    gpu_release(ticket, sizeof *ticket);
    gpu_release(watch.broken, sizeof *watch.broken);
    CUDA(cudaFreeHost(watch.note));
    memset(&watch, 0, sizeof watch);
}

/* The places of the messages; whom to tell that all up to exchange `read` was read, and the room to wait for. */
static void prepare(gpu_message *m, int n, signal_number read, gpu_news *tell, gpu_signals *room)
{
    const signal_number now = transport_exchange();
    const int me = comm_rank();
    check_stall();
    grow_ghosts(m, n);
    *tell = (gpu_news){read, 0, {}};
    *room = (gpu_signals){now > 3 ? now - 3 : 0, 0, {}};
    for (int i = 0; i < n; i++) {
        const block *b = ghosts_of(m[i].slot);
        m[i].out = b->at[m[i].to];
        m[i].in = b->at[me];
        add(room, flag_at(me, m[i].to), m[i].to, -1);
    }
    for (int r = 0; r < comm_size(); r++)
        if (r != me) tell->to[tell->n++] = flag_at(r, me);
}

static void sent_and_arrived(const gpu_message *m, int n, gpu_signals *sent, gpu_signals *arrived)
{
    *sent = *arrived = (gpu_signals){transport_exchange(), 0, {}};
    for (int i = 0; i < n; i++) {
        add(sent, arrival_flag(m[i].to, comm_rank(), m[i].slot), m[i].to, m[i].slot);
        add(arrived, arrival_flag(comm_rank(), m[i].from, m[i].slot), m[i].from, m[i].slot);
    }
}

static void begin(gpu_message *m, int n)
{
    const signal_number now = transport_exchange();
    gpu_news read;
    gpu_signals room;
    prepare(m, n, now > 2 ? now - 2 : 0, &read, &room);
    run_step(&read, &none, &room);
}

static void start(gpu_message *m, int n)
{
    gpu_signals sent, arrived;
    sent_and_arrived(m, n, &sent, &arrived);
    run_step(&no_news, &sent, &none);
}

static void finish(gpu_message *m, int n)
{
    gpu_signals sent, arrived;
    sent_and_arrived(m, n, &sent, &arrived);
    run_step(&no_news, &none, &arrived);
}

/* The kernel runs on the main stream, behind all that read what came before. */
static const gpu_fusion *fuse(gpu_message *m, int n)
{
    prepare(m, n, transport_exchange() - 1, &fusion.read, &fusion.room);
    sent_and_arrived(m, n, &fusion.sent, &fusion.arrived);
    watch.exchange = transport_exchange();
    fusion.stall = watch;
    fusion.ticket = ticket;
    return &fusion;
}

const gpu_transport transport_peer = {"peer",     "GPUs of one node store into each other's memory",
                                      1,          usable,
                                      peer_open,  peer_close,
                                      begin,      start,
                                      finish,     fuse,
                                      peer_boards};
