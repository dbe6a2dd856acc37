/* GPU kernels of family staggered with instances of their own: the hop, and those that make links and take derivatives back. */
#define OWN_staggered_hop , NO_INSTANCE
#define OWN_long_links , INSTANCE_PARTS
#define OWN_long_back , INSTANCE_PARTS
#define OWN_staples , INSTANCE_LINKS
#define OWN_staples_core , INSTANCE_LINKS
#define OWN_staples_sum , INSTANCE_LINKS
#define OWN_staple_sides , NO_INSTANCE

/* ---- the hop of staggered quarks ---- */

#define STAGGERED_CAP (PLAQ_PREC == 0 ? 200 : 128)

/* `faces`: some neighbours are on other ranks. A thread does `many` right-hand sides of a site; a loop over more would
 * keep the places of all neighbours in registers. */
template <int far_reals, bool faces, int many>
static __global__ void __maxnreg__(STAGGERED_CAP)
    T(staggered_global)(const __grid_constant__ staggered_hop_args a, const int *list, long n,
                        const __grid_constant__ gpu_tile tile)
{
    gpu_begin();
    unsigned part = 0, high = blockIdx.z;
    if (a.in.groups > many) {
        part = high / (unsigned)tile.high;
        high -= part * (unsigned)tile.high;
    }
    staggered_hop_args b = a; /* never in memory: it hands the literals to the inlined site function */
    if (PLAQ_PREC >= 2) __builtin_assume(b.in.scale != NULL);
    if (!faces) UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0;
    if (tile.on) {
        const T(stencil) st = T(tile_stencil)(&tile, &b.g, b.parity, blockIdx.x, blockIdx.y, high);
        T(staggered_some)(&b, st, st.unit, (int)part * many, many, far_reals);
    } else {
        const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        const T(stencil) st = T(stencil_at)(&b.g, b.parity, list ? list[i] : i);
        T(staggered_some)(&b, st, st.unit, (int)part * many, many, far_reals);
    }
}

template <int far_reals, bool faces, int many>
static void T(staggered_start)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    const gpu_shape shape = gpu_shape_for(dev, HOP_THREADS);
    dim3 grid;
    gpu_tile tile = gpu_tile_for(&a->g, shape, &grid);
    if (list) tile.on = 0;
    if (!tile.on) {
        grid = dim3((unsigned)((n + shape.threads - 1) / shape.threads));
        tile.high = 1;
    }
    grid.z *= (unsigned)(a->in.groups / many);
    auto kernel = T(staggered_global)<far_reals, faces, many>;
    gpu_start(dev, kernel, grid, shape.threads, *a, list, n, tile);
}

template <int far_reals, bool faces>
static void T(staggered_tiles)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    if (a->in.groups % 4 == 0) T(staggered_start)<far_reals, faces, 4>(dev, a, list, n);
    else if (a->in.groups % 2 == 0) T(staggered_start)<far_reals, faces, 2>(dev, a, list, n);
    else T(staggered_start)<far_reals, faces, 1>(dev, a, list, n);
}

template <int far_reals>
static void T(staggered_faces)(const gpu_device *dev, const staggered_hop_args *a, const int *list, long n)
{
    if (a->exterior) T(staggered_tiles)<far_reals, true>(dev, a, list, n);
    else T(staggered_tiles)<far_reals, false>(dev, a, list, n);
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
