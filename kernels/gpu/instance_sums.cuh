/* Kernels of many sums on the GPU: products of many vectors with one, and sums over blocks of sites. Part of instance.cuh,
 * once for each precision. */

/* ---- products of many vectors with one ---- */

/* A warp does one of the n products; those of a block share the sites, and with them y in the first cache. */
template <int reals>
static __global__ void __maxnreg__(CAP(128))
    T(multi_dot_global)(const __grid_constant__ multi_dot_args a, long n, const __grid_constant__ gpu_device dev)
{
    gpu_begin();
    const int warp = (int)threadIdx.x / WARP, j = warp % a.n, sets = (int)blockDim.x / WARP / a.n;
    vexact mine[2];
    T(exact_open)(&mine[0]);
    T(exact_open)(&mine[1]);
    for (long first = ((long)blockIdx.x * sets + warp / a.n) * WARP; first < n;
         first += (long)gridDim.x * sets * WARP) {
        const long u = first + threadIdx.x % WARP;
        vreal y[24];
        if (u >= n) continue;
        T(load)(y, &a.y, u, a.rhs, reals);
        T(multi_dot_one)(&a, u, j, mine, y, reals);
    }
    exact_sum whole[2] = {T(exact_closed)(&mine[0]), T(exact_closed)(&mine[1])};
    gpu_grid_sum_warps(whole, 2, 2 * j, 2 * MULTI_DOTS, &dev);
}

static void T(multi_dot_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    static_assert(2 * MULTI_DOTS <= KERNEL_MAX_SUMS, "more sums than there is room for");
    static int resident[2][MULTI_DOTS + 1];
    const multi_dot_args *a = (const multi_dot_args *)args;
    REQUIRE(!list && a->n >= 1 && a->n <= MULTI_DOTS, "%d products", a->n);
    const int vectors = a->y.group_stride == 6, sets = a->n < 4 ? 4 / a->n : 1, threads = WARP * sets * a->n;
    auto kernel = vectors ? T(multi_dot_global)<6> : T(multi_dot_global)<24>;
    const int blocks = gpu_sum_blocks(dev, (const void *)kernel, &resident[vectors][a->n], threads, n * a->n);
    gpu_start(dev, kernel, dim3((unsigned)blocks), threads, *a, n, *dev);
}

/* ---- sums over blocks ---- */

/* What a warp has summed of one block, in its thread 0. */
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
static __global__ void __maxnreg__(CAP(128))
    T(block_dots_global)(const __grid_constant__ block_args a, long n, long run)
{
    gpu_begin();
    const unsigned whole = 0xffffffffu;
    const int lane = (int)threadIdx.x % WARP;
    const long begin = ((long)blockIdx.x * blockDim.x + threadIdx.x) / WARP * run,
               end = begin + run < n ? begin + run : n;
    long long kept[3] = {0, 0, 0};
    int kept_of = -1;
    for (long first = begin; first < end; first += WARP) {
        const long u = first + lane;
        const int b = u < end ? T(block_of)(&a, u, 0) : -1;
        long long x[3] = {0, 0, 0};
        if (u < end) {
            vreal re, im, qq;
            T(block_dots_unit)(&re, &im, &qq, &a, u);
            double unit[2];
            T(block_units)(unit, &a, b);
            x[0] = __double2ll_rn(re * unit[0]);
            x[1] = __double2ll_rn(im * unit[0]);
            x[2] = __double2ll_rn(qq * unit[1]);
        }
        int alike;
        __match_all_sync(whole, b, &alike);
        if (alike) {
            if (b != kept_of) T(block_deposit)(&a, kept_of, kept);
            kept_of = b;
            UNROLL for (int k = 0; k < 3; k++) kept[k] += x[k];
            continue;
        }
        int mine = b >= 0;
        UNROLL for (int step = 1; step < WARP; step *= 2)
        {
            const int b2 = __shfl_xor_sync(whole, b, step), theirs = __shfl_xor_sync(whole, mine, step);
            const bool both = mine && theirs && b2 == b, takes = both && !(lane & step);
            UNROLL for (int k = 0; k < 3; k++)
            {
                const long long y = __shfl_xor_sync(whole, x[k], step);
                if (takes) x[k] += y;
            }
            mine = mine && (!both || takes);
        }
        UNROLL for (int k = 0; k < 3; k++) if (mine)
            atomicAdd((unsigned long long *)a.sums + 3 * (long)b + k, (unsigned long long)x[k]);
    }
    T(block_deposit)(&a, kept_of, kept);
}

static void T(block_dots_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    static int resident;
    REQUIRE(!list, "a list for block_dots");
    const int blocks = gpu_sum_blocks(dev, (const void *)T(block_dots_global), &resident, BLOCK_MAX, n);
    const long warps = (long)blocks * (BLOCK_MAX / WARP), each = (n + warps - 1) / warps,
               run = (each + WARP - 1) / WARP * WARP;
    gpu_start(dev, T(block_dots_global), dim3((unsigned)blocks), BLOCK_MAX, *(const block_args *)args, n, run);
}
