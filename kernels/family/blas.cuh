/* What a GPU starts in a way of its own of the family blas. */
#define OWN_multi_dot , NO_INSTANCE

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

void T(multi_dot_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    static int resident[2][MULTI_DOTS + 1];
    const multi_dot_args *a = (const multi_dot_args *)args;
    REQUIRE(!list && a->n >= 1 && a->n <= MULTI_DOTS, "%d products", a->n);
    const int vectors = a->y.group_stride == 6, sets = a->n < 4 ? 4 / a->n : 1, threads = WARP * sets * a->n;
    auto kernel = vectors ? T(multi_dot_global)<6> : T(multi_dot_global)<24>;
    const int blocks = gpu_sum_blocks(dev, (const void *)kernel, &resident[vectors][a->n], threads, n * a->n);
    gpu_start(dev, kernel, dim3((unsigned)blocks), threads, *a, n, *dev);
}
