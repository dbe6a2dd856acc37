/* Copies between precisions and link storages, and moves of sites, on the device, by the formulas of
 * kernels/field/stored.h: the bits that the host would give. One thread a site and group. */
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/launch.cuh"

#define THREADS 128

/* Precisions and reals are literals, so that a group stays in registers; reals 0: as the fields say. */
template <int prec, int reals>
static __device__ __forceinline__ stored_field literal(stored_field f)
{
    f.prec = (precision)prec;
    f.lanes = 1;
    if (reals > 0) f.reals = reals;
    return f;
}

template <int way, int to_prec, int from_prec, int to_reals, int from_reals>
static __global__ void convert_units(stored_field to, double factor, stored_field from, long units)
{
    gpu_begin();
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= units * from.groups) return;
    const long unit = i / LINEAR_BLOCK / from.groups * LINEAR_BLOCK + i % LINEAR_BLOCK;
    const int group = (int)(i / LINEAR_BLOCK % from.groups);
    to = literal<to_prec, to_reals>(to);
    from = literal<from_prec, from_reals>(from);
    if (way == STORED_ADD) stored_add(&to, unit, 0, factor, &from, unit, 0, group);
    else stored_convert(&to, unit, 0, &from, unit, 0, group);
}

template <int way, int to_prec, int from_prec>
static void convert_between(const stored_field *to, double factor, const stored_field *from, long units)
{
    const dim3 blocks((unsigned)((units * from->groups + THREADS - 1) / THREADS));
    auto kernel = convert_units<way, to_prec, from_prec, 0, 0>;
    if (to->reals == 24) kernel = convert_units<way, to_prec, from_prec, 24, 24>;
    if (to->reals == 6) kernel = convert_units<way, to_prec, from_prec, 6, 6>;
    if (way == STORED_ADD && to->reals == 18) kernel = convert_units<STORED_ADD, to_prec, from_prec, 18, 18>;
    if (way == STORED_COPY && to->reals == 36) kernel = convert_units<STORED_COPY, to_prec, from_prec, 36, 36>;
    if (way == STORED_COPY && to->reals == 12 && from->reals == 18)
        kernel = convert_units<STORED_COPY, to_prec, from_prec, 12, 18>;
    gpu_start(gpu_in_use(), kernel, blocks, THREADS, *to, factor, *from, units);
    CUDA(cudaGetLastError());
}

#define FROM_EACH(way, to)                                                                                             \
    {                                                                                                                  \
        convert_between<way, to, 0>, convert_between<way, to, 1>, convert_between<way, to, 2>,                         \
            convert_between<way, to, 3>                                                                                \
    }
#define BETWEEN_ALL(way)                                                                                               \
    {                                                                                                                  \
        FROM_EACH(way, 0), FROM_EACH(way, 1), FROM_EACH(way, 2), FROM_EACH(way, 3)                                     \
    }

void gpu_convert(const stored_field *to, stored_way way, double factor, const stored_field *from, long units)
{
    static void (*const run[2][PREC_COUNT][PREC_COUNT])(const stored_field *, double, const stored_field *,
                                                        long) = {BETWEEN_ALL(STORED_COPY), BETWEEN_ALL(STORED_ADD)};
    if (units == 0) return; /* a rank outside of the lattice's group */
    run[way][to->prec][from->prec](to, factor, from, units);
}

template <int prec, int reals>
static __global__ void move_sites(stored_field y, long first_y, stored_field x, long first_x, const stored_move *moves,
                                  long n, int signs, int back)
{
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n * x.groups) return;
    x.prec = y.prec = (precision)prec;
    x.lanes = y.lanes = 1;
    if (reals > 0) x.reals = y.reals = reals;
    const stored_move m = back ? stored_move_back(&moves[i % n]) : moves[i % n];
    stored_move_group(&y, first_y, &x, first_x, &m, signs, (int)(i / n));
}

template <int prec>
static void move_in(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
                    long n, int signs, int back, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n * x->groups + THREADS - 1) / THREADS);
    auto kernel = x->reals == 24 ? move_sites<prec, 24> : x->reals == 6 ? move_sites<prec, 6> : move_sites<prec, 0>;
    kernel<<<blocks, THREADS, 0, stream>>>(*y, first_y, *x, first_x, moves, n, signs, back);
    CUDA(cudaGetLastError());
}

void gpu_move(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
              long n, int signs, int back, int aside)
{
    static void (*const run[PREC_COUNT])(const stored_field *, long, const stored_field *, long, const stored_move *,
                                         long, int, int, cudaStream_t) = {move_in<0>, move_in<1>, move_in<2>, move_in<3>};
    if (n == 0) return;
    run[x->prec](y, first_y, x, first_x, moves, n, signs, back, aside ? gpu_in_use()->side : gpu_main_stream());
}
