/* GPU kernels of family wilson with instances of their own: the hop, and sums over Schwarz blocks.
 *
 * The hop has variants with literal links, clover term and faces, without which the branches alone would cost
 * registers. Several right-hand sides go in parts of MANY, which share the link in a thread's registers; the parts of a box of sites
 * share it in the second cache (gpu_sweep of kernels/gpu/tile.cuh). What is left over is done one by one. */
#define OWN_hop , NO_INSTANCE
#define OWN_hop_doublet , NO_INSTANCE
#define OWN_block_dots , NO_INSTANCE
#define OWN_block_cg_dots , NO_INSTANCE

/* ---- the hop ---- */

/* Right-hand sides of a part, its cap of registers, and threads of its blocks; the same of doublets. In half precision blocks of two
 * parts side by side share a pair of processors, to which links then come once. */
#define MANY (PLAQ_PREC == 0 ? 1 : PLAQ_PREC == 1 ? 2 : 3)
#define MANY_CAP 168
#define MANY_THREADS 128
#define MANY_NEAR (PLAQ_PREC >= 2 ? 2 : 1)
#define DOUBLET_CAP (PLAQ_PREC == 0 ? 255 : 208)
#define DOUBLET_THREADS 64

static __host__ __device__ __forceinline__ void T(skip_spinors)(view *v, int n)
{
    v->data = (stored *)v->data + n * 24 * LINEAR_BLOCK;
    if (v->scale) v->scale += n * LINEAR_BLOCK;
}

/* A hop's right-hand sides from number n on as if they were all: a literal zero for the first of them saves a thread
 * what its number costs at each address. */
static __host__ __device__ __forceinline__ void T(hop_skip)(hop_args *a, int n)
{
    T(skip_spinors)(&a->in, n);
    T(skip_spinors)(&a->out, n);
    T(skip_spinors)(&a->x, n);
    a->ghost_first += n;
}

/* Site-diagonal matrix of a hop: none, a clover term, one with i mu gamma_5, or that of a doublet. */
enum { HOP_BARE, HOP_CLOVERED, HOP_TWISTED, HOP_DOUBLET };

static int T(hop_matrix)(const hop_args *a)
{
    if (a->form == HOP_PLAIN || a->form == HOP_ADD) return HOP_BARE;
    return a->mu == 0 ? HOP_CLOVERED : HOP_TWISTED;
}

/* Literals of that matrix for the site function. */
template <int matrix>
static __device__ __forceinline__ void T(hop_matrix_literals)(hop_args *b, int form)
{
    if (matrix == HOP_BARE) b->form = form == HOP_PLAIN ? HOP_PLAIN : HOP_ADD;
    if (matrix < HOP_TWISTED) b->mu = 0;
    if (matrix == HOP_TWISTED) __builtin_assume(b->mu != 0);
}

template <int matrix, int many>
static __device__ __forceinline__ void T(hop_of)(const hop_args *a, T(stencil) st, int reals, int cut)
{
    if (matrix == HOP_DOUBLET) T(hop_doublet_some)(a, st, st.unit, 0, reals, cut);
    else T(hop_some)(a, st, st.unit, 0, many, reals, cut);
}

/* Neighbours of a hop: all on this rank, some on others, or none beyond the block. */
enum { HOP_WHOLE, HOP_SPLIT, HOP_CUT };

/* Literals of a variant. */
template <int matrix, int reach, int sign>
static __device__ __forceinline__ void T(hop_literals)(hop_args *b, int form)
{
    b->here.scale = b->there.scale = NULL;
    b->sign = sign;
    if (PLAQ_PREC >= 2) __builtin_assume(b->in.scale != NULL);
    if (reach != HOP_SPLIT) UNROLL for (int d = 0; d < 4; d++) b->g.split[d] = 0;
    T(hop_matrix_literals)<matrix>(b, form);
}

/* The hop at a site of a box, or of memory's order. Boxes leave sites at faces to others, and need no branches for what comes from
 * elsewhere. */
template <int reals, int matrix, int reach, int many>
static __device__ __forceinline__ void T(hop_at)(hop_args *b, T(stencil) st, int box)
{
    if (reach == HOP_SPLIT && box) {
        if (T(at_face)(&b->g, st)) return;
        UNROLL for (int d = 0; d < 4; d++) b->g.split[d] = 0;
        T(hop_of)<matrix, many>(b, st, reals, 0);
    } else {
        T(hop_of)<matrix, many>(b, st, reals, reach == HOP_CUT);
    }
}

/* Hop of one right-hand side. */
template <int reals, int matrix, int reach, int sign>
static __global__ void __maxnreg__(HOP_CAP)
    T(hop_global)(const __grid_constant__ hop_args a, const int *list, long n, const __grid_constant__ gpu_tile tile)
{
    gpu_begin();
    hop_args b = a; /* never in memory: it hands the literals to the inlined site function */
    T(hop_literals)<matrix, reach, sign>(&b, a.form);
    T(stencil) st;
    if (tile.on) {
        st = T(tile_stencil)(&tile, &b.g, b.parity, blockIdx.x, blockIdx.y, blockIdx.z);
    } else {
        const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        st = T(stencil_at)(&b.g, b.parity, list ? list[i] : i);
    }
    T(hop_at)<reals, matrix, reach, 1>(&b, st, tile.on);
}

/* Tiles cover the whole box, so with faces they serve the interior, whose list they need not read. */
template <int reals, int matrix, int reach, int sign>
static void T(hop_start)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    const gpu_shape shape = gpu_shape_for(dev, HOP_THREADS);
    dim3 grid;
    gpu_tile tile = gpu_tile_for(&a->g, shape, &grid);
    if (list && !a->interior) tile.on = 0;
    if (!tile.on) grid = dim3((unsigned)((n + shape.threads - 1) / shape.threads));
    gpu_start(dev, T(hop_global) < reals, matrix, reach, sign >, grid, shape.threads, *a, list, n, tile);
}

/* Several right-hand sides in parts of `many`. */
template <int reals, int matrix, int reach, int sign, int many>
static __global__ void __maxnreg__(matrix == HOP_DOUBLET ? DOUBLET_CAP : MANY_CAP)
    T(hop_parts)(const __grid_constant__ hop_args a, const int *list, long n, const __grid_constant__ gpu_sweep sweep)
{
    gpu_begin();
    hop_args b = a; /* never in memory: it hands the literals to the inlined site function */
    T(hop_literals)<matrix, reach, sign>(&b, a.form);
    const int box = sweep.columns.box.on;
    T(stencil) st;
    if (box) {
        st = T(sweep_stencil)(&sweep, &b.g, b.parity, threadIdx.x);
    } else {
        const long i = (long)(blockIdx.x / sweep.parts) * blockDim.x + threadIdx.x;
        if (i >= n) return;
        st = T(stencil_at)(&b.g, b.parity, list ? list[i] : i);
    }
    T(hop_skip)(&b, (int)(blockIdx.x % sweep.parts) * many);
    T(hop_at)<reals, matrix, reach, many>(&b, st, box);
}

template <int reals, int matrix, int reach, int sign, int many>
static void T(hop_parts_start)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    constexpr bool doublet = matrix == HOP_DOUBLET;
    const gpu_shape shape = gpu_shape_for(dev, doublet ? DOUBLET_THREADS : MANY_THREADS);
    const unsigned parts = (unsigned)(a->in.groups / many);
    const double bytes = (double)sizeof(stored) * (24 * a->in.groups + 8 * reals);
    dim3 grid;
    gpu_sweep sweep = gpu_sweep_for(&a->g, shape, doublet ? DOUBLET_CAP : MANY_CAP, parts, bytes, &grid);
    if (list && !a->interior) sweep.columns.box.on = 0;
    const int threads = sweep.columns.box.on ? sweep.columns.box.threads : shape.threads;
    if (!sweep.columns.box.on) grid = dim3(parts * (unsigned)((n + threads - 1) / threads));
    gpu_start_near(dev, T(hop_parts) < reals, matrix, reach, sign, many >, grid, threads, 0,
                   parts % MANY_NEAR == 0 ? MANY_NEAR : 1, *a, list, n, sweep);
}

/* The hop of a rank with faces as one kernel: blocks that pack and send come first (see transport_peer.cu), one in
 * 2^apart so long as there are some, among and before boxes of sites in the order of gpu_rim; those that touch a face
 * wait for what arrives. Where that leaves too little to do meanwhile, the boxes leave out the sites at faces, and the
 * last blocks do these by their list. One right-hand side along the grid's y. */
template <int reals, int matrix, int sign>
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
    T(hop_matrix_literals)<matrix>(&b, a.form);
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

template <int reals, int matrix>
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
    /* Packing blocks stand within the first half of those that need no message. */
    unsigned apart = 0;
    while (rim.on && apart < 2 && packs << (apart + 2) <= rim.early) apart++;
    const unsigned outside = rim.on ? 0 : (unsigned)((a->exterior + threads - 1) / threads);
    const dim3 grid(packs + tiles.x * tiles.y * tiles.z + outside, (unsigned)a->in.groups);
    auto kernel = a->sign > 0 ? T(hop_fused)<reals, matrix, 1> : T(hop_fused)<reals, matrix, -1>;
    gpu_start(dev, kernel, grid, threads, *a, list, *pack, *dev->fusion, tile, packs, apart, tiles, rim);
}

/* Hop of all right-hand sides, `many` at a time as far as that goes. */
template <int reals, int matrix, int reach, int sign, int many>
static void T(hop_all)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    const int groups = a->in.groups, single = groups == 1 ? 1 : groups % many;
    hop_args b = *a;
    b.in.groups = groups - single;
    if (b.in.groups > 0) T(hop_parts_start)<reals, matrix, reach, sign, many>(dev, &b, list, n);
    T(hop_skip)(&b, b.in.groups);
    for (int k = 0; k < single; k++) {
        if (k > 0) T(hop_skip)(&b, 1);
        T(hop_start)<reals, matrix, reach, sign>(dev, &b, list, n);
    }
}

template <int reals, int matrix, int reach>
static void T(hop_signed)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    /* Hops inside blocks are a small part of a solve, and their code is long. */
    constexpr int many = reach == HOP_CUT ? 1 : MANY;
    if (a->sign > 0) T(hop_all)<reals, matrix, reach, 1, many>(dev, a, list, n);
    else T(hop_all)<reals, matrix, reach, -1, many>(dev, a, list, n);
}

template <int reals, int reach>
static void T(hop_variant)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    const int matrix = T(hop_matrix)(a);
    if (matrix == HOP_TWISTED) T(hop_signed)<reals, HOP_TWISTED, reach>(dev, a, list, n);
    else if (matrix == HOP_CLOVERED) T(hop_signed)<reals, HOP_CLOVERED, reach>(dev, a, list, n);
    else T(hop_signed)<reals, HOP_BARE, reach>(dev, a, list, n);
}

template <int reals>
static void T(hop_reach)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    if (a->block[0] != 0) T(hop_variant)<reals, HOP_CUT>(dev, a, list, n);
    else if (T(is_split)(&a->g)) T(hop_variant)<reals, HOP_SPLIT>(dev, a, list, n);
    else T(hop_variant)<reals, HOP_WHOLE>(dev, a, list, n);
}

void T(hop_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const hop_args *a = (const hop_args *)args;
    if (dev->pack) {
        const int matrix = T(hop_matrix)(a);
        auto start = a->link_reals == 18 ? (matrix == HOP_TWISTED ? T(hop_fused_start) < 18,
                                            HOP_TWISTED > : matrix == HOP_CLOVERED ? T(hop_fused_start) < 18,
                                            HOP_CLOVERED > : T(hop_fused_start) < 18, HOP_BARE >)
                                         : (matrix == HOP_TWISTED ? T(hop_fused_start) < 12,
                                            HOP_TWISTED > : matrix == HOP_CLOVERED ? T(hop_fused_start) < 12,
                                            HOP_CLOVERED > : T(hop_fused_start) < 12, HOP_BARE >);
        start(dev, a, list, n);
        return;
    }
    if (a->link_reals == 18) T(hop_reach)<18>(dev, a, list, n);
    else T(hop_reach)<12>(dev, a, list, n);
}

/* A thread does both flavours of a doublet. */
template <int reals, int reach>
static void T(hop_doublet_signed)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    if (a->sign > 0) T(hop_parts_start)<reals, HOP_DOUBLET, reach, 1, 2>(dev, a, list, n);
    else T(hop_parts_start)<reals, HOP_DOUBLET, reach, -1, 2>(dev, a, list, n);
}

template <int reals>
static void T(hop_doublet_reach)(const gpu_device *dev, const hop_args *a, const int *list, long n)
{
    if (a->block[0] != 0) T(hop_doublet_signed)<reals, HOP_CUT>(dev, a, list, n);
    else if (T(is_split)(&a->g)) T(hop_doublet_signed)<reals, HOP_SPLIT>(dev, a, list, n);
    else T(hop_doublet_signed)<reals, HOP_WHOLE>(dev, a, list, n);
}

void T(hop_doublet_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const hop_args *a = (const hop_args *)args;
    if (a->link_reals == 18) T(hop_doublet_reach)<18>(dev, a, list, n);
    else T(hop_doublet_reach)<12>(dev, a, list, n);
}

/* ---- sums over blocks ---- */

/* Deposits a warp's sums of one block, from its thread 0, and clears them. */
static __device__ __forceinline__ void T(block_deposit)(const block_args *a, int b, long long sum[3])
{
    UNROLL for (int k = 0; k < 3; k++)
    {
        for (int step = WARP / 2; step > 0; step /= 2) sum[k] += __shfl_down_sync(0xffffffffu, sum[k], step);
        if (threadIdx.x % WARP == 0 && b >= 0)
            atomicAdd((unsigned long long *)a->sums + 3 * (long)b + k, (unsigned long long)sum[k]);
        sum[k] = 0;
    }
}

/* A warp does a run of sites. While all of them are in one block it keeps the sums; where not, pairs of threads in the
 * same block add up as far as they go. Additions in memory are what this saves: those to one place wait in line. */
#define BLOCK_SUMS(name)                                                                                               \
    static __global__ void __maxnreg__(CAP(128))                                                                       \
        T(name##_global)(const __grid_constant__ block_args a, long n, long run)                                       \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const unsigned whole = 0xffffffffu;                                                                            \
        const int lane = (int)threadIdx.x % WARP;                                                                      \
        const long begin = ((long)blockIdx.x * blockDim.x + threadIdx.x) / WARP * run,                                 \
                   end = begin + run < n ? begin + run : n;                                                            \
        long long kept[3] = {0, 0, 0};                                                                                 \
        int kept_of = -1;                                                                                              \
        for (long first = begin; first < end; first += WARP) {                                                         \
            const long u = first + lane;                                                                               \
            const int b = u < end ? T(block_of)(&a, u, 0) : -1;                                                        \
            long long x[3] = {0, 0, 0};                                                                                \
            if (u < end) {                                                                                             \
                vreal sum[3];                                                                                          \
                T(name##_unit)(sum, &a, u);                                                                            \
                double unit[3];                                                                                        \
                T(name##_units)(unit, &a, b);                                                                          \
                UNROLL for (int k = 0; k < 3; k++) x[k] = __double2ll_rn(sum[k] * unit[k]);                            \
            }                                                                                                          \
            int alike;                                                                                                 \
            __match_all_sync(whole, b, &alike);                                                                        \
            if (alike) {                                                                                               \
                if (b != kept_of) T(block_deposit)(&a, kept_of, kept);                                                 \
                kept_of = b;                                                                                           \
                UNROLL for (int k = 0; k < 3; k++) kept[k] += x[k];                                                    \
                continue;                                                                                              \
            }                                                                                                          \
            int mine = b >= 0;                                                                                         \
            UNROLL for (int step = 1; step < WARP; step *= 2)                                                          \
            {                                                                                                          \
                const int b2 = __shfl_xor_sync(whole, b, step), theirs = __shfl_xor_sync(whole, mine, step);           \
                const bool both = mine && theirs && b2 == b, takes = both && !(lane & step);                           \
                UNROLL for (int k = 0; k < 3; k++)                                                                     \
                {                                                                                                      \
                    const long long y = __shfl_xor_sync(whole, x[k], step);                                            \
                    if (takes) x[k] += y;                                                                              \
                }                                                                                                      \
                mine = mine && (!both || takes);                                                                       \
            }                                                                                                          \
            UNROLL for (int k = 0; k < 3; k++) if (mine)                                                               \
                atomicAdd((unsigned long long *)a.sums + 3 * (long)b + k, (unsigned long long)x[k]);                   \
        }                                                                                                              \
        T(block_deposit)(&a, kept_of, kept);                                                                           \
    }                                                                                                                  \
                                                                                                                       \
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
    {                                                                                                                  \
        static int resident;                                                                                           \
        REQUIRE(!list, "a list for %s", #name);                                                                        \
        const int blocks = gpu_sum_blocks(dev, (const void *)T(name##_global), &resident, BLOCK_MAX, n);               \
        const long warps = (long)blocks * (BLOCK_MAX / WARP), each = (n + warps - 1) / warps,                          \
                   run = (each + WARP - 1) / WARP * WARP;                                                              \
        gpu_start(dev, T(name##_global), dim3((unsigned)blocks), BLOCK_MAX, *(const block_args *)args, n, run);        \
    }
BLOCK_SUMS(block_dots)
BLOCK_SUMS(block_cg_dots)
