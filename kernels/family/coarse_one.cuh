/* The coarse hop of one right-hand side where there are sites enough to fill the device: a block does a site, a warp one direction
 * of it, and a thread `rows` rows behind each other in every COARSE_CHAINS-th column, so that few instructions read the most.
 * Sums have the order of the site function. */

template <typename number>
struct T(two_numbers);
template <>
struct T(two_numbers)<real> {
    typedef T(pair) type;
};
#if PLAQ_PREC == 1
template <>
struct T(two_numbers)<int16_t> {
    typedef short2 type;
};
#endif

#define ONE_ROWS_MOST 8 /* rows of a thread; WARP / COARSE_CHAINS threads make a column */

template <typename number, int rows>
static __global__ void __launch_bounds__(8 * WARP) T(coarse_one_global)(const __grid_constant__ coarse_hop_args a)
{
    typedef typename T(two_numbers)<number>::type two;
    constexpr int threads = WARP / COARSE_CHAINS, n = rows * threads;
    __shared__ T(pair) sums[8][n];
    gpu_begin();
    const int dir = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP, chain = lane / threads,
              first = lane % threads * rows;
    const long u = (long)blockIdx.x;
    const number *matrix = (const number *)a.links.data + dir * a.links.group_stride + u * a.links.stride + first;
    const T(pair) *x = (const T(pair) *)T(coarse_neighbour)(&a, u, dir, 0);
    const real by = sizeof(number) < sizeof(real) ? T(fixed_scale)(&a.links, u, dir) : (real)1;
    real re[rows], im[rows];
    UNROLL for (int i = 0; i < rows; i++) re[i] = im[i] = 0;
#pragma unroll 3
    for (int j = chain; j < n; j += COARSE_CHAINS) {
        two mr[rows / 2], mi[rows / 2];
        UNROLL for (int i = 0; i < rows / 2; i++)
        {
            mr[i] = __ldg((const two *)(matrix + (long)j * 2 * n) + i);
            mi[i] = __ldg((const two *)(matrix + (long)j * 2 * n + n) + i);
        }
        const T(pair) v = x[j];
        const real xr = by * v.x, xi = by * v.y;
        UNROLL for (int i = 0; i < rows / 2; i++)
        {
            const real r[2] = {(real)mr[i].x, (real)mr[i].y}, s[2] = {(real)mi[i].x, (real)mi[i].y};
            UNROLL for (int k = 0; k < 2; k++)
            {
                re[2 * i + k] = T(real_fma)(-s[k], xi, T(real_fma)(r[k], xr, re[2 * i + k]));
                im[2 * i + k] = T(real_fma)(s[k], xr, T(real_fma)(r[k], xi, im[2 * i + k]));
            }
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int step = COARSE_CHAINS / 2; step > 0; step /= 2)
    {
        re[i] += __shfl_xor_sync(0xffffffffu, re[i], step * threads);
        im[i] += __shfl_xor_sync(0xffffffffu, im[i], step * threads);
    }
    if (chain == 0) UNROLL for (int i = 0; i < rows; i++) sums[dir][first + i] = {re[i], im[i]};
    __syncthreads();
    const int row = (int)threadIdx.x;
    if (row >= n) return;
    real sr = 0, si = 0;
    UNROLL for (int d = 0; d < 8; d++)
    {
        sr += sums[d][row].x;
        si += sums[d][row].y;
    }
    T(coarse_hop_row)(&a, u, 0, row, sr, si);
}

/* Runs it and returns true, where it serves. */
template <typename number, int rows = ONE_ROWS_MOST>
static bool T(one_started)(const gpu_device *dev, const coarse_hop_args *a, long n)
{
    if constexpr (rows < 2) {
        return false;
    } else {
        if (a->out.groups != 1 || n < 2L * dev->processors) return false;
        if (a->components != rows * (WARP / COARSE_CHAINS)) return T(one_started)<number, rows - 2>(dev, a, n);
        gpu_start(dev, T(coarse_one_global) < number, rows >, dim3((unsigned)n), 8 * WARP, *a);
        return true;
    }
}
