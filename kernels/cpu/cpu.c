/* Kernels on the CPU: the table of runners, which kernels/cpu/instance.h makes family by family. */
#include "kernels/run/backend.h"

#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/lattice/lanes.h"

/* FOR_LAYOUTS(X, ...) is X(..., suffix) for each layout: linear, and vectors of the lanes, of a half or a quarter of
 * them, where the CPU has such. */
#define FOR_V1(X, ...) X(__VA_ARGS__, v1)
#if LANES_HAVE(2)
#define FOR_V2(X, ...) X(__VA_ARGS__, v2)
#else
#define FOR_V2(X, ...)
#endif
#if LANES_HAVE(4)
#define FOR_V4(X, ...) X(__VA_ARGS__, v4)
#else
#define FOR_V4(X, ...)
#endif
#define FOR_LAYOUTS(X, ...) X(__VA_ARGS__, l) FOR_V1(X, __VA_ARGS__) FOR_V2(X, __VA_ARGS__) FOR_V4(X, __VA_ARGS__)

#define FOR_DOUBLE(X, name) FOR_LAYOUTS(X, name, 0, d)
#define FOR_ALL(X, name)                                                                                               \
    FOR_LAYOUTS(X, name, 0, d) FOR_LAYOUTS(X, name, 1, s) FOR_LAYOUTS(X, name, 2, h) FOR_LAYOUTS(X, name, 3, q)
#define FOR_ROWS(X, name) X(name, 0, d, l) X(name, 1, s, l)

#define KERNEL_DEVICE_BITS(name)

#define DECLARE(name, prec, suffix, layout)                                                                            \
    void name##_run_##suffix##layout(const void *args, const int *list, long n, exact_sum *sums);
#define KERNEL(name, precisions, ...) FOR_##precisions(DECLARE, name)
#define KERNEL_SUM(name, sums, precisions, ...) FOR_##precisions(DECLARE, name)
#include "kernels/family/families.def"
#undef KERNEL
#undef KERNEL_SUM

enum { PARTS_l, PARTS_v1, PARTS_v2, PARTS_v4, LAYOUTS };

#define RUNNER(name, prec, suffix, layout) [KERNEL_##name][prec][PARTS_##layout] = name##_run_##suffix##layout,
#define KERNEL(name, precisions, ...) FOR_##precisions(RUNNER, name)
#define KERNEL_SUM(name, sums, precisions, ...) FOR_##precisions(RUNNER, name)
static const cpu_runner runners[KERNEL_COUNT][PREC_COUNT][LAYOUTS] = {
#include "kernels/family/families.def"
};

cpu_runner cpu_find(kernel_id id, precision prec, int lanes)
{
    static const int of_parts[5] = {[1] = PARTS_v1, [2] = PARTS_v2, [4] = PARTS_v4};
    const int full = prec == PREC_DOUBLE ? LANES_DOUBLE : LANES_SINGLE, parts = full / lanes;
    const int layout = lanes == 1 ? PARTS_l : parts <= 4 ? of_parts[parts] : PARTS_l;
    REQUIRE(lanes == 1 || layout != PARTS_l, "kernels of %d lanes", lanes);
    return runners[id][prec][layout];
}
