/* GPU kernels of family staggered with instances of their own: the hop, and those that make links and take derivatives back. */
#define OWN_staggered_hop , NO_INSTANCE
#define OWN_long_links , INSTANCE_PARTS
#define OWN_long_back , INSTANCE_PARTS
#define OWN_staples , INSTANCE_LINKS
#define OWN_staples_core , INSTANCE_LINKS
#define OWN_staples_sum , INSTANCE_LINKS
#define OWN_staple_sides , NO_INSTANCE

/* ---- the hop of staggered quarks ---- */

/* Caps of registers for one right-hand side and for parts of several, and threads of the blocks of these. Two parts side by side share
 * a pair of processors, to which links then come once. */
#define STAGGERED_CAP (PLAQ_PREC == 0 ? 200 : 128)
#define STAGGERED_PARTS_CAP (PLAQ_PREC == 0 ? 168 : 128)
#define STAGGERED_PARTS_THREADS (PLAQ_PREC >= 2 ? 256 : 64)

/* Literals of a variant; `faces`: some neighbours are on other ranks. */
template <bool faces>
static __device__ __forceinline__ void T(staggered_literals)(staggered_hop_args *b)
{
    if (PLAQ_PREC >= 2) __builtin_assume(b->in.scale != NULL);
    if (!faces) UNROLL for (int d = 0; d < 4; d++) b->g.split[d] = 0;
}

/* Hop of one right-hand side. */
template <int far_reals, bool faces>
static __global__ void __maxnreg__(STAGGERED_CAP)
    T(staggered_global)(const __grid_constant__ staggered_hop_args a, const int *list, long n,
                        const __grid_constant__ gpu_tile tile)
{
    gpu_begin();
    staggered_hop_args b = a; /* never in memory: it hands the literals to the inlined site function */
    T(staggered_literals)<faces>(&b);
    T(stencil) st;
    if (tile.on) {
        st = T(tile_stencil)(&tile, &b.g, b.parity, blockIdx.x, blockIdx.y, blockIdx.z);
    } else {
        const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        st = T(stencil_at)(&b.g, b.parity, list ? list[i] : i);
    }
    T(staggered_some)(&b, st, st.unit, 0, 1, far_reals);
}

/* Several right-hand sides in parts of `many`, which share the links; a thread that did them all in a loop would keep the places of
 * all neighbours in registers. */
template <int far_reals, bool faces, int many>
static __global__ void __maxnreg__(STAGGERED_PARTS_CAP)
    T(staggered_parts)(const __grid_constant__ staggered_hop_args a, const int *list, long n,
                       const __grid_constant__ gpu_sweep sweep)
{
    gpu_begin();
    staggered_hop_args b = a;
    T(staggered_literals)<faces>(&b);
    const int part = (int)(blockIdx.x % sweep.parts);
    T(stencil) st;
    if (sweep.columns.box.on) {
        st = T(sweep_stencil)(&sweep, &b.g, b.parity, threadIdx.x);
    } else {
        const long i = (long)(blockIdx.x / sweep.parts) * blockDim.x + threadIdx.x;
        if (i >= n) return;
        st = T(stencil_at)(&b.g, b.parity, list ? list[i] : i);
    }
    T(staggered_some)(&b, st, st.unit, part * many, many, far_reals);
}

template <int far_reals, bool faces>
static void T(staggered_start)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    const gpu_shape shape = gpu_shape_for(dev, HOP_THREADS);
    dim3 grid;
    gpu_tile tile = gpu_tile_for(&a->g, shape, &grid);
    if (list) tile.on = 0;
    if (!tile.on) grid = dim3((unsigned)((n + shape.threads - 1) / shape.threads));
    gpu_start(dev, T(staggered_global) < far_reals, faces >, grid, shape.threads, *a, list, n, tile);
}

template <int far_reals, bool faces, int many>
static void T(staggered_parts_start)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    const gpu_shape shape = gpu_shape_for(dev, STAGGERED_PARTS_THREADS);
    const unsigned parts = (unsigned)(a->in.groups / many);
    const double bytes = (double)sizeof(stored) * (6 * a->in.groups + 8 * (18 + far_reals));
    dim3 grid;
    gpu_sweep sweep = gpu_sweep_for(&a->g, shape, STAGGERED_PARTS_CAP, parts, bytes, &grid);
    if (list) sweep.columns.box.on = 0;
    const int threads = sweep.columns.box.on ? sweep.columns.box.threads : shape.threads;
    if (!sweep.columns.box.on) grid = dim3(parts * (unsigned)((n + threads - 1) / threads));
    gpu_start_near(dev, T(staggered_parts) < far_reals, faces, many >, grid, threads, 0, parts % 2 == 0 ? 2 : 1, *a,
                   list, n, sweep);
}

template <int far_reals, bool faces>
static void T(staggered_groups)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    if (a->in.groups == 1) T(staggered_start)<far_reals, faces>(dev, a, list, n);
    else if (a->in.groups % 4 == 0) T(staggered_parts_start)<far_reals, faces, 4>(dev, a, list, n);
    else if (a->in.groups % 2 == 0) T(staggered_parts_start)<far_reals, faces, 2>(dev, a, list, n);
    else T(staggered_parts_start)<far_reals, faces, 1>(dev, a, list, n);
}

template <int far_reals>
static void T(staggered_faces)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    if (a->exterior) T(staggered_groups)<far_reals, true>(dev, a, list, n);
    else T(staggered_groups)<far_reals, false>(dev, a, list, n);
}

void T(staggered_hop_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const staggered_hop_args *a = (const staggered_hop_args *)args;
    if (a->far_reals == 9) T(staggered_faces)<9>(dev, a, list, n);
    else if (a->far_reals == 13) T(staggered_faces)<13>(dev, a, list, n);
    else if (a->far_reals == 18) T(staggered_faces)<18>(dev, a, list, n);
    else T(staggered_faces)<0>(dev, a, list, n);
}

#if PLAQ_PREC == 0
#include "kernels/family/staple_sides.cuh"
#endif
