/* GPU backend of a build without CUDA: no devices. Whatever needs one is an internal error, and what may be asked of a user's
 * settings answers with a message. */
#include <stdio.h>

#include "kernels/base/error.h"
#include "kernels/gpu/gpu.h"

#define WITHOUT "this program was built without CUDA: build it with nvcc in the path"

/* Bodies of functions that are never reached. */
#define ABSENT(...)                                                                                                    \
    {                                                                                                                  \
        REQUIRE(0, WITHOUT);                                                                                           \
        __VA_ARGS__;                                                                                                   \
    }

/* ---- answers ---- */

int gpu_built_in(void)
{
    return 0;
}

int gpu_count(void)
{
    return 0;
}

void gpu_why_none(char *message, size_t size)
{
    snprintf(message, size, WITHOUT);
}

void gpu_fault(int error, const char *call, const char *file, int line, const char *function)
{
    error_stop(file, line, function, call, "error %d of CUDA, without CUDA", error);
}

int gpu_shape_count(void)
{
    return 0;
}

const char *gpu_name(void)
{
    return "none";
}

double gpu_memory(void)
{
    return 0;
}

size_t gpu_beside_pool_peak(void)
{
    return 0;
}

size_t gpu_context_bytes(void)
{
    return 0;
}

int gpu_bind(int share, char *message, size_t size)
{
    (void)share;
    snprintf(message, size, WITHOUT);
    return 1;
}

int gpu_transport_choose(const char *name, char *message, size_t size)
{
    (void)name;
    snprintf(message, size, WITHOUT);
    return 1;
}

const char *gpu_transport_number(int i)
{
    (void)i;
    return NULL;
}

const char *gpu_transport_name(void)
{
    return "none";
}

void gpu_exchange_counted(double *bytes, double *seconds)
{
    *bytes = *seconds = 0;
}

int gpu_exchange_can_fuse(void)
{
    return 0;
}

int gpu_sums_whole(void)
{
    return 0;
}

/* ---- with nothing started there is nothing to wait for or to close ---- */

void gpu_finish(void) {}

void gpu_transport_close(void) {}

void gpu_clock_collect(void) {}

/* ---- never reached ---- */

/* clang-format off */
void gpu_open(int index)
    ABSENT((void)index)

void gpu_fill(void *p, uint32_t word, size_t bytes)
    ABSENT((void)p, (void)word, (void)bytes)

void gpu_fill_stretches(void *p, size_t step, uint32_t word, size_t bytes, long n)
    ABSENT((void)p, (void)step, (void)word, (void)bytes, (void)n)

void gpu_copy(void *to, place to_place, const void *from, place from_place, size_t bytes)
    ABSENT((void)to, (void)to_place, (void)from, (void)from_place, (void)bytes)

void gpu_copy_stretches(void *to, place to_place, size_t to_step, const void *from, place from_place, size_t from_step,
                        size_t bytes, long n)
    ABSENT((void)to, (void)to_place, (void)to_step, (void)from, (void)from_place, (void)from_step, (void)bytes, (void)n)

void gpu_copy_aside(void *to, place to_place, const void *from, place from_place, size_t bytes)
    ABSENT((void)to, (void)to_place, (void)from, (void)from_place, (void)bytes)

void gpu_convert(const stored_field *to, stored_way way, double factor, const stored_field *from, long units)
    ABSENT((void)to, (void)way, (void)factor, (void)from, (void)units)

void gpu_move(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
              long n, int signs, int back, int aside)
    ABSENT((void)y, (void)first_y, (void)x, (void)first_x, (void)moves, (void)n, (void)signs, (void)back, (void)aside)

int gpu_clock_start(int aside)
    ABSENT((void)aside; return 0)

void gpu_clock_stop(int started, int aside, double weight, gpu_clock *of)
    ABSENT((void)started, (void)aside, (void)weight, (void)of)

void gpu_add_sums(kernel_id id, sum_ticket ticket, int n, exact_sum *sums)
    ABSENT((void)id, (void)ticket, (void)n, (void)sums)

void gpu_take_values(kernel_id id, sum_ticket ticket, int n, double *values)
    ABSENT((void)id, (void)ticket, (void)n, (void)values)

const double *gpu_sum_value(sum_ticket ticket)
    ABSENT((void)ticket; return NULL)

int gpu_run(kernel_id id, const field *like, const void *args, const struct kernel_work *work, sum_ticket *ticket)
    ABSENT((void)id, (void)like, (void)args, (void)work, (void)ticket; return 0)

void gpu_exchange_fuse(gpu_message *m, int n)
    ABSENT((void)m, (void)n)

void gpu_exchange_begin(const struct comm_group *group, gpu_message *m, int n)
    ABSENT((void)group, (void)m, (void)n)

void gpu_exchange_copies(const struct comm_group *group, gpu_message *m, int n, void *const *out)
    ABSENT((void)group, (void)m, (void)n, (void)out)

void gpu_exchange_start(gpu_message *m, int n)
    ABSENT((void)m, (void)n)

void gpu_exchange_finish(gpu_message *m, int n)
    ABSENT((void)m, (void)n)
