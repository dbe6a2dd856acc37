/* All kernels of one precision and one layout on the CPU. Compiled once for each PLAQ_PREC and PLAQ_SIMD; what comes
 * out is the table cpu_table of this instance, with null where a kernel does not come in this precision; nothing where
 * the CPU has no such vectors. */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <stddef.h>

#include "kernels/args.h"
#include "kernels/lattice/lanes.h"

#if PLAQ_SIMD == 0 || LANES_HAVE(PLAQ_SIMD)
#include "kernels/site/all.h"

#define INSTANCE(name, n)                                                                                              \
    static void T(name##_run)(const void *args, const int *list, long count, exact_sum *sums)                          \
    {                                                                                                                  \
        (void)sums;                                                                                                    \
        PARALLEL_FOR for (long i = 0; i < count; i++) T(name##_site)((const name##_args *)args, list ? list[i] : i);   \
    }

#define INSTANCE_SUM(name, n)                                                                                          \
    static void T(name##_run)(const void *args, const int *list, long count, exact_sum *sums)                          \
    {                                                                                                                  \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            vexact mine[n];                                                                                            \
            for (int k = 0; k < n; k++) T(exact_open)(&mine[k]);                                                       \
            FOR_NOWAIT for (long i = 0; i < count; i++)                                                                \
                T(name##_site)((const name##_args *)args, list ? list[i] : i, mine);                                   \
            for (int k = 0; k < n; k++) T(exact_flush)(&mine[k]);                                                      \
            CRITICAL                                                                                                   \
            {                                                                                                          \
                for (int k = 0; k < n; k++) {                                                                          \
                    mine[k].whole.broken |= mine[k].broken;                                                            \
                    exact_merge(&sums[k], &mine[k].whole);                                                             \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Fewer units than this take less time than waking the other threads. */
#define WORTH_SHARING 32

#define PARALLEL_FOR _Pragma("omp parallel for schedule(static) if (count >= WORTH_SHARING)")
#define PARALLEL _Pragma("omp parallel if (count >= WORTH_SHARING)")
#define FOR_NOWAIT _Pragma("omp for schedule(static) nowait")
#define CRITICAL _Pragma("omp critical(exact)")

#if PLAQ_PREC == 0
#define IF_DOUBLE(...) __VA_ARGS__
#else
#define IF_DOUBLE(...)
#endif
#define IF_ALL(...) __VA_ARGS__

#define KERNEL(name, precisions, ...) IF_##precisions(INSTANCE(name, 0))
#define KERNEL_SUM(name, sums, precisions, ...) IF_##precisions(INSTANCE_SUM(name, sums))
#include "kernels/kernels.def"
#undef KERNEL
#undef KERNEL_SUM

const cpu_runner T(cpu_table)[KERNEL_COUNT] = {
#define KERNEL(name, precisions, ...) IF_##precisions([KERNEL_##name] = T(name##_run), )
#define KERNEL_SUM(name, sums, precisions, ...) IF_##precisions([KERNEL_##name] = T(name##_run), )
#include "kernels/kernels.def"
#undef KERNEL
#undef KERNEL_SUM
};
#endif
