/* GPU kernels of family coarse with instances of their own: all but moves between sites order and rows. Coarse lattices are
 * small and their matrices large, so a site is the work of many threads (M. Clark et al., arXiv:1612.07873, section 6): rows,
 * directions, chains of a row's sum, right-hand sides. Sums have the order of the site functions. */
#if PLAQ_PREC <= 1
#define OWN_coarse_gather , NO_INSTANCE
#endif
#define OWN_coarse_insert , NO_INSTANCE
#define OWN_coarse_orthonormalise , NO_INSTANCE
#define OWN_coarse_restrict , NO_INSTANCE
#define OWN_coarse_prolong , NO_INSTANCE
#define OWN_coarse_galerkin_wilson , NO_INSTANCE
#define OWN_coarse_galerkin , NO_INSTANCE
#define OWN_coarse_backward , NO_INSTANCE
#define OWN_coarse_pack , NO_INSTANCE
#define OWN_coarse_invert , NO_INSTANCE
#define OWN_coarse_fold , NO_INSTANCE
#define OWN_coarse_compress , NO_INSTANCE
#define OWN_coarse_expand , NO_INSTANCE
#define OWN_coarse_hop , NO_INSTANCE
#define OWN_coarse_hop_tensor , NO_INSTANCE
#define OWN_coarse_local , NO_INSTANCE

#if PLAQ_PREC <= 1

#if PLAQ_PREC == 0
typedef double2 T(pair);
#else
typedef float2 T(pair);
#endif

static inline unsigned T(blocks_for)(long items, long of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

/* ---- products with matrices ---- */

/* A block makes `rows` rows of the products at a site with `many` right-hand sides. A warp has one direction; its threads
 * have WARP / rows chains of each row, and `apart` warps the chains of a direction. Of a thread's sums of chains a row is
 * made in shared memory, where [direction][of the chains][row] numbers meet. */
#define MATRIX_DIRECTIONS(local) ((local) ? 1 : 8)

/* The rows that direction `dir` multiplies. */
static __device__ __forceinline__ const real *T(factor_rows)(const coarse_hop_args *a, long u, int dir, int group)
{
    return T(coarse_neighbour)(a, u, dir, group);
}

static __device__ __forceinline__ const real *T(factor_rows)(const coarse_local_args *a, long u, int dir, int group)
{
    return T(row_at)(&a->in, u, group);
}

static __device__ __forceinline__ const view *T(factor_matrices)(const coarse_hop_args *a)
{
    return &a->links;
}

static __device__ __forceinline__ const view *T(factor_matrices)(const coarse_local_args *a)
{
    return &a->matrices;
}

/* The factors of each chirality in front of the matrix; that of a link in fixed point has its scale. */
template <typename number>
static __device__ __forceinline__ void T(factors)(const coarse_hop_args *a, long u, int dir, real by[2])
{
    by[0] = by[1] = sizeof(number) < sizeof(real) ? T(fixed_scale)(&a->links, u, dir) : (real)1;
}

template <typename number>
static __device__ __forceinline__ void T(factors)(const coarse_local_args *a, long u, int dir, real by[2])
{
    by[0] = 1;
    by[1] = (real)a->right;
}

static __device__ __forceinline__ void T(product_row)(const coarse_hop_args *a, long u, int group, int i, real re, real im)
{
    T(coarse_hop_row)(a, u, group, i, re, im);
}

static __device__ __forceinline__ void T(product_row)(const coarse_local_args *a, long u, int group, int i, real re,
                                                      real im)
{
    T(coarse_local_row)(a, u, group, i, re, im);
}

/* Adds one column of the matrix times one number of each right-hand side. */
template <int many>
static __device__ __forceinline__ void T(column_times)(real re[many], real im[many], real mr, real mi,
                                                       const T(pair) x[many], real by)
{
    UNROLL for (int g = 0; g < many; g++)
    {
        const real xr = by * x[g].x, xi = by * x[g].y;
        re[g] = T(real_fma)(-mi, xi, T(real_fma)(mr, xr, re[g]));
        im[g] = T(real_fma)(mi, xr, T(real_fma)(mr, xi, im[g]));
    }
}

template <typename arguments, bool local, typename number, int rows, int apart, int many>
static __global__ void __launch_bounds__(WARP *MATRIX_DIRECTIONS(local) * apart)
    T(matrix_global)(const __grid_constant__ arguments a, int chunks, int tiles)
{
    constexpr int directions = MATRIX_DIRECTIONS(local), lanes = WARP / rows, shares = lanes * apart,
                  mine = COARSE_CHAINS / shares;
    __shared__ T(pair) part[directions][shares][many][rows];
    gpu_begin();
    const int tile = (int)(blockIdx.x % tiles), chunk = (int)(blockIdx.x / tiles % chunks);
    const long u = (long)(blockIdx.x / tiles / chunks);
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, dir = warp / apart;
    const int share = lane / rows + lanes * (warp % apart), n = a.components, groups = a.out.groups;
    const int row = chunk * rows + lane % rows, safe = row < n ? row : n - 1;
    real by[2];
    T(factors)<number>(&a, u, dir, by);
    const view *matrices = T(factor_matrices)(&a);
    const number *matrix = (const number *)matrices->data + dir * matrices->group_stride + u * matrices->stride + safe;
    const T(pair) * x[many];
    UNROLL for (int g = 0; g < many; g++)
    {
        const int group = tile * many + g;
        x[g] = (const T(pair) *)T(factor_rows)(&a, u, dir, group < groups ? group : groups - 1);
    }
    real re[mine][many], im[mine][many];
    UNROLL for (int m = 0; m < mine; m++) UNROLL for (int g = 0; g < many; g++) re[m][g] = im[m][g] = 0;
    int j = share;
#pragma unroll 2
    for (; j + COARSE_CHAINS - shares < n; j += COARSE_CHAINS) {
        real mr[mine], mi[mine];
        T(pair) v[mine][many];
        UNROLL for (int m = 0; m < mine; m++)
        {
            const number *column = matrix + (long)(j + m * shares) * 2 * n;
            mr[m] = (real)__ldg(column);
            mi[m] = (real)__ldg(column + n);
            UNROLL for (int g = 0; g < many; g++) v[m][g] = x[g][j + m * shares];
        }
        UNROLL for (int m = 0; m < mine; m++)
            T(column_times)<many>(re[m], im[m], mr[m], mi[m], v[m], by[j + m * shares >= n / 2]);
    }
    UNROLL for (int m = 0; m < mine; m++)
    {
        const int column = j + m * shares;
        if (column >= n) break;
        T(pair) v[many];
        UNROLL for (int g = 0; g < many; g++) v[g] = x[g][column];
        const number *at = matrix + (long)column * 2 * n;
        T(column_times)<many>(re[m], im[m], (real)at[0], (real)at[n], v, by[column >= n / 2]);
    }
    UNROLL for (int g = 0; g < many; g++)
    {
        T(pair) sum = {re[0][g], im[0][g]};
        if (mine == 2) sum = {re[0][g] + re[mine - 1][g], im[0][g] + im[mine - 1][g]};
        if (mine == 4)
            sum = {(re[0][g] + re[mine / 2][g]) + (re[mine / 4][g] + re[mine - 1][g]),
                   (im[0][g] + im[mine / 2][g]) + (im[mine / 4][g] + im[mine - 1][g])};
        part[dir][share][g][lane % rows] = sum;
    }
    __syncthreads();
    for (int k = (int)threadIdx.x; k < many * rows; k += (int)blockDim.x) {
        const int g = k / rows, i = k % rows, group = tile * many + g;
        if (group >= groups || chunk * rows + i >= n) continue;
        real sr = 0, si = 0;
        UNROLL for (int d = 0; d < directions; d++)
        {
            T(pair) p[shares];
            UNROLL for (int s = 0; s < shares; s++) p[s] = part[d][s][g][i];
            if (shares == 1) sr += p[0].x, si += p[0].y;
            if (shares == 2) sr += p[0].x + p[shares / 2].x, si += p[0].y + p[shares / 2].y;
            if (shares == 4) {
                sr += (p[0].x + p[shares / 2].x) + (p[shares / 4].x + p[shares - 1].x);
                si += (p[0].y + p[shares / 2].y) + (p[shares / 4].y + p[shares - 1].y);
            }
        }
        T(product_row)(&a, u, group, chunk * rows + i, sr, si);
    }
}

template <typename arguments, bool local, typename number, int rows, int apart, int many>
static void T(matrix_start)(const gpu_device *dev, const arguments *a, long n)
{
    const int chunks = (a->components + rows - 1) / rows, tiles = (a->out.groups + many - 1) / many;
    gpu_start(dev, T(matrix_global)<arguments, local, number, rows, apart, many>, dim3((unsigned)(n * chunks * tiles)),
              WARP * MATRIX_DIRECTIONS(local) * apart, *a, chunks, tiles);
}

/* Right-hand sides of a thread: few idle ones. A single one has a warp for each chain where the lattice is too small to
 * fill the device, and everywhere without directions. */
template <typename arguments, bool local, typename number, int rows>
static void T(matrix_choose)(const gpu_device *dev, const arguments *a, long n)
{
    constexpr int most = COARSE_CHAINS / (WARP / rows);
    const int groups = a->out.groups, chunks = (a->components + rows - 1) / rows;
    const long warps = n * chunks * MATRIX_DIRECTIONS(local);
    if (groups % 8 == 0 || groups > 12) T(matrix_start)<arguments, local, number, rows, local ? most : 1, 8>(dev, a, n);
    else if (groups > 2) T(matrix_start)<arguments, local, number, rows, local ? most : 1, 4>(dev, a, n);
    else if (groups == 2) T(matrix_start)<arguments, local, number, rows, local ? most : 1, 2>(dev, a, n);
    else if (local || warps < 32L * dev->processors) T(matrix_start)<arguments, local, number, rows, most, 1>(dev, a, n);
    else T(matrix_start)<arguments, local, number, rows, 1, 1>(dev, a, n);
}

template <typename arguments, bool local, typename number>
static void T(matrix_launch)(const gpu_device *dev, const arguments *a, const int *list, long n)
{
    REQUIRE(!list, "a list for products of %d components", a->components);
    if (n == 0) return;
    /* Rows of a whole warp read the most at a time: worth threads without a row where there are sites enough. */
    const int many_sites = !local && a->out.groups == 1 && n * MATRIX_DIRECTIONS(local) >= 16L * dev->processors;
    if (a->components % 32 == 0 || (many_sites && a->components > 32)) T(matrix_choose)<arguments, local, number, 32>(dev, a, n);
    else if (a->components % 16 == 0) T(matrix_choose)<arguments, local, number, 16>(dev, a, n);
    else T(matrix_choose)<arguments, local, number, 8>(dev, a, n);
}

#include "kernels/family/coarse_one.cuh"

void T(coarse_hop_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_hop_args *a = (const coarse_hop_args *)args;
#if PLAQ_PREC == 1
    if (a->links.scale) {
        if (!T(one_started)<T(fixed)>(dev, a, n)) T(matrix_launch)<coarse_hop_args, false, T(fixed)>(dev, a, list, n);
        return;
    }
#endif
    REQUIRE(!a->links.scale, "links in fixed point beside %d bytes", (int)sizeof(real));
    if (!T(one_started)<real>(dev, a, n)) T(matrix_launch)<coarse_hop_args, false, real>(dev, a, list, n);
}

#include "kernels/family/coarse_tensor.cuh"

void T(coarse_local_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    T(matrix_launch)<coarse_local_args, true, real>(dev, (const coarse_local_args *)args, list, n);
}

/* Row of matrix_times() from zero; column j of the matrix is at 2 n j, x_j at 2 j. */
static __device__ __forceinline__ void T(row_times)(real *re, real *im, const real *matrix, const real *x, int n)
{
    real cr[COARSE_CHAINS] = {0}, ci[COARSE_CHAINS] = {0};
    for (int j = 0; j < n; j += COARSE_CHAINS)
        UNROLL for (int c = 0; c < COARSE_CHAINS; c++)
        {
            if (j + c >= n) break;
            const T(pair) v[1] = {{x[2 * (j + c)], x[2 * (j + c) + 1]}};
            const real *column = matrix + (long)(j + c) * 2 * n;
            T(column_times)<1>(&cr[c], &ci[c], column[0], column[n], v, 1);
        }
    *re = 0 + ((cr[0] + cr[2]) + (cr[1] + cr[3]));
    *im = 0 + ((ci[0] + ci[2]) + (ci[1] + ci[3]));
}

/* ---- fixed point ---- */

#define COMPRESS_THREADS 256

/* A block does a link. */
static __global__ void __launch_bounds__(COMPRESS_THREADS)
    T(coarse_compress_global)(const __grid_constant__ coarse_compress_args a)
{
    __shared__ float mosts[COMPRESS_THREADS / WARP], poisons[COMPRESS_THREADS / WARP];
    gpu_begin();
    const int dir = (int)(blockIdx.x % a.real.groups), n = 2 * a.components * a.components;
    const long u = (long)(blockIdx.x / a.real.groups);
    const real *from = T(row_at)(&a.real, u, dir);
    T(fixed) *to = T(fixed_at)(&a.fixed, u, dir);
    float most = 0, poison = 0;
    for (int i = (int)threadIdx.x; i < n; i += COMPRESS_THREADS) {
        most = fmaxf(most, fabsf((float)from[i]));
        poison += 0 * (float)from[i];
    }
    for (int step = WARP / 2; step > 0; step /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        poison += __shfl_xor_sync(0xffffffffu, poison, step);
    }
    if (threadIdx.x % WARP == 0) {
        mosts[threadIdx.x / WARP] = most;
        poisons[threadIdx.x / WARP] = poison;
    }
    __syncthreads();
    most = poison = 0;
    for (int w = 0; w < COMPRESS_THREADS / WARP; w++) {
        most = fmaxf(most, mosts[w]);
        poison += poisons[w];
    }
    if (threadIdx.x == 0) a.fixed.scale[u * a.fixed.groups + dir] = T(scale_of)(most, poison);
    if (poison != 0) most = 0;
    for (int i = (int)threadIdx.x; i < n; i += COMPRESS_THREADS) to[i] = T(fixed_of)(from[i], most);
}

void T(coarse_compress_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_compress_args *a = (const coarse_compress_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_compress");
    if (n > 0) gpu_start(dev, T(coarse_compress_global), dim3((unsigned)(n * a->real.groups)), COMPRESS_THREADS, *a);
}

static __global__ void __launch_bounds__(COMPRESS_THREADS)
    T(coarse_expand_global)(const __grid_constant__ coarse_expand_args a)
{
    gpu_begin();
    const int dir = (int)(blockIdx.x % a.real.groups), n = 2 * a.components * a.components;
    const long u = (long)(blockIdx.x / a.real.groups);
    const T(fixed) *from = T(fixed_at)(&a.fixed, u, dir);
    const real scale = T(fixed_scale)(&a.fixed, u, dir);
    real *to = T(row_at)(&a.real, u, dir);
    for (int i = (int)threadIdx.x; i < n; i += COMPRESS_THREADS) to[i] = (real)from[i] * scale;
}

void T(coarse_expand_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_expand_args *a = (const coarse_expand_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_expand");
    if (n > 0) gpu_start(dev, T(coarse_expand_global), dim3((unsigned)(n * a->real.groups)), COMPRESS_THREADS, *a);
}

/* ---- sites order to rows ---- */

/* Numbers that lie behind each other, read as one. */
template <int each> struct alignas(sizeof(real) * each) T(numbers) {
    real at[each];
};

/* A block does LINEAR_BLOCK units, a thread a pack of one: rows are written one behind the other, and what a block reads lies
 * together. */
template <int reals>
static __global__ void __launch_bounds__(LINEAR_BLOCK *(reals / PACK(reals)))
    T(coarse_gather_global)(const __grid_constant__ coarse_rows_args a, long n)
{
    constexpr int pack = PACK(reals), packs = reals / pack;
    gpu_begin();
    const int of = (int)threadIdx.x % packs;
    const long u = (long)blockIdx.x * LINEAR_BLOCK + (int)threadIdx.x / packs;
    if (u >= n) return;
    for (int group = 0; group < a.sites.groups; group++) {
        const real *from = T(at)(&a.sites, u, group, reals, of * pack);
        *(T(numbers)<pack> *)(T(row_of_lane)(&a, u, 0, group) + of * pack) = *(const T(numbers)<pack> *)from;
    }
}

template <int reals> static void T(gather_start)(const gpu_device *dev, const coarse_rows_args *a, long n)
{
    gpu_start(dev, T(coarse_gather_global)<reals>, dim3(T(blocks_for)(n, LINEAR_BLOCK)), LINEAR_BLOCK * (reals / PACK(reals)),
              *a, n);
}

void T(coarse_gather_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_rows_args *a = (const coarse_rows_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_gather");
    if (n == 0) return;
    if (a->reals == 18) T(gather_start)<18>(dev, a, n);
    else if (a->reals == 24) T(gather_start)<24>(dev, a, n);
    else T(gather_start)<36>(dev, a, n);
}

/* ---- messages and backward links ---- */

#define MOVE_THREADS 256

static __global__ void __launch_bounds__(MOVE_THREADS)
    T(coarse_pack_global)(const __grid_constant__ coarse_pack_args a, long n)
{
    gpu_begin();
    const long k = (long)blockIdx.x * MOVE_THREADS + threadIdx.x, f = k / a.reals, i = k % a.reals;
    if (f >= n) return;
    for (int group = 0; group < a.in.groups; group++)
        T(row_at)(&a.out, f, group)[i] = T(row_at)(&a.in, a.face[f], group)[i];
}

void T(coarse_pack_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_pack_args *a = (const coarse_pack_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_pack");
    if (n > 0) gpu_start(dev, T(coarse_pack_global), dim3(T(blocks_for)(n * a->reals, MOVE_THREADS)), MOVE_THREADS, *a, n);
}

/* A thread moves a component of a vector into the null vectors of its site. */
static __global__ void __launch_bounds__(MOVE_THREADS)
    T(coarse_insert_global)(const __grid_constant__ coarse_insert_args a, long n)
{
    gpu_begin();
    const long k = (long)blockIdx.x * MOVE_THREADS + threadIdx.x, u = k / a.of.components;
    if (u < n) T(coarse_insert_component)(&a, u, (int)(k % a.of.components));
}

void T(coarse_insert_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_insert_args *a = (const coarse_insert_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_insert");
    if (n > 0)
        gpu_start(dev, T(coarse_insert_global), dim3(T(blocks_for)(n * a->of.components, MOVE_THREADS)), MOVE_THREADS, *a,
                  n);
}

/* A block does one link of a site. */
static __global__ void __launch_bounds__(MOVE_THREADS)
    T(coarse_backward_global)(const __grid_constant__ coarse_backward_args a)
{
    gpu_begin();
    const int n = a.components, mu = (int)blockIdx.x % 4;
    const T(backward_link) l = T(backward_of)(&a, (long)(blockIdx.x / 4), mu);
    for (int k = (int)threadIdx.x; k < n * n; k += MOVE_THREADS) T(backward_element)(&l, n, k % n, k / n);
}

void T(coarse_backward_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    REQUIRE(!list, "a list for %s", "coarse_backward");
    if (n > 0)
        gpu_start(dev, T(coarse_backward_global), dim3((unsigned)(4 * n)), MOVE_THREADS,
                  *(const coarse_backward_args *)args);
}

#include "kernels/family/coarse_transfer.cuh"

/* ---- orthonormal null vectors ---- */

#define ORTHONORMAL_THREADS 512

/* A block does an aggregate and chirality: products of vectors by pairs, the factor row by row, and a warp for each
 * component that is divided by it. */
static __global__ void __launch_bounds__(ORTHONORMAL_THREADS)
    T(coarse_orthonormalise_global)(const __grid_constant__ coarse_orthonormalise_args a, long aggregates,
                                    const __grid_constant__ gpu_device dev)
{
    extern __shared__ __align__(16) unsigned char orthonormal_memory[];
    T(products) *gram = (T(products) *)orthonormal_memory;
    __shared__ int dependent;
    gpu_begin();
    const coarse_aggregates *m = &a.of;
    const int n = m->vectors, half = m->components / 2, chirality = (int)blockIdx.x % 2, thread = (int)threadIdx.x;
    const int sites = T(aggregate_sites)(m), lane = thread % WARP;
    const long u = (long)(blockIdx.x / 2);
    const int passes = u < aggregates ? 2 : 0; /* a launch without aggregates sums nothing */
    T(member) first = {};
    if (u < aggregates) first = T(aggregate_first)(m, u);
    if (thread == 0) dependent = 0;
    for (int pass = 0; pass < passes; pass++) {
        __syncthreads();
        for (int pair = thread; pair < n * n; pair += ORTHONORMAL_THREADS) {
            const int k = pair / n, l = pair % n;
            if (l < k) continue;
            T(member) at = first;
            double re = 0, im = 0;
            for (int s = sites; s > 0; s--, T(aggregate_next)(m, &at)) {
                const real *v = T(null_at)(m, &a.vectors, at.of_all, chirality * half);
#pragma unroll 4
                for (int i = 0; i < half; i++, v += 2 * m->padded)
                    T(gram_add)(&re, &im, v[k], v[m->padded + k], v[l], v[m->padded + l]);
            }
            gram[k].re[l] = re;
            gram[k].im[l] = im;
        }
        __syncthreads();
        for (int k = 0; k < n && thread < WARP; k++) { /* single warp: each row needs all before it */
            int bad = 0;
            const double root = T(cholesky_pivot)(gram, k, &bad);
            __syncwarp();
            if (thread == 0) {
                gram[k].re[k] = root;
                gram[k].im[k] = 0;
                dependent += bad;
            }
            for (int l = k + 1 + thread; l < n; l += WARP) T(cholesky_element)(gram, k, l, root);
            __syncwarp();
        }
        __syncthreads();
        for (int c = thread / WARP; c < sites * half; c += ORTHONORMAL_THREADS / WARP) {
            const T(member) at = T(aggregate_member)(m, &first, c / half);
            real *v = T(null_at)(m, &a.vectors, at.of_all, chirality * half + c % half);
            double re[2], im[2];
            UNROLL for (int h = 0; h < 2; h++)
            {
                const int l = lane + h * WARP;
                re[h] = l < n ? (double)v[l] : 0;
                im[h] = l < n ? (double)v[m->padded + l] : 0;
            }
            for (int k = 0; k < n; k++) {
                const double inverse = 1 / gram[k].re[k];
                const double xr = __shfl_sync(0xffffffffu, k < WARP ? re[0] : re[1], k % WARP) * inverse,
                             xi = __shfl_sync(0xffffffffu, k < WARP ? im[0] : im[1], k % WARP) * inverse;
                UNROLL for (int h = 0; h < 2; h++)
                {
                    const int l = lane + h * WARP;
                    if (l == k) {
                        re[h] = xr;
                        im[h] = xi;
                    } else if (l > k && l < n) {
                        T(divide_element)(&re[h], &im[h], xr, xi, gram[k].re[l], gram[k].im[l]);
                    }
                }
            }
            UNROLL for (int h = 0; h < 2; h++)
            {
                const int l = lane + h * WARP;
                if (l < n) {
                    v[l] = (real)re[h];
                    v[m->padded + l] = (real)im[h];
                }
            }
        }
    }
    __syncthreads();
    vexact mine;
    T(exact_open)(&mine);
    if (thread == 0) T(exact_deposit)(&mine, (double)dependent);
    exact_sum whole = T(exact_closed)(&mine);
    gpu_grid_sum_warps(&whole, 1, 0, 1, &dev);
}

void T(coarse_orthonormalise_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_orthonormalise_args *a = (const coarse_orthonormalise_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_orthonormalise");
    gpu_start_sharing(dev, T(coarse_orthonormalise_global), dim3((unsigned)(n > 0 ? 2 * n : 1)), ORTHONORMAL_THREADS,
                      a->of.vectors * (int)sizeof(T(products)), *a, n, *dev);
}

#include "kernels/family/coarse_galerkin.cuh"

/* ---- inverses ---- */

#define INVERT_THREADS 256

/* The row of the pivot, as pivot_row() finds it: the first of the largest. */
static __device__ __forceinline__ int T(pivot_of_block)(const real *column, int n, int p)
{
    __shared__ int chosen;
    if (threadIdx.x < WARP) {
        int best = p;
        real most = -1;
        for (int i = p + (int)threadIdx.x; i < n; i += WARP) {
            const real size = column[i] * column[i] + column[n + i] * column[n + i];
            if (size > most) {
                most = size;
                best = i;
            }
        }
        UNROLL for (int step = WARP / 2; step > 0; step /= 2)
        {
            const real size = __shfl_xor_sync(0xffffffffu, most, step);
            const int other = __shfl_xor_sync(0xffffffffu, best, step);
            if (size > most || (size == most && other < best)) {
                most = size;
                best = other;
            }
        }
        if (threadIdx.x == 0) chosen = best;
    }
    __syncthreads();
    return chosen;
}

/* A block does a site's matrix where it stands, step by step as coarse_invert_site() does. */
static __global__ void __launch_bounds__(INVERT_THREADS)
    T(coarse_invert_global)(const __grid_constant__ coarse_invert_args a)
{
    __shared__ T(parts) pivot;
    __shared__ int from[COARSE_COMPONENTS_MOST];
    gpu_begin();
    const int n = a.components, thread = (int)threadIdx.x;
    const real *in = T(row_at)(&a.in, (long)blockIdx.x, 0);
    real *m = T(row_at)(&a.out, (long)blockIdx.x, 0);
    if (m != in)
        for (int k = thread; k < 2 * n * n; k += INVERT_THREADS) m[k] = in[k];
    for (int p = 0; p < n; p++) {
        real *column = m + (long)p * 2 * n;
        __syncthreads();
        const int q = T(pivot_of_block)(column, n, p);
        if (thread == 0) from[p] = q;
        if (q != p)
            for (int j = thread; j < 2 * n; j += INVERT_THREADS) {
                const real t = m[(long)j * n + p];
                m[(long)j * n + p] = m[(long)j * n + q];
                m[(long)j * n + q] = t;
            }
        __syncthreads();
        const real r = column[p], i = column[n + p], size = r * r + i * i, ir = r / size, ii = -i / size;
        __syncthreads();
        for (int k = thread; k < n; k += INVERT_THREADS) {
            pivot.re[k] = k == p ? 0 : column[k];
            pivot.im[k] = k == p ? 0 : column[n + k];
            column[k] = k == p ? 1 : 0;
            column[n + k] = 0;
        }
        __syncthreads();
        for (int j = thread / WARP; j < n; j += INVERT_THREADS / WARP) {
            real *re = m + (long)j * 2 * n, *im = re + n;
            const real jr = re[p], ji = im[p], fr = jr * ir - ji * ii, fi = jr * ii + ji * ir;
            __syncwarp();
            for (int k = thread % WARP; k < n; k += WARP) {
                T(eliminate_element)(&re[k], &im[k], pivot.re[k], pivot.im[k], fr, fi);
                if (k == p) {
                    re[k] = fr;
                    im[k] = fi;
                }
            }
        }
    }
    for (int p = n - 1; p >= 0; p--) {
        __syncthreads();
        if (from[p] == p) continue;
        real *one = m + (long)p * 2 * n, *other = m + (long)from[p] * 2 * n;
        for (int k = thread; k < 2 * n; k += INVERT_THREADS) {
            const real t = one[k];
            one[k] = other[k];
            other[k] = t;
        }
    }
}

void T(coarse_invert_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    REQUIRE(!list, "a list for %s", "coarse_invert");
    if (n > 0)
        gpu_start(dev, T(coarse_invert_global), dim3((unsigned)n), INVERT_THREADS, *(const coarse_invert_args *)args);
}

/* A block does some columns of a link. */
#define FOLD_COLUMNS 8

static __global__ void __launch_bounds__(INVERT_THREADS)
    T(coarse_fold_global)(const __grid_constant__ coarse_fold_args a, int tiles)
{
    __shared__ real x[FOLD_COLUMNS][2 * COARSE_COMPONENTS_MOST]; /* vectors as fields store them */
    gpu_begin();
    const int n = a.components, tile = (int)blockIdx.x % tiles, dir = (int)blockIdx.x / tiles % a.links.groups;
    const long u = (long)(blockIdx.x / tiles / a.links.groups);
    const int first = tile * FOLD_COLUMNS, width = n - first < FOLD_COLUMNS ? n - first : FOLD_COLUMNS;
    real *columns = T(row_at)(&a.links, u, dir) + (long)first * 2 * n;
    const real *inverse = T(row_at)(&a.inverse, u, 0);
    for (int k = (int)threadIdx.x; k < width * 2 * n; k += INVERT_THREADS) x[k / (2 * n)][k % n * 2 + k / n % 2] = columns[k];
    __syncthreads();
    for (int k = (int)threadIdx.x; k < width * n; k += INVERT_THREADS) {
        const int j = k / n, i = k % n;
        real re, im;
        T(row_times)(&re, &im, inverse + i, x[j], n);
        columns[(long)j * 2 * n + i] = re;
        columns[(long)j * 2 * n + n + i] = im;
    }
}

void T(coarse_fold_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_fold_args *a = (const coarse_fold_args *)args;
    const int tiles = (a->components + FOLD_COLUMNS - 1) / FOLD_COLUMNS;
    REQUIRE(!list, "a list for %s", "coarse_fold");
    if (n > 0)
        gpu_start(dev, T(coarse_fold_global), dim3((unsigned)(n * a->links.groups * tiles)), INVERT_THREADS, *a, tiles);
}

#endif
