/* All kernels of one precision on the GPU, one site a thread. Included once for each PLAQ_PREC (with PLAQ_SIMD 0); what
 * comes out is gpu_find of that precision.
 *
 * Registers decide speed, not occupancy: the cap of kernels.def, in double, and two thirds of it otherwise. Blocks are
 * small where the cap is high, so that whole blocks fill a processor's registers.
 *
 * The hop has variants with literal links, clover term and faces, without which the branches alone would cost
 * registers. Several right-hand sides are neighbouring blocks: they find each other's links in the second cache. */
#include "kernels/gpu/launch.cuh"

#include "kernels/args.h"
#include "kernels/site/all.h"

#if PLAQ_PREC == 0
#define CAP(registers) (registers)
#define IF_DOUBLE(...) __VA_ARGS__
#define OR_NULL_DOUBLE(x) x
#else
#define CAP(registers) ((registers)*2 / 3)
#define IF_DOUBLE(...)
#define OR_NULL_DOUBLE(x) NULL
#endif
#define IF_ALL(...) __VA_ARGS__
#define OR_NULL_ALL(x) x

#define THREADS(registers) (CAP(registers) > 128 ? 64 : BLOCK_MAX)

#define INSTANCE(name, registers)                                                                                      \
    static __global__ void __maxnreg__(CAP(registers))                                                                 \
        T(name##_global)(const __grid_constant__ name##_args a, const int *list, long n)                               \
    {                                                                                                                  \
        const long i = (long)blockIdx.x * THREADS(registers) + threadIdx.x;                                            \
        if (i < n) T(name##_site)(&a, list ? list[i] : i);                                                             \
    }                                                                                                                  \
    static void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                     \
    {                                                                                                                  \
        const unsigned blocks = (unsigned)((n + THREADS(registers) - 1) / THREADS(registers));                         \
        T(name##_global)<<<blocks, THREADS(registers), 0, dev->stream>>>(*(const name##_args *)args, list, n);         \
    }

#define INSTANCE_SUM(name, sums, registers)                                                                            \
    static __global__ void __maxnreg__(CAP(registers))                                                                 \
        T(name##_global)(const __grid_constant__ name##_args a, const int *list, long n, const gpu_device dev)         \
    {                                                                                                                  \
        vexact mine[sums];                                                                                             \
        UNROLL for (int k = 0; k < sums; k++) T(exact_open)(&mine[k]);                                                 \
        for (long i = (long)blockIdx.x * THREADS(registers) + threadIdx.x; i < n;                                      \
             i += (long)gridDim.x * THREADS(registers))                                                                \
            T(name##_site)(&a, list ? list[i] : i, mine);                                                              \
        exact_sum whole[sums];                                                                                         \
        UNROLL for (int k = 0; k < sums; k++)                                                                          \
        {                                                                                                              \
            T(exact_flush)(&mine[k]);                                                                                  \
            whole[k] = mine[k].whole;                                                                                  \
            whole[k].broken |= mine[k].broken;                                                                         \
        }                                                                                                              \
        gpu_grid_sum(whole, sums, dev.partial, dev.ticket, dev.result);                                                \
    }                                                                                                                  \
    static void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                     \
    {                                                                                                                  \
        static_assert(sums <= KERNEL_MAX_SUMS, "more sums than there is room for");                                    \
        static int resident;                                                                                           \
        const int blocks = gpu_sum_blocks(dev, (const void *)T(name##_global), &resident, THREADS(registers), n);      \
        T(name##_global)<<<blocks, THREADS(registers), 0, dev->stream>>>(*(const name##_args *)args, list, n, *dev);   \
    }

/* PICK takes its second argument: INSTANCE, unless OWN_name of a kernel with an instance of its own pushes in front. */
#define OWN_hop , NO_INSTANCE
#define NO_INSTANCE(name, registers)
#define PICK_(a, b, ...) b
#define PICK(...) PICK_(__VA_ARGS__)

#define KERNEL(name, precisions, flops, reads, writes, registers)                                                      \
    IF_##precisions(PICK(OWN_##name, INSTANCE, )(name, registers))
#define KERNEL_SUM(name, sums, precisions, flops, reads, writes, registers)                                            \
    IF_##precisions(INSTANCE_SUM(name, sums, registers))
#include "kernels/kernels.def"
#undef KERNEL
#undef KERNEL_SUM

/* ---- the hop ---- */

#define HOP_CAP (PLAQ_PREC == 0 ? 200 : 128) /* of 64 and 128 threads: five and four blocks */
#define HOP_THREADS (PLAQ_PREC == 0 ? 64 : 128)

template <int reals, bool clover, bool split>
static __global__ void __maxnreg__(HOP_CAP) T(hop_global)(const __grid_constant__ hop_args a, const int *list, long n)
{
    unsigned rhs = 0, block = blockIdx.x;
    if (a.in.groups > 1) {
        rhs = block % (unsigned)a.in.groups;
        block /= (unsigned)a.in.groups;
    }
    const long i = (long)block * HOP_THREADS + threadIdx.x;
    if (i >= n) return;
    hop_args b = a; /* never in memory: it hands the literals to the inlined site function */
    b.here.scale = b.there.scale = NULL;
    if (PLAQ_PREC >= 2) __builtin_assume(b.in.scale != NULL);
    if (!split) UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0;
    if (!clover) b.form = a.form == HOP_PLAIN ? HOP_PLAIN : HOP_ADD;
    const long u = list ? list[i] : i;
    T(hop_one)(&b, T(stencil_at)(&b.g, b.parity, u), u, (int)rhs, reals);
}

template <int reals>
static void T(hop_variant)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    int split = 0;
    for (int d = 0; d < 4; d++) split |= a->g.split[d];
    const bool clover = a->form != HOP_PLAIN && a->form != HOP_ADD;
    const unsigned blocks = (unsigned)((n + HOP_THREADS - 1) / HOP_THREADS * a->in.groups);
    auto kernel = split ? (clover ? T(hop_global) < reals, true, true > : T(hop_global) < reals, false, true >)
                        : (clover ? T(hop_global) < reals, true, false > : T(hop_global) < reals, false, false >);
    kernel<<<blocks, HOP_THREADS, 0, dev->stream>>>(*a, list, n);
}

static void T(hop_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const hop_args *a = (const hop_args *)args;
    if (a->link_reals == 18) T(hop_variant)<18>(dev, a, list, n);
    else if (a->link_reals == 8) T(hop_variant)<8>(dev, a, list, n);
    else T(hop_variant)<12>(dev, a, list, n);
}

gpu_launcher PASTE(gpu_find, SUFFIX_PREC)(kernel_id id)
{
    static const gpu_launcher launchers[KERNEL_COUNT] = {
#define KERNEL(name, precisions, ...) OR_NULL_##precisions(T(name##_launch)),
#define KERNEL_SUM(name, sums, precisions, ...) OR_NULL_##precisions(T(name##_launch)),
#include "kernels/kernels.def"
#undef KERNEL
#undef KERNEL_SUM
    };
    return launchers[id];
}
