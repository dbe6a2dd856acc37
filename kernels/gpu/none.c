#include "kernels/base/error.h"
#include "kernels/gpu/gpu.h"

#define ABSENT(...)                                                                                                    \
    {                                                                                                                  \
        REQUIRE(0, "this program was built without CUDA: use device = cpu, or build with nvcc in the path");           \
        __VA_ARGS__;                                                                                                   \
    }

int gpu_count(void)
{
    return 0;
}

const char *gpu_name(void)
{
    return "none";
}

void gpu_open(int index) ABSENT((void)index) void gpu_zero(void *p, size_t bytes)
    ABSENT((void)p, (void)bytes) void gpu_copy(void *to, place to_place, const void *from, place from_place,
                                               size_t bytes)
        ABSENT((void)to, (void)to_place, (void)from, (void)from_place, (void)bytes) const
    void *gpu_table(const void *host, size_t bytes)
        ABSENT((void)bytes;
               return host) int gpu_run(kernel_id id, precision prec, const void *args, const kernel_work *work)
            ABSENT((void)id, (void)prec, (void)args, (void)work; return 0) void gpu_time_begin(void)
                ABSENT() double gpu_time_end(void) ABSENT(return 0)

    /* With nothing started there is nothing to wait for or to forget. */
    void gpu_finish(void)
{
}

void gpu_forget(const void *host)
{
    (void)host;
}
