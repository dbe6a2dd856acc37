/* GPU kernels of family blas with instances of their own: kernels with many sums. A warp does one of the n sums (or pairs of
 * sums); those of a block share the sites, and with them the first cache. */
#define OWN_multi_dot , NO_INSTANCE
#define OWN_axpby_norm2 , AXPBY_NORM2_INSTANCE
#define OWN_norm2_each , NO_INSTANCE
#define OWN_dot_each , NO_INSTANCE
#define OWN_axpby_norm2_each , NO_INSTANCE
#define OWN_multi_axpy_each , NO_INSTANCE
#define OWN_mr_update , NO_INSTANCE

#define AXPBY_NORM2_INSTANCE(name, sums, registers)                                                                    \
    INSTANCE_SUM_OF(name, sums, registers, name##_args settled = a; settled.a.times = T(value_of)(&a.a))

/* The instance that fits the components of a group, and its number. */
#define IS_FLAT(numbers) (PLAQ_PREC < 2 && (numbers) == VECTOR_FLAT(PLAQ_PREC))
#define VECTOR_VARIANT(numbers) ((numbers) == 6 ? 1 : IS_FLAT(numbers) ? 2 : 0)
#define VECTOR_INSTANCE(kernel, name, numbers)                                                                         \
    auto kernel = T(name##_global)<24>;                                                                                \
    if ((numbers) == 6) kernel = T(name##_global)<6>;                                                                  \
    else if (IS_FLAT(numbers)) kernel = T(name##_global)<VECTOR_FLAT(PLAQ_PREC)>;

/* The site of a warp's thread with T(name_one) of the numbers at the end: j, of a block's `rows`, and k = blockIdx.x % `sides`,
 * the right-hand side. `each` sums a number j, of at most `most`. Sums come by right-hand side, and then by number. */
#define WARP_SUMS(name, each, most, rows, sides, ...)                                                                  \
    template <int reals>                                                                                               \
    static __global__ void __maxnreg__(CAP(128))                                                                       \
        T(name##_global)(const __grid_constant__ name##_args a, long n, const __grid_constant__ gpu_device dev)        \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const int warp = (int)threadIdx.x / WARP, j = warp % a.rows, sets = (int)blockDim.x / WARP / a.rows;           \
        const int k = (int)blockIdx.x % (sides), block = (int)blockIdx.x / (sides), blocks = (int)gridDim.x / (sides); \
        vexact mine[each];                                                                                             \
        UNROLL for (int i = 0; i < each; i++) T(exact_open)(&mine[i]);                                                 \
        for (long first = ((long)block * sets + warp / a.rows) * WARP; first < n;                                      \
             first += (long)blocks * sets * WARP) {                                                                    \
            const long u = first + threadIdx.x % WARP;                                                                 \
            if (u < n) T(name##_one)(&a, u, __VA_ARGS__, mine, reals);                                                 \
        }                                                                                                              \
        exact_sum whole[each];                                                                                         \
        UNROLL for (int i = 0; i < each; i++) whole[i] = T(exact_closed)(&mine[i]);                                    \
        gpu_grid_sum_warps(whole, each, each *(k * a.rows + j), each *(sides)*a.rows, &dev);                           \
    }                                                                                                                  \
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
    {                                                                                                                  \
        static int resident[3][most + 1];                                                                              \
        const name##_args &a = *(const name##_args *)args;                                                             \
        REQUIRE(!list && a.rows >= 1 && a.rows <= most, "%d sums of %s", a.rows, #name);                               \
        const int sets = a.rows < 4 ? 4 / a.rows : 1, threads = WARP * sets * a.rows, many = (sides);                  \
        VECTOR_INSTANCE(kernel, name, a.reals)                                                                         \
        const int blocks = gpu_sum_blocks(dev, (const void *)kernel, &resident[VECTOR_VARIANT(a.reals)][a.rows],       \
                                          threads, n * a.rows * many);                                                 \
        gpu_start(dev, kernel, dim3((unsigned)((blocks + many - 1) / many * many)), threads, a, n, *dev);              \
    }

WARP_SUMS(multi_dot, 2, MULTI_DOTS, n, a.rhs.many, k, j)
WARP_SUMS(norm2_each, 1, EACH_MOST, rhs.many, 1, j)
WARP_SUMS(dot_each, 2, EACH_MOST, rhs.many, 1, j)
WARP_SUMS(axpby_norm2_each, 1, EACH_MOST, rhs.many, 1, j)

/* T(name_one) of a site and right-hand side a thread. */
#define INSTANCE_EACH(name)                                                                                            \
    template <int reals>                                                                                               \
    static __global__ void __maxnreg__(CAP(168)) T(name##_global)(const __grid_constant__ name##_args a, long n)       \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const long u = (long)blockIdx.x * BLOCK_MAX + threadIdx.x;                                                     \
        if (u < n) T(name##_one)(&a, u, (int)blockIdx.y, reals);                                                       \
    }                                                                                                                  \
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
    {                                                                                                                  \
        const name##_args *a = (const name##_args *)args;                                                              \
        REQUIRE(!list, "a list for %s", #name);                                                                        \
        VECTOR_INSTANCE(kernel, name, a->reals)                                                                        \
        gpu_start(dev, kernel, dim3((unsigned)((n + BLOCK_MAX - 1) / BLOCK_MAX), (unsigned)a->rhs.many), BLOCK_MAX,    \
                  *a, n);                                                                                              \
    }

INSTANCE_EACH(multi_axpy_each)
INSTANCE_EACH(mr_update)
