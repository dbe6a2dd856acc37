/* Copies between precisions and link storages, and moves of sites, on the device, by the formulas of
 * kernels/lattice/stored.h: the bits that the host would give. One thread a site and group. */
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/launch.cuh"

#define THREADS 128

/* The storage unit and group of thread i. */
static __device__ __forceinline__ long unit_and_group(int *group, long i, int groups)
{
    *group = (int)(i / LINEAR_BLOCK % groups);
    return i / LINEAR_BLOCK / groups * LINEAR_BLOCK + i % LINEAR_BLOCK;
}

/* Precisions and reals are literals, so that a group stays in registers; reals 0: as the fields say. */
template <int prec, int reals>
static __device__ __forceinline__ stored_field literal(stored_field f)
{
    f.prec = (precision)prec;
    f.lanes = 1;
    if (reals > 0) f.reals = reals;
    return f;
}

template <int to_prec, int from_prec, int to_reals, int from_reals>
static __global__ void convert_units(stored_field to, stored_field from, long units)
{
    gpu_begin();
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= units * from.groups) return;
    int group;
    const long unit = unit_and_group(&group, i, from.groups);
    to = literal<to_prec, to_reals>(to);
    from = literal<from_prec, from_reals>(from);
    stored_convert(&to, unit, 0, &from, unit, 0, group);
}

template <int to_prec, int from_prec, int reals>
static __global__ void add_units(stored_field to, double factor, stored_field from, long units)
{
    gpu_begin();
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= units * from.groups) return;
    int group;
    const long unit = unit_and_group(&group, i, from.groups);
    to = literal<to_prec, reals>(to);
    from = literal<from_prec, reals>(from);
    stored_add(&to, unit, 0, factor, &from, unit, 0, group);
}

static dim3 blocks_for(const stored_field *f, long units)
{
    return dim3((unsigned)((units * f->groups + THREADS - 1) / THREADS));
}

template <int to_prec, int from_prec>
static void convert_between(const stored_field *to, const stored_field *from, long units)
{
    auto kernel = convert_units<to_prec, from_prec, 0, 0>;
    if (to->reals == 24) kernel = convert_units<to_prec, from_prec, 24, 24>;
    if (to->reals == 36) kernel = convert_units<to_prec, from_prec, 36, 36>;
    if (to->reals == 6) kernel = convert_units<to_prec, from_prec, 6, 6>;
    if (to->reals == 12 && from->reals == 18) kernel = convert_units<to_prec, from_prec, 12, 18>;
    gpu_start(gpu_in_use(), kernel, blocks_for(from, units), THREADS, *to, *from, units);
    CUDA(cudaGetLastError());
}

template <int to_prec, int from_prec>
static void add_between(const stored_field *to, double factor, const stored_field *from, long units)
{
    auto kernel = to->reals == 24 ? add_units<to_prec, from_prec, 24> : add_units<to_prec, from_prec, 0>;
    if (to->reals == 6) kernel = add_units<to_prec, from_prec, 6>;
    gpu_start(gpu_in_use(), kernel, blocks_for(from, units), THREADS, *to, factor, *from, units);
    CUDA(cudaGetLastError());
}

#define FROM_EACH(what, to)                                                                                            \
    {                                                                                                                  \
        what<to, 0>, what<to, 1>, what<to, 2>, what<to, 3>                                                             \
    }
#define BETWEEN_ALL(what)                                                                                              \
    {                                                                                                                  \
        FROM_EACH(what, 0), FROM_EACH(what, 1), FROM_EACH(what, 2), FROM_EACH(what, 3)                                 \
    }

void gpu_convert(const stored_field *to, const stored_field *from, long units)
{
    static void (*const run[PREC_COUNT][PREC_COUNT])(const stored_field *, const stored_field *, long) =
        BETWEEN_ALL(convert_between);
    run[to->prec][from->prec](to, from, units);
}

void gpu_convert_add(const stored_field *to, double factor, const stored_field *from, long units)
{
    static void (*const run[PREC_COUNT][PREC_COUNT])(const stored_field *, double, const stored_field *, long) =
        BETWEEN_ALL(add_between);
    run[to->prec][from->prec](to, factor, from, units);
}

template <int prec, int reals>
static __global__ void move_sites(stored_field y, long first_y, stored_field x, long first_x, const stored_move *moves,
                                  long n, int signs)
{
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n * x.groups) return;
    x.prec = y.prec = (precision)prec;
    x.lanes = y.lanes = 1;
    if (reals > 0) x.reals = y.reals = reals;
    const stored_move m = moves[i % n];
    stored_move_group(&y, first_y, &x, first_x, &m, signs, (int)(i / n));
}

template <int prec>
static void move_in(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
                    long n, int signs, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n * x->groups + THREADS - 1) / THREADS);
    auto kernel = x->reals == 24 ? move_sites<prec, 24> : move_sites<prec, 0>;
    kernel<<<blocks, THREADS, 0, stream>>>(*y, first_y, *x, first_x, moves, n, signs);
    CUDA(cudaGetLastError());
}

void gpu_move(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
              long n, int signs, int aside)
{
    static void (*const run[PREC_COUNT])(const stored_field *, long, const stored_field *, long, const stored_move *,
                                         long, int, cudaStream_t) = {move_in<0>, move_in<1>, move_in<2>, move_in<3>};
    if (n == 0) return;
    run[x->prec](y, first_y, x, first_x, moves, n, signs, aside ? gpu_in_use()->side : gpu_main_stream());
}
