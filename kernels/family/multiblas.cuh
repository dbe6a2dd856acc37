/* GPU kernels of family multiblas with instances of their own. A warp does one entry, or one column, of a tile; the warps of a
 * block share the sites, and with them the first cache. */
#define OWN_multiblas_dot , NO_INSTANCE
#define OWN_multiblas_axpy , NO_INSTANCE

template <int reals>
static __global__ void __maxnreg__(CAP(128)) T(multiblas_dot_global)(const __grid_constant__ multiblas_dot_args a,
                                                                     long n, const __grid_constant__ gpu_device dev)
{
    gpu_begin();
    const int warp = (int)threadIdx.x / WARP, j = warp % a.n, sets = (int)blockDim.x / WARP / a.n;
    vexact mine[2];
    UNROLL for (int k = 0; k < 2; k++) T(exact_open)(&mine[k]);
    for (long first = ((long)blockIdx.x * sets + warp / a.n) * WARP; first < n;
         first += (long)gridDim.x * sets * WARP) {
        const long u = first + threadIdx.x % WARP;
        if (u < n) T(multiblas_dot_one)(&a, u, j, mine, reals);
    }
    exact_sum whole[2];
    UNROLL for (int k = 0; k < 2; k++) whole[k] = T(exact_closed)(&mine[k]);
    gpu_grid_sum_warps(whole, 2, 2 * j, 2 * MULTIBLAS_TILE * MULTIBLAS_TILE, &dev);
}

void T(multiblas_dot_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    static int resident[2][MULTIBLAS_TILE * MULTIBLAS_TILE + 1];
    const multiblas_dot_args *a = (const multiblas_dot_args *)args;
    REQUIRE(!list && a->n >= 1 && a->n <= MULTIBLAS_TILE * MULTIBLAS_TILE, "%d sums of multiblas_dot", a->n);
    const int sets = a->n < 4 ? 4 / a->n : 1, threads = WARP * sets * a->n, small = a->reals == 6;
    auto kernel = small ? T(multiblas_dot_global)<6> : T(multiblas_dot_global)<24>;
    const int blocks = gpu_sum_blocks(dev, (const void *)kernel, &resident[small][a->n], threads, n * a->n);
    gpu_start(dev, kernel, dim3((unsigned)blocks), threads, *a, n, *dev);
}

template <int reals>
static __global__ void __maxnreg__(CAP(128))
    T(multiblas_axpy_global)(const __grid_constant__ multiblas_axpy_args a, long n)
{
    gpu_begin();
    const int warp = (int)threadIdx.x / WARP, j = warp % a.n, sets = (int)blockDim.x / WARP / a.n;
    const long u = ((long)blockIdx.x * sets + warp / a.n) * WARP + threadIdx.x % WARP;
    if (u < n) T(multiblas_axpy_one)(&a, u, j, reals);
}

void T(multiblas_axpy_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const multiblas_axpy_args *a = (const multiblas_axpy_args *)args;
    REQUIRE(!list && a->n >= 1 && a->n <= MULTIBLAS_TO, "%d columns of multiblas_axpy", a->n);
    const int sets = a->n < 4 ? 4 / a->n : 1;
    const long blocks = (n + sets * WARP - 1) / (sets * WARP);
    auto kernel = a->reals == 6 ? T(multiblas_axpy_global)<6> : T(multiblas_axpy_global)<24>;
    gpu_start(dev, kernel, dim3((unsigned)blocks), WARP * sets * a->n, *a, n);
}
