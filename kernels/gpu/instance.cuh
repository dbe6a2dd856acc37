/* Kernels of one family and one precision on the GPU, one site a thread, or one direction or plane there. A family's file
 * (family.cu.in, with PLAQ_PREC, and PLAQ_SIMD 0) includes its site functions, this, what it starts in a way of its own
 * (kernels/family/NAME.cuh), and the lines of its .def, which become launchers T(name_launch) for the table of gpu.cu.
 *
 * Registers decide speed, not occupancy: the cap of the .def, in double, and two thirds of it otherwise. Blocks are small
 * where the cap is high, so that whole blocks fill a processor's registers, unless sites share much of what they read.
 *
 * What a GPU is to start in a way of its own says so in NAME.cuh, as OWN_name. */
#include "kernels/gpu/launch.cuh"
#include "kernels/gpu/tile.cuh"

#if PLAQ_PREC == 0
#define CAP(registers) (registers)
#define IF_DOUBLE(...) __VA_ARGS__
#else
#define CAP(registers) ((registers)*2 / 3)
#define IF_DOUBLE(...)
#endif
#define IF_ALL(...) __VA_ARGS__
#if PLAQ_PREC <= 1
#define IF_ROWS(...) __VA_ARGS__
#else
#define IF_ROWS(...)
#endif

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

/* The site of a thread of a sweep's block, whose part is its number in x modulo the parts. */
static __device__ __forceinline__ T(stencil)
    T(sweep_stencil)(const gpu_sweep *s, const geom *g, int parity, unsigned thread)
{
    unsigned box[2];
    gpu_column_box(box, &s->columns, blockIdx.x / s->parts, blockIdx.z);
    return T(tile_thread)(&s->columns.box, g, parity, thread, box[0], box[1], blockIdx.y);
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

/* Closes the partial sum of a thread. */
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
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
    {                                                                                                                  \
        const unsigned blocks = (unsigned)((n + THREADS(registers) - 1) / THREADS(registers));                         \
        gpu_start(dev, T(name##_global), dim3(blocks), THREADS(registers), *(const name##_args *)args, list, n);       \
    }

#define INSTANCE_SUM(name, sums, registers) INSTANCE_SUM_OF(name, sums, registers, const name##_args &settled = a)
/* `settle` defines `settled`, the arguments as all sites of a thread take them. */
#define INSTANCE_SUM_OF(name, sums, registers, settle)                                                                 \
    static __global__ void __maxnreg__(CAP(registers)) T(name##_global)(                                               \
        const __grid_constant__ name##_args a, const int *list, long n, const __grid_constant__ gpu_device dev)        \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        vexact mine[sums];                                                                                             \
        settle;                                                                                                        \
        UNROLL for (int k = 0; k < sums; k++) T(exact_open)(&mine[k]);                                                 \
        for (long i = (long)blockIdx.x * THREADS(registers) + threadIdx.x; i < n;                                      \
             i += (long)gridDim.x * THREADS(registers))                                                                \
            T(name##_site)(&settled, list ? list[i] : i, mine);                                                        \
        exact_sum whole[sums];                                                                                         \
        UNROLL for (int k = 0; k < sums; k++) whole[k] = T(exact_closed)(&mine[k]);                                    \
        gpu_grid_sum(whole, sums, &dev);                                                                               \
    }                                                                                                                  \
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
    {                                                                                                                  \
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

/* Instance of kernels on whole lattices that reach to neighbours and whose work falls into parts (T(name_part)): a block does
 * one part in a box of sites. Blocks are large for their cap, because their sites share what they read. */
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
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
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

/* Instance of kernels that make links (LINKS_SITE, T(name_link)): a block does one direction in a box of both parities. */
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
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
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
#define NO_INSTANCE(...)
#define PICK_(a, b, ...) b
#define PICK(...) PICK_(__VA_ARGS__)

#define KERNEL(name, precisions, flops, reads, writes, registers)                                                      \
    IF_##precisions(PICK(OWN_##name, INSTANCE, )(name, registers))
#define KERNEL_SUM(name, sums, precisions, flops, reads, writes, registers)                                            \
    IF_##precisions(PICK(OWN_##name, INSTANCE_SUM, )(name, sums, registers))
#define KERNEL_DEVICE_BITS(name)

/* Caps of hops, and threads of their blocks: five blocks of 64 threads a processor in double; of 128, four in single
 * and five below. */
#define HOP_CAP (PLAQ_PREC == 0 ? 200 : PLAQ_PREC == 1 ? 128 : 96)
#define HOP_THREADS (PLAQ_PREC == 0 ? 64 : 128)
