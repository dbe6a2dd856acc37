/* GPU kernels of family blas with instances of their own: kernels with many sums. A warp does one of the n sums (or pairs of
 * sums); those of a block share the sites, and with them the first cache. */
#define OWN_multi_dot , NO_INSTANCE
#define OWN_norm2_each , NO_INSTANCE
#define OWN_dot_each , NO_INSTANCE
#define OWN_axpby_norm2_each , NO_INSTANCE

/* The site of a warp's thread with T(item) for number j; `each` sums a number, of at most `most` numbers. */
#define WARP_SUMS(name, item, each, most)                                                                              \
    template <int reals>                                                                                               \
    static __global__ void __maxnreg__(CAP(128))                                                                       \
        T(name##_global)(const __grid_constant__ name##_args a, long n, const __grid_constant__ gpu_device dev)        \
    {                                                                                                                  \
        gpu_begin();                                                                                                   \
        const int warp = (int)threadIdx.x / WARP, j = warp % a.n, sets = (int)blockDim.x / WARP / a.n;                 \
        vexact mine[each];                                                                                             \
        UNROLL for (int k = 0; k < each; k++) T(exact_open)(&mine[k]);                                                 \
        for (long first = ((long)blockIdx.x * sets + warp / a.n) * WARP; first < n;                                    \
             first += (long)gridDim.x * sets * WARP) {                                                                 \
            const long u = first + threadIdx.x % WARP;                                                                 \
            if (u < n) T(item)(&a, u, j, mine, reals);                                                                 \
        }                                                                                                              \
        exact_sum whole[each];                                                                                         \
        UNROLL for (int k = 0; k < each; k++) whole[k] = T(exact_closed)(&mine[k]);                                    \
        gpu_grid_sum_warps(whole, each, each *j, each *most, &dev);                                                    \
    }                                                                                                                  \
    void T(name##_launch)(const gpu_device *dev, const void *args, const int *list, long n)                            \
    {                                                                                                                  \
        static int resident[3][most + 1];                                                                              \
        const name##_args *a = (const name##_args *)args;                                                              \
        REQUIRE(!list && a->n >= 1 && a->n <= most, "%d sums of %s", a->n, #name);                                     \
        const int sets = a->n < 4 ? 4 / a->n : 1, threads = WARP * sets * a->n;                                        \
        auto kernel = T(name##_global)<24>;                                                                            \
        int variant = 0;                                                                                               \
        if (a->reals == 6) {                                                                                           \
            kernel = T(name##_global)<6>;                                                                              \
            variant = 1;                                                                                               \
        } else if (PLAQ_PREC < 2 && a->reals == VECTOR_FLAT(PLAQ_PREC)) {                                              \
            kernel = T(name##_global)<VECTOR_FLAT(PLAQ_PREC)>;                                                         \
            variant = 2;                                                                                               \
        }                                                                                                              \
        const int blocks = gpu_sum_blocks(dev, (const void *)kernel, &resident[variant][a->n], threads, n * a->n);     \
        gpu_start(dev, kernel, dim3((unsigned)blocks), threads, *a, n, *dev);                                          \
    }

static __device__ __forceinline__ void T(multi_dot_warp)(const multi_dot_args *a, long u, int j, vexact *mine,
                                                         int reals)
{
    for (int g = a->first; g < a->first + a->count; g++) {
        vreal y[24];
        T(load)(y, &a->y, u, g, reals);
        T(multi_dot_one)(a, u, g, j, mine, y, reals);
    }
}
WARP_SUMS(multi_dot, multi_dot_warp, 2, MULTI_DOTS)

WARP_SUMS(norm2_each, norm2_each_one, 1, EACH_MOST)
WARP_SUMS(dot_each, dot_each_one, 2, EACH_MOST)
WARP_SUMS(axpby_norm2_each, axpby_norm2_each_one, 1, EACH_MOST)
