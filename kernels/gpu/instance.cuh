/* All kernels of one precision on the GPU, one site a thread, or one direction or plane there. Included once for each
 * PLAQ_PREC (with PLAQ_SIMD 0); what comes out is gpu_find of that precision.
 *
 * Registers decide speed, not occupancy: the cap of kernels.def, in double, and two thirds of it otherwise. Blocks are
 * small where the cap is high, so that whole blocks fill a processor's registers, unless sites share much of what they
 * read.
 *
 * The hop has variants with literal links, clover term and faces, without which the branches alone would cost
 * registers. Several right-hand sides share the link in a thread's registers (two-row links), MANY at a time; where that
 * cannot be, each is a sweep of its own. */
#include "kernels/gpu/launch.cuh"
#include "kernels/gpu/tile.cuh"

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

/* The site of a thread of a box. */
static __device__ __forceinline__ T(stencil) T(tile_thread)(const gpu_tile *t, const geom *g, int parity,
                                                            unsigned thread, unsigned block, unsigned z, unsigned high)
{
    T(stencil) s;
    gpu_tile_site(s.x, t, thread, block, z, high);
    s.unit = s.x[0] + s.x[1] * g->stride[1] + s.x[2] * g->stride[2] + s.x[3] * g->stride[3];
    s.x[0] = 2 * s.x[0] + ((s.x[1] + s.x[2] + s.x[3] + parity) & 1);
    return s;
}

/* A thread's site in its block's box. */
static __device__ __forceinline__ T(stencil)
    T(tile_stencil)(const gpu_tile *t, const geom *g, int parity, unsigned block, unsigned z, unsigned high)
{
    return T(tile_thread)(t, g, parity, threadIdx.x, block, z, high);
}

/* A thread's site in its block's box of both parities, even sites first. */
static __device__ __forceinline__ T(walker) T(column_walker)(const gpu_columns *c, const geom *g, unsigned x)
{
    unsigned box[2];
    const unsigned half = blockDim.x / 2, odd = threadIdx.x >= half;
    gpu_column_box(box, c, x, blockIdx.z);
    const T(stencil) s = T(tile_thread)(&c->box, g, (int)odd, threadIdx.x - odd * half, box[0], box[1], blockIdx.y);
    const T(walker) w = {{s.x[0], s.x[1], s.x[2], s.x[3]}, 40, s.unit, (int)odd};
    return w;
}

/* What a thread has summed. */
static __device__ __forceinline__ exact_sum T(exact_closed)(vexact *mine)
{
    T(exact_flush)(mine);
    exact_sum whole = mine->whole;
    whole.broken |= mine->broken;
    return whole;
}

#define INSTANCE(name, registers)                                                                                      \
    static __global__ void __maxnreg__(CAP(registers))                                                                 \
        T(name##_global)(const __grid_constant__ name##_args a, const int *list, long n)                               \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const long i = (long)blockIdx.x * THREADS(registers) + threadIdx.x;                                            \
        if (i < n) T(name##_site)(&a, list ? list[i] : i);                                                             \
    }                                                                                                                  \
    static void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                     \
    {                                                                                                                  \
        const unsigned blocks = (unsigned)((n + THREADS(registers) - 1) / THREADS(registers));                         \
        gpu_start(dev, T(name##_global), dim3(blocks), THREADS(registers), *(const name##_args *)args, list, n);       \
    }

#define INSTANCE_SUM(name, sums, registers)                                                                            \
    static __global__ void __maxnreg__(CAP(registers)) T(name##_global)(                                               \
        const __grid_constant__ name##_args a, const int *list, long n, const __grid_constant__ gpu_device dev)        \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        vexact mine[sums];                                                                                             \
        UNROLL for (int k = 0; k < sums; k++) T(exact_open)(&mine[k]);                                                 \
        for (long i = (long)blockIdx.x * THREADS(registers) + threadIdx.x; i < n;                                      \
             i += (long)gridDim.x * THREADS(registers))                                                                \
            T(name##_site)(&a, list ? list[i] : i, mine);                                                              \
        exact_sum whole[sums];                                                                                         \
        UNROLL for (int k = 0; k < sums; k++) whole[k] = T(exact_closed)(&mine[k]);                                    \
        gpu_grid_sum(whole, sums, &dev);                                                                               \
    }                                                                                                                  \
    static void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                     \
    {                                                                                                                  \
        static_assert(sums <= KERNEL_MAX_SUMS, "more sums than there is room for");                                    \
        static int resident;                                                                                           \
        const int blocks = gpu_sum_blocks(dev, (const void *)T(name##_global), &resident, THREADS(registers), n);      \
        gpu_start(dev, T(name##_global), dim3((unsigned)blocks), THREADS(registers), *(const name##_args *)args, list, \
                  n, *dev);                                                                                            \
    }

/* Runs T(what)(&a, g, home, ...) with literals that save the branches of what is elsewhere, where nothing within reach
 * is: in a kernel that is `whole`, and at sites away from the faces. */
#define NEAR_OR_ELSEWHERE(what, reach, whole, a, home, ...)                                                            \
    if (whole || T(far_from_faces)(&a.g, home, reach)) {                                                               \
        geom g = a.g; /* never in memory */                                                                            \
        UNROLL for (int d = 0; d < 4; d++) g.split[d] = 0;                                                             \
        T(what)(&a, &g, home, __VA_ARGS__);                                                                            \
    } else {                                                                                                           \
        T(what)(&a, &a.g, home, __VA_ARGS__);                                                                          \
    }

static inline bool T(is_split)(const geom *g)
{
    return g->split[0] || g->split[1] || g->split[2] || g->split[3];
}

/* The same for kernels of whole lattices that reach to neighbours and whose work falls into parts (T(name_part)): a
 * block does one part in a box of sites. Blocks are large for their cap, because their sites share what they read. */
#define INSTANCE_PARTS(name, registers)                                                                                \
    template <bool whole>                                                                                              \
    static __global__ void __maxnreg__(CAP(registers))                                                                 \
        T(name##_global)(const __grid_constant__ name##_args a, long n, const __grid_constant__ gpu_tile tile)         \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const unsigned x = blockIdx.x / PARTS_##name;                                                                  \
        const int part = (int)(blockIdx.x % PARTS_##name);                                                             \
        const long i = (long)x * blockDim.x + threadIdx.x;                                                             \
        T(walker) home;                                                                                                \
        if (tile.on) {                                                                                                 \
            const T(stencil) st = T(tile_stencil)(&tile, &a.g, a.parity, x, blockIdx.y, blockIdx.z);                   \
            home = {{st.x[0], st.x[1], st.x[2], st.x[3]}, 40, st.unit, a.parity};                                      \
        } else if (i < n) {                                                                                            \
            home = T(walk_from)(&a.g, a.parity, i);                                                                    \
        } else {                                                                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        NEAR_OR_ELSEWHERE(name##_part, REACH_##name, whole, a, home, part)                                             \
    }                                                                                                                  \
    static void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                     \
    {                                                                                                                  \
        const name##_args *a = (const name##_args *)args;                                                              \
        const gpu_shape shape = gpu_shape_for(dev, BLOCK_MAX);                                                         \
        dim3 grid((unsigned)((n + shape.threads - 1) / shape.threads));                                                \
        REQUIRE(!list, "a list for %s", #name);                                                                        \
        const gpu_tile tile = gpu_tile_for(&a->g, shape, &grid);                                                       \
        grid.x *= PARTS_##name;                                                                                        \
        gpu_start(dev, T(is_split)(&a->g) ? T(name##_global) < false > : T(name##_global) < true >, grid,              \
                  shape.threads, *a, n, tile);                                                                         \
    }

/* The same for kernels that make links (LINKS_SITE, T(name_link)): a block does one direction in a box of both
 * parities. */
#define INSTANCE_LINKS(name, registers)                                                                                \
    template <bool whole, int rows>                                                                                    \
    static __global__ void __maxnreg__(CAP(registers))                                                                 \
        T(name##_global)(const __grid_constant__ name##_args a, long n, const __grid_constant__ gpu_columns columns)   \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const unsigned x = blockIdx.x / 4;                                                                             \
        const long i = (long)x * blockDim.x + threadIdx.x;                                                             \
        T(walker) home;                                                                                                \
        if (columns.box.on) home = T(column_walker)(&columns, &a.g, x);                                                \
        else if (i < n) home = T(walk_both)(&a.g, i, a.chunk);                                                         \
        else return;                                                                                                   \
        NEAR_OR_ELSEWHERE(name##_link, REACH_##name, whole, a, home, (int)(blockIdx.x % 4), rows)                      \
    }                                                                                                                  \
    static void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                     \
    {                                                                                                                  \
        const name##_args *a = (const name##_args *)args;                                                              \
        const gpu_shape shape = gpu_shape_for(dev, BLOCK_MAX);                                                         \
        dim3 grid(4 * (unsigned)((n + shape.threads - 1) / shape.threads));                                            \
        REQUIRE(!list, "a list for %s", #name);                                                                        \
        const gpu_columns columns = gpu_columns_for(&a->g, shape, 4, &grid);                                           \
        auto kernel = T(name##_global)<true, 3>;                                                                       \
        if (a->special) kernel = T(name##_global)<true, 2>;                                                            \
        if (T(is_split)(&a->g)) kernel = a->special ? T(name##_global)<false, 2> : T(name##_global)<false, 3>;         \
        gpu_start(dev, kernel, grid, shape.threads, *a, n, columns);                                                   \
    }

/* PICK takes its second argument: INSTANCE, unless OWN_name of a kernel with an instance of its own pushes in front. */
#define OWN_hop , NO_INSTANCE
#define OWN_staggered_hop , NO_INSTANCE
#define OWN_gauge_force , INSTANCE_PARTS
#define OWN_parallelogram_force , INSTANCE_PARTS
#define OWN_clover_force , INSTANCE_PARTS
#define OWN_field_strength , INSTANCE_PARTS
#define OWN_long_links , INSTANCE_PARTS
#define OWN_long_back , INSTANCE_PARTS
#define OWN_staples , INSTANCE_LINKS
#define OWN_staples_core , INSTANCE_LINKS
#define OWN_staples_sum , INSTANCE_LINKS
#define OWN_staple_sides , NO_INSTANCE
#define OWN_multi_dot , NO_INSTANCE
#define OWN_block_dots , NO_INSTANCE
#define NO_INSTANCE(...)
#define PICK_(a, b, ...) b
#define PICK(...) PICK_(__VA_ARGS__)

#define KERNEL(name, precisions, flops, reads, writes, registers)                                                      \
    IF_##precisions(PICK(OWN_##name, INSTANCE, )(name, registers))
#define KERNEL_SUM(name, sums, precisions, flops, reads, writes, registers)                                            \
    IF_##precisions(PICK(OWN_##name, INSTANCE_SUM, )(name, sums, registers))
#include "kernels/kernels.def"
#undef KERNEL
#undef KERNEL_SUM

#include "kernels/gpu/instance_sums.cuh"
#if PLAQ_PREC == 0
#include "kernels/gpu/instance_sides.cuh"
#endif

/* ---- the hop ---- */

/* Caps for one right-hand side a thread (blocks a processor: five of 64 threads in double; of 128, four in single and
 * five below) and for MANY. */
#define HOP_CAP (PLAQ_PREC == 0 ? 200 : PLAQ_PREC == 1 ? 128 : 96)
#define HOP_THREADS (PLAQ_PREC == 0 ? 64 : 128)
#define MANY HOP_SHARERS(PLAQ_PREC)
#define MANY_CAP (PLAQ_PREC == 0 ? 255 : 208)
#define MANY_THREADS 64

static __device__ __forceinline__ void T(skip_spinors)(view *v, int n)
{
    v->data = (stored *)v->data + n * 24 * LINEAR_BLOCK;
    if (v->scale) v->scale += n * LINEAR_BLOCK;
}

/* A hop's right-hand sides from number n on as if they were all: a literal zero for the first of them saves a thread
 * what its number costs at each address. */
static __device__ __forceinline__ void T(hop_skip)(hop_args *a, int n)
{
    T(skip_spinors)(&a->in, n);
    T(skip_spinors)(&a->out, n);
    T(skip_spinors)(&a->x, n);
    a->ghost_first = n;
}

/* Where a hop's neighbours are: all on this rank, some on others, or none beyond the block. */
enum { HOP_WHOLE, HOP_SPLIT, HOP_CUT };

template <int reals, bool clover, int reach, int sign, int many>
static __global__ void __maxnreg__(many > 1 ? MANY_CAP : HOP_CAP)
    T(hop_global)(const __grid_constant__ hop_args a, const int *list, long n, const __grid_constant__ gpu_tile tile)
{
    gpu_begin();
    constexpr bool split = reach == HOP_SPLIT, cut = reach == HOP_CUT;
    hop_args b = a; /* never in memory: it hands the literals to the inlined site function */
    unsigned high = blockIdx.z;
    if (a.in.groups > many) {
        const unsigned part = high / (unsigned)tile.high;
        high -= part * (unsigned)tile.high;
        T(hop_skip)(&b, (int)part * many);
    }
    b.here.scale = b.there.scale = NULL;
    b.sign = sign;
    if (PLAQ_PREC >= 2) __builtin_assume(b.in.scale != NULL);
    if (!split) UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0;
    if (!clover) b.form = a.form == HOP_PLAIN ? HOP_PLAIN : HOP_ADD;
    if (tile.on) {
        const T(stencil) st = T(tile_stencil)(&tile, &b.g, b.parity, blockIdx.x, blockIdx.y, high);
        if (split && T(at_face)(&a.g, st)) return;
        UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0; /* no branches for what comes from elsewhere */
        T(hop_some)(&b, st, st.unit, 0, many, reals, cut);
    } else {
        const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        const T(stencil) st = T(stencil_at)(&b.g, b.parity, list ? list[i] : i);
        T(hop_some)(&b, st, st.unit, 0, many, reals, cut);
    }
}

/* Tiles cover the whole box, so with faces they serve the interior, whose list they need not read. */
template <int reals, bool clover, int reach, int sign, int many>
static void T(hop_start)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    const gpu_shape shape = gpu_shape_for(dev, many > 1 ? MANY_THREADS : HOP_THREADS);
    const int threads = shape.threads, parts = a->in.groups / many;
    dim3 grid;
    gpu_tile tile = gpu_tile_for(&a->g, shape, &grid);
    if (list && !a->interior) tile.on = 0;
    if (!tile.on) {
        grid = dim3((unsigned)((n + threads - 1) / threads));
        tile.high = 1;
    }
    grid.z *= (unsigned)parts;
    gpu_start(dev, T(hop_global) < reals, clover, reach, sign, many >, grid, threads, *a, list, n, tile);
}

/* The hop of a rank with faces as one kernel: blocks that pack and send come first (see transport_peer.cu), one in
 * 2^apart so long as there are some, among and before boxes of sites in the order of gpu_rim; those that touch a face
 * wait for what arrives. Where that leaves too little to do meanwhile, the boxes leave out the sites at faces, and the
 * last blocks do these by their list. One right-hand side along the grid's y. */
template <int reals, bool clover, int sign>
static __global__ void __maxnreg__(HOP_CAP)
    T(hop_fused)(const __grid_constant__ hop_args a, const int *exterior, const __grid_constant__ hop_pack_args pack,
                 const __grid_constant__ gpu_fusion f, const __grid_constant__ gpu_tile tile, unsigned packs,
                 unsigned apart, const __grid_constant__ dim3 tiles, const __grid_constant__ gpu_rim rim)
{
    gpu_begin();
    unsigned block = blockIdx.x;
    hop_args b = a;
    b.here.scale = b.there.scale = NULL;
    b.sign = sign;
    if (PLAQ_PREC >= 2) __builtin_assume(b.in.scale != NULL);
    if (!clover) b.form = a.form == HOP_PLAIN ? HOP_PLAIN : HOP_ADD;
    if (gridDim.y > 1) T(hop_skip)(&b, (int)blockIdx.y);
    /* Packing blocks stand apart, so that others compute while what they store is on its way. */
    const bool packing = block < packs << apart && block % (1u << apart) == 0;
    block -= packing ? block - (block >> apart) : block < packs << apart ? (block >> apart) + 1 : packs;
    if (packing) {
        if (blockIdx.y > 0) return;
        if (block == 0) news_tell(&f.read);
        signals_await(&f.room, &f.stall);
        __syncthreads();
        const long i = (long)block * blockDim.x + threadIdx.x;
        if (i < pack.start[pack.faces]) T(hop_pack_item)(&pack, i, sign, reals);
        __shared__ int last;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system(); /* behind the barrier, for all who have stored */
            last = atomicInc(f.ticket, packs - 1) == packs - 1;
            __threadfence_system();
        }
        __syncthreads();
        if (last) signals_tell(&f.sent);
        return;
    }
    T(stencil) st;
    int touched = 0; /* faces that some of the block's sites may be at */
    bool mine = true;
    const unsigned inside = tiles.x * tiles.y * tiles.z;
    if (rim.on) {
        unsigned box[4];
        touched = gpu_rim_box(box, &rim, block);
        st = T(tile_stencil)(&tile, &b.g, b.parity, box[0] + rim.across * box[1], box[2], box[3]);
    } else if (block < inside) {
        if (tile.on) {
            const unsigned x = block % tiles.x, rest = block / tiles.x;
            st = T(tile_stencil)(&tile, &b.g, b.parity, x, rest % tiles.y, rest / tiles.y);
        } else {
            const unsigned i = block * blockDim.x + threadIdx.x;
            if (i >= (unsigned)b.g.stride[3] * (unsigned)b.g.sub[3]) return;
            st = T(stencil_at)(&b.g, b.parity, i);
        }
        if (T(at_face)(&a.g, st)) return;
    } else {
        const unsigned i = (block - inside) * blockDim.x + threadIdx.x;
        touched = 15;
        mine = i < (unsigned)a.exterior;
        st = T(stencil_at)(&b.g, b.parity, exterior[mine ? i : 0]);
    }
    if (touched) {
        signals_await(&f.arrived, &f.stall);
        __syncthreads();
    }
    /* A literal zero saves the branches of a direction, over which the compiler moves no load. */
    if (touched == 0) {
        UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0;
        T(hop_some)(&b, st, st.unit, 0, 1, reals, 0);
    } else if (touched == 8) {
        UNROLL for (int d = 0; d < 3; d++) b.g.split[d] = 0;
        T(hop_some)(&b, st, st.unit, 0, 1, reals, 0);
    } else if (touched == 4) {
        UNROLL for (int d = 0; d < 4; d++) if (d != 2) b.g.split[d] = 0;
        T(hop_some)(&b, st, st.unit, 0, 1, reals, 0);
    } else if (mine) {
        T(hop_some)(&b, st, st.unit, 0, 1, reals, 0);
    }
}

template <int reals, bool clover>
static void T(hop_fused_start)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    const hop_pack_args *pack = (const hop_pack_args *)dev->pack;
    dim3 tiles;
    const gpu_shape shape = gpu_shape_for(dev, HOP_THREADS);
    const int threads = shape.threads;
    const gpu_tile tile = gpu_tile_for(&a->g, shape, &tiles);
    if (!tile.on) tiles = dim3((unsigned)((n + threads - 1) / threads));
    const unsigned packs = (unsigned)((pack->start[pack->faces] + threads - 1) / threads);
    const gpu_rim rim = gpu_rim_for(dev, &a->g, &tile, tiles);
    /* All is packed in the first half of what needs no message. */
    unsigned apart = 0;
    while (rim.on && apart < 2 && packs << (apart + 2) <= rim.early) apart++;
    const unsigned outside = rim.on ? 0 : (unsigned)((a->exterior + threads - 1) / threads);
    const dim3 grid(packs + tiles.x * tiles.y * tiles.z + outside, (unsigned)a->in.groups);
    auto kernel = a->sign > 0 ? T(hop_fused)<reals, clover, 1> : T(hop_fused)<reals, clover, -1>;
    gpu_start(dev, kernel, grid, threads, *a, list, *pack, *dev->fusion, tile, packs, apart, tiles, rim);
}

template <int reals, bool clover, int reach, int many>
static void T(hop_signed)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    if (a->sign > 0) T(hop_start)<reals, clover, reach, 1, many>(dev, a, list, n);
    else T(hop_start)<reals, clover, reach, -1, many>(dev, a, list, n);
}

template <int reals, int reach, int many>
static void T(hop_variant)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    if (a->form != HOP_PLAIN && a->form != HOP_ADD) T(hop_signed)<reals, true, reach, many>(dev, a, list, n);
    else T(hop_signed)<reals, false, reach, many>(dev, a, list, n);
}

template <int reals, int many>
static void T(hop_reach)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    if (T(is_split)(&a->g)) T(hop_variant)<reals, HOP_SPLIT, many>(dev, a, list, n);
    else T(hop_variant)<reals, HOP_WHOLE, many>(dev, a, list, n);
}

static void T(hop_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const hop_args *a = (const hop_args *)args;
    if (dev->pack) {
        const bool clover = a->form != HOP_PLAIN && a->form != HOP_ADD;
        auto start = a->link_reals == 18
                         ? (clover ? T(hop_fused_start) < 18, true > : T(hop_fused_start) < 18, false >)
                         : (clover ? T(hop_fused_start) < 12, true > : T(hop_fused_start) < 12, false >);
        start(dev, a, list, n);
        return;
    }
    const bool many = a->in.groups % MANY == 0;
    if (a->block[0] > 0 && a->link_reals == 18) T(hop_variant)<18, HOP_CUT, 1>(dev, a, list, n);
    else if (a->block[0] > 0 && a->link_reals == 8) T(hop_variant)<8, HOP_CUT, 1>(dev, a, list, n);
    else if (a->block[0] > 0) T(hop_variant)<12, HOP_CUT, 1>(dev, a, list, n);
    else if (a->link_reals == 18) T(hop_reach)<18, 1>(dev, a, list, n);
    else if (a->link_reals == 8) T(hop_reach)<8, 1>(dev, a, list, n);
    else if (many) T(hop_reach)<12, MANY>(dev, a, list, n);
    else T(hop_reach)<12, 1>(dev, a, list, n);
}

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

static void T(staggered_hop_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const staggered_hop_args *a = (const staggered_hop_args *)args;
    if (a->far_reals == 9) T(staggered_faces)<9>(dev, a, list, n);
    else if (a->far_reals == 13) T(staggered_faces)<13>(dev, a, list, n);
    else if (a->far_reals == 18) T(staggered_faces)<18>(dev, a, list, n);
    else T(staggered_faces)<0>(dev, a, list, n);
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
