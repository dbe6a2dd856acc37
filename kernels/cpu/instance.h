/* Runners of a family's kernels on the CPU (kernels/cpu/family.c.in, compiled once for each PLAQ_PREC and PLAQ_SIMD): lines of
 * its .def become T(name_run), for the table of cpu.c. */
#include <math.h>
#include <stddef.h>

#include "kernels/lattice/exact.h"

#define INSTANCE(name, n)                                                                                              \
    void T(name##_run)(const void *args, const int *list, long count, exact_sum *sums);                                \
    void T(name##_run)(const void *args, const int *list, long count, exact_sum *sums)                                 \
    {                                                                                                                  \
        (void)sums;                                                                                                    \
        PARALLEL_FOR for (long i = 0; i < count; i++) T(name##_site)((const name##_args *)args, list ? list[i] : i);   \
    }

#define INSTANCE_SUM(name, n)                                                                                          \
    void T(name##_run)(const void *args, const int *list, long count, exact_sum *sums);                                \
    void T(name##_run)(const void *args, const int *list, long count, exact_sum *sums)                                 \
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
#if PLAQ_PREC <= 1 && !PLAQ_SIMD
#define IF_ROWS(...) __VA_ARGS__
#else
#define IF_ROWS(...)
#endif

#define KERNEL(name, precisions, ...) IF_##precisions(INSTANCE(name, 0))
#define KERNEL_SUM(name, sums, precisions, ...) IF_##precisions(INSTANCE_SUM(name, sums))
#define KERNEL_DEVICE_BITS(name)
