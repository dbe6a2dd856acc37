/* Flags between GPUs: numbers that only grow, in memory that several GPUs map. Who sees a number sees all that its
 * writer had stored before (release and acquire of the system's scope).
 *
 * A kernel that waits gives up after some time, leaves a note in memory of the host, and lets the streams run on; the
 * host finds it at its next wait (transport_peer.cu). */
#ifndef PLAQ_SIGNALS_CUH
#define PLAQ_SIGNALS_CUH

#include <cuda_runtime.h>

typedef unsigned long long signal_number; /* exchange number, or nanoseconds */

#define SIGNALS_MAX 8 /* messages of an exchange */
#define NEWS_MAX 64   /* ranks */

/* Flags to write `value` to, or to wait for until they reach it, with the other rank; slot < 0: news of reading. */
typedef struct {
    signal_number value;
    int n;
    struct {
        signal_number *flag;
        int rank, slot;
    } to[SIGNALS_MAX];
} gpu_signals;

/* Flags to write `value` to, one a rank. */
typedef struct {
    signal_number value;
    int n;
    signal_number *to[NEWS_MAX];
} gpu_news;

/* Written by a kernel that gave up, in memory of the host: what it waited for, and in which exchange, where in one. */
#define STALLED_IN_SUM (-2) /* a rank's part of a sum */
typedef struct {
    int set, rank, slot;
    signal_number exchange;
} stall_note;

/* Patience of a kernel that waits, and where it reports that it gave up. */
typedef struct {
    stall_note *note;
    int *broken; /* device memory: a kernel gave up, and no other needs to wait any more */
    signal_number patience, exchange;
} gpu_stall;

/* Exchange as one kernel: it tells `read` and waits for `room`, packs, tells `sent` when all of it is packed (ticket counts its
 * blocks, and is zero between kernels), and waits for `arrived` before it reads what came. */
typedef struct gpu_fusion {
    gpu_news read;
    gpu_signals room, sent, arrived;
    gpu_stall stall;
    unsigned *ticket;
} gpu_fusion;

static __device__ __forceinline__ signal_number read_flag(const signal_number *flag)
{
    signal_number x;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(x) : "l"(__cvta_generic_to_global(flag)) : "memory");
    return x;
}

static __device__ __forceinline__ void write_flag(signal_number *flag, signal_number x)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(__cvta_generic_to_global(flag)), "l"(x) : "memory");
}

static __device__ __forceinline__ signal_number nanoseconds(void)
{
    signal_number t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

static __device__ __noinline__ void give_up(const gpu_stall *s, int rank, int slot)
{
    volatile stall_note *note = s->note;
    if (atomicExch(s->broken, 1)) return;
    note->rank = rank;
    note->slot = slot;
    note->exchange = s->exchange;
    __threadfence_system();
    note->set = 1;
    __threadfence_system(); /* note is there before sums of what the kernel has not received */
}

/* Thread i of a block of at least NEWS_MAX threads sees to flag i. */
static __device__ __forceinline__ void news_tell(const gpu_news *s)
{
    if ((int)threadIdx.x < s->n) write_flag(s->to[threadIdx.x], s->value);
}

static __device__ __forceinline__ void signals_tell(const gpu_signals *s)
{
    if ((int)threadIdx.x < s->n) write_flag(s->to[threadIdx.x].flag, s->value);
}

static __device__ __forceinline__ void signals_await(const gpu_signals *s, const gpu_stall *stall)
{
    const int i = (int)threadIdx.x;
    if (i >= s->n) return;
    const signal_number start = nanoseconds();
    while (read_flag(s->to[i].flag) < s->value) {
        if (nanoseconds() - start > stall->patience || *(volatile int *)stall->broken) {
            give_up(stall, s->to[i].rank, s->to[i].slot);
            return;
        }
        __nanosleep(40);
    }
}

#endif
