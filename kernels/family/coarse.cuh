/* GPU kernels of family coarse with instances of their own: all but moves between sites order and rows. Coarse lattices are
 * small and their matrices large, so a site is the work of many threads (M. Clark et al., arXiv:1612.07873, section 6): rows,
 * directions, chains of a row's sum, right-hand sides. Sums have the order of the site functions. */
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

/* ---- transfer ---- */

/* A block does an aggregate and chirality; a thread a vector and a share of the lines (COARSE_PAD shares, as in
 * coarse_restrict_site()), for `many` right-hand sides. */
template <int many>
static __global__ void __launch_bounds__(COARSE_VECTORS_MOST *COARSE_PAD)
    T(coarse_restrict_global)(const __grid_constant__ coarse_restrict_args a, int tiles)
{
    extern __shared__ __align__(16) unsigned char restrict_memory[];
    T(pair) *part = (T(pair) *)restrict_memory; /* [share][right-hand side][vector] */
    gpu_begin();
    const coarse_aggregates *m = &a.of;
    const int n = m->padded, half = m->components / 2, groups = a.coarse_vector.groups;
    const int tile = (int)blockIdx.x % tiles, chirality = (int)blockIdx.x / tiles % 2;
    const long u = (long)(blockIdx.x / tiles / 2);
    const int k = (int)threadIdx.x % n, share = (int)threadIdx.x / n;
    const int lines = m->block[1] * m->block[2] * m->block[3];
    const T(member) first = T(aggregate_first)(m, u);
    real re[many], im[many];
    UNROLL for (int g = 0; g < many; g++) re[g] = im[g] = 0;
    for (int line = share; line < lines; line += COARSE_PAD) {
        T(member) at = T(aggregate_line)(m, &first, line);
        for (int s = 0; s < m->block[0]; s++, T(member_step)(m, &at)) {
            if (a.fine != 2 && at.parity != a.fine) continue;
            const real *v = T(null_at)(m, &a.vectors, at.of_all, chirality * half) + k;
            const T(pair) * x[many];
            UNROLL for (int g = 0; g < many; g++)
            {
                const int group = tile * many + g;
                x[g] = (const T(pair) *)T(member_row)(&a, &at, group < groups ? group : groups - 1) + chirality * half;
            }
#pragma unroll 6
            for (int i = 0; i < half; i++) {
                const real vr = __ldg(v + (long)i * 2 * n), vi = __ldg(v + (long)i * 2 * n + n);
                UNROLL for (int g = 0; g < many; g++)
                {
                    const T(pair) z = x[g][i];
                    re[g] = T(real_fma)(vi, z.y, T(real_fma)(vr, z.x, re[g]));
                    im[g] = T(real_fma)(-vi, z.x, T(real_fma)(vr, z.y, im[g]));
                }
            }
        }
    }
    UNROLL for (int g = 0; g < many; g++) part[(share * many + g) * n + k] = {re[g], im[g]};
    for (int step = COARSE_PAD / 2; step > 0; step /= 2) {
        __syncthreads();
        if (share >= step) continue;
        UNROLL for (int g = 0; g < many; g++)
        {
            T(pair) *to = &part[(share * many + g) * n + k], *from = to + step * many * n;
            to->x += from->x;
            to->y += from->y;
        }
    }
    if (share > 0 || k >= m->vectors) return;
    UNROLL for (int g = 0; g < many; g++)
    {
        if (tile * many + g >= groups) break;
        ((T(pair) *)T(row_at)(&a.coarse_vector, u, tile * many + g))[chirality * m->vectors + k] = part[g * n + k];
    }
}

template <int many>
static void T(restrict_start)(const gpu_device *dev, const coarse_restrict_args *a, long n)
{
    const int tiles = (a->coarse_vector.groups + many - 1) / many, threads = a->of.padded * COARSE_PAD;
    gpu_start_sharing(dev, T(coarse_restrict_global)<many>, dim3((unsigned)(2 * n * tiles)), threads,
                      (int)sizeof(T(pair)) * threads * many, *a, tiles);
}

void T(coarse_restrict_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_restrict_args *a = (const coarse_restrict_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_restrict");
    if (n == 0) return;
    if (a->coarse_vector.groups == 1) T(restrict_start)<1>(dev, a, n);
    else T(restrict_start)<4>(dev, a, n);
}

#define PROLONG_THREADS 384 /* threads of a block, at most */
#define PROLONG_LINES 4     /* lines of a thread, at most */

/* A component of a fine site is the work of COARSE_PAD / `each` threads with `each` of the sums of prolong_component(), whose
 * numbers are read at once. A block does some components in a share of the lines of an aggregate, so many lines `together`. */
typedef struct {
    int tiles, shares, chunks; /* tiles of right-hand sides, shares of lines, chunks of components */
    int of_chunk, together;
} T(prolong_shape);

/* Numbers that lie behind each other, read as one. */
template <int each> struct alignas(sizeof(real) * each) T(numbers) {
    real at[each];
};

/* `packs` of COARSE_PAD vectors. */
template <int many, int each, int packs>
static __global__ void __launch_bounds__(PROLONG_THREADS)
    T(coarse_prolong_global)(const __grid_constant__ coarse_prolong_args a, T(prolong_shape) shape)
{
    constexpr int threads = COARSE_PAD / each;
    gpu_begin();
    const coarse_aggregates *m = &a.of;
    const int n = m->padded, half = m->components / 2, groups = a.coarse_vector.groups, width = shape.of_chunk * threads,
              jump = shape.shares * shape.together;
    const int tile = (int)blockIdx.x % shape.tiles, share = (int)blockIdx.x / shape.tiles % shape.shares,
              chunk = (int)blockIdx.x / shape.tiles / shape.shares % shape.chunks;
    const long u = (long)(blockIdx.x / shape.tiles / shape.shares / shape.chunks);
    const int t = (int)threadIdx.x % threads, i = chunk * shape.of_chunk + (int)threadIdx.x % width / threads,
              chirality = i >= half;
    if (i >= m->components) return;
    const unsigned together = ((1u << threads) - 1) << ((int)threadIdx.x % WARP / threads * threads);
    const int lines = m->block[1] * m->block[2] * m->block[3];
    const T(member) first = T(aggregate_first)(m, u);
    T(pair) c[packs][each][many];
    UNROLL for (int p = 0; p < packs; p++) UNROLL for (int e = 0; e < each; e++) UNROLL for (int g = 0; g < many; g++)
    {
        const int k = p * COARSE_PAD + t * each + e, group = tile * many + g;
        c[p][e][g] = {0, 0};
        if (k < m->vectors && group < groups)
            c[p][e][g] = ((const T(pair) *)T(row_at)(&a.coarse_vector, u, group))[chirality * m->vectors + k];
    }
    for (int line = share * shape.together + (int)threadIdx.x / width; line < lines; line += jump) {
        T(member) at = T(aggregate_line)(m, &first, line);
        for (int s = 0; s < m->block[0]; s++, T(member_step)(m, &at)) {
            if (a.fine != 2 && at.parity != a.fine) continue;
            const real *v = T(null_at)(m, &a.vectors, at.of_all, i) + t * each;
            real re[each][many], im[each][many];
            UNROLL for (int e = 0; e < each; e++) UNROLL for (int g = 0; g < many; g++) re[e][g] = im[e][g] = 0;
            T(numbers)<each> vr[packs], vi[packs];
            UNROLL for (int p = 0; p < packs; p++)
            {
                vr[p] = *(const T(numbers)<each> *)(v + p * COARSE_PAD);
                vi[p] = *(const T(numbers)<each> *)(v + n + p * COARSE_PAD);
            }
            UNROLL for (int p = 0; p < packs; p++)
            {
                UNROLL for (int e = 0; e < each; e++) UNROLL for (int g = 0; g < many; g++)
                {
                    const T(pair) z = c[p][e][g];
                    re[e][g] = T(real_fma)(-vi[p].at[e], z.y, T(real_fma)(vr[p].at[e], z.x, re[e][g]));
                    im[e][g] = T(real_fma)(vi[p].at[e], z.x, T(real_fma)(vr[p].at[e], z.y, im[e][g]));
                }
            }
            UNROLL for (int g = 0; g < many; g++)
            {
                UNROLL for (int step = COARSE_PAD / 2; step >= each; step /= 2) UNROLL for (int e = 0; e < each; e++)
                {
                    re[e][g] += __shfl_xor_sync(together, re[e][g], step / each);
                    im[e][g] += __shfl_xor_sync(together, im[e][g], step / each);
                }
                UNROLL for (int step = each / 2; step > 0; step /= 2) UNROLL for (int e = 0; e < step; e++)
                {
                    re[e][g] += re[e + step][g];
                    im[e][g] += im[e + step][g];
                }
                if (t == g % threads && tile * many + g < groups)
                    ((T(pair) *)T(member_row)(&a, &at, tile * many + g))[i] = {re[0][g], im[0][g]};
            }
        }
    }
}

template <int many, int each, int packs>
static void T(prolong_start)(const gpu_device *dev, const coarse_prolong_args *a, long n)
{
    const int lines = a->of.block[1] * a->of.block[2] * a->of.block[3], most = PROLONG_THREADS * each / COARSE_PAD;
    T(prolong_shape) s = {(a->coarse_vector.groups + many - 1) / many, 1, (a->of.components + most - 1) / most, 0, 0};
    s.of_chunk = (a->of.components + s.chunks - 1) / s.chunks;
    s.together = most / s.of_chunk < lines ? most / s.of_chunk : lines;
    s.shares = (lines + s.together * PROLONG_LINES - 1) / (s.together * PROLONG_LINES);
    gpu_start(dev, T(coarse_prolong_global)<many, each, packs>, dim3((unsigned)(n * s.tiles * s.shares * s.chunks)),
              s.of_chunk * COARSE_PAD / each * s.together, *a, s);
}

template <int packs> static void T(prolong_choose)(const gpu_device *dev, const coarse_prolong_args *a, long n)
{
    if constexpr (packs > 1)
        if (a->of.padded < packs * COARSE_PAD) {
            T(prolong_choose)<packs - 1>(dev, a, n);
            return;
        }
    if (a->coarse_vector.groups == 1) T(prolong_start)<1, 16 / sizeof(real), packs>(dev, a, n);
    else T(prolong_start)<4, 1, packs>(dev, a, n);
}

void T(coarse_prolong_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_prolong_args *a = (const coarse_prolong_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_prolong");
    if (n == 0) return;
    T(prolong_choose)<COARSE_VECTORS_MOST / COARSE_PAD>(dev, a, n);
}

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

/* ---- Galerkin products ---- */

/* A block does some rows and columns of the products at a site: vectors of P^dagger, and those of one chirality of P. Site
 * by site of the aggregate the columns W of all five terms, or of one, meet in shared memory. */

/* Wilson-clover threads do one row and column each, for either chirality of P^dagger and all links. W has 6 components of the
 * site-diagonal part, and of each hop 6 of either chirality. */
#define WILSON_COMPONENTS 54
#define WILSON_COLUMNS 32
#define WILSON_THREADS 640

typedef struct {
    int column_tiles, row_tiles, columns, rows;
} T(wilson_shape);

/* sum = sum_i conj(v_i) w_i over `half` components of w, [component][column], added to `to`. */
static __device__ __forceinline__ void T(project_element)(T(columns) * to, const real *v, int n, const T(columns) * w,
                                                          int apart, int half)
{
    T(columns) s;
    T(columns_set)(&s, v[0], -v[n], w[0].re, w[0].im);
    for (int i = 1; i < half; i++) {
        w += apart;
        v += 2 * n;
        T(columns_add)(&s, v[0], -v[n], w->re, w->im);
    }
    to->re[0] += s.re[0];
    to->im[0] += s.im[0];
}

/* An element of the inner part or of a link, where the columns of a chirality begin at `first`. */
static __device__ __forceinline__ void T(element_save)(const view *out, long u, int dir, const T(columns) * x, int row,
                                                       int column, int n)
{
    real *m = T(row_at)(out, u, dir) + (long)column * 2 * n;
    m[row] = x->re[0];
    m[n + row] = x->im[0];
}

static __global__ void __launch_bounds__(WILSON_THREADS)
    T(coarse_galerkin_wilson_global)(const __grid_constant__ coarse_galerkin_wilson_args a, T(wilson_shape) shape)
{
    extern __shared__ __align__(16) unsigned char galerkin_memory[];
    T(columns) *w = (T(columns) *)galerkin_memory; /* [WILSON_COMPONENTS][WILSON_COLUMNS] */
    gpu_begin();
    const coarse_aggregates *m = &a.of;
    const int vectors = m->vectors, n = m->padded, thread = (int)threadIdx.x;
    const int column_tile = (int)blockIdx.x % shape.column_tiles,
              row_tile = (int)blockIdx.x / shape.column_tiles % shape.row_tiles,
              chirality = (int)blockIdx.x / shape.column_tiles / shape.row_tiles % 2;
    const long u = (long)(blockIdx.x / shape.column_tiles / shape.row_tiles / 2);
    const int from = column_tile * shape.columns,
              width = vectors - from < shape.columns ? vectors - from : shape.columns;
    const int c = thread % shape.columns, k = row_tile * shape.rows + thread / shape.columns;
    const bool idle = c >= width || k >= vectors;
    T(columns) inner[2], hop[4][2];
    UNROLL for (int h = 0; h < 2; h++)
    {
        inner[h] = {{0}, {0}};
        UNROLL for (int mu = 0; mu < 4; mu++) hop[mu][h] = {{0}, {0}};
    }
    T(member) at = T(aggregate_first)(m, u);
    for (int s = T(aggregate_sites)(m); s > 0; s--, T(aggregate_next)(m, &at)) {
        const real *here = T(row_at)(&a.vectors, at.of_all, 0);
        __syncthreads();
        for (int task = thread; task < 5 * WILSON_COLUMNS; task += (int)blockDim.x) {
            const int term = task / WILSON_COLUMNS, column = task % WILSON_COLUMNS;
            if (column >= width) continue;
            T(columns) x[6], other[6], *to = w + column;
            if (term == 0) {
                T(clover_columns)
                (x, T(row_at)(&a.diagonal, at.of_all, 0) + 36 * chirality, here + (long)12 * chirality * n + from + column,
                 n);
                UNROLL for (int i = 0; i < 6; i++) to[i * WILSON_COLUMNS] = x[i];
            } else {
                const int mu = term - 1;
                const T(ahead) ahead = T(step_ahead)(&a, &at, mu);
                T(link_columns)
                (x, T(row_at)(&a.links, at.of_all, 0) + 18 * mu,
                 ahead.vectors + (long)12 * chirality * n + from + column, n, ahead.sign);
                T(gamma_columns)(other, x, mu, chirality);
                UNROLL for (int i = 0; i < 6; i++)
                {
                    to[(6 + 12 * mu + i) * WILSON_COLUMNS] = x[i];
                    to[(12 + 12 * mu + i) * WILSON_COLUMNS] = other[i];
                }
            }
        }
        __syncthreads();
        if (idle) continue;
        UNROLL for (int h = 0; h < 2; h++)
        {
            const real *v = here + (long)12 * (h ? 1 - chirality : chirality) * n + k;
            const T(columns) *x = w + c;
            if (h == 0) T(project_element)(&inner[0], v, n, x, WILSON_COLUMNS, 6);
            UNROLL for (int mu = 0; mu < 4; mu++)
            {
                const bool leaves = at.in[mu] + 1 == m->block[mu];
                T(columns) to = leaves ? hop[mu][h] : inner[h];
                T(project_element)(&to, v, n, x + (6 + 12 * mu + 6 * h) * WILSON_COLUMNS, WILSON_COLUMNS, 6);
                if (leaves) hop[mu][h] = to;
                else inner[h] = to;
            }
        }
    }
    if (idle) return;
    UNROLL for (int h = 0; h < 2; h++)
    {
        const int row = (h ? 1 - chirality : chirality) * vectors + k;
        UNROLL for (int mu = 0; mu < 4; mu++)
            T(element_save)(&a.out, u, 2 * mu, &hop[mu][h], row, chirality * vectors + from + c, 2 * vectors);
        T(element_save)(&a.out_diagonal, u, 0, &inner[h], row, chirality * vectors + from + c, 2 * vectors);
    }
}

/* The diagonal of a site, when all of its columns are there. */
static __global__ void __launch_bounds__(MOVE_THREADS) T(complete_global)(const __grid_constant__ view out, int n)
{
    gpu_begin();
    for (int k = (int)threadIdx.x; k < n * n; k += MOVE_THREADS)
        if (k % n <= k / n) T(complete_element)(T(row_at)(&out, (long)blockIdx.x, 0), n, k % n, k / n);
}

static void T(complete_start)(const gpu_device *dev, const coarse_galerkin_args *a, long n)
{
    gpu_start(dev, T(complete_global), dim3((unsigned)n), MOVE_THREADS, a->out_diagonal, 2 * a->of.vectors);
}

void T(coarse_galerkin_wilson_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_galerkin_wilson_args *a = (const coarse_galerkin_wilson_args *)args;
    const int vectors = a->of.vectors;
    T(wilson_shape) w = {(vectors + WILSON_COLUMNS - 1) / WILSON_COLUMNS, 1, 0, 0};
    REQUIRE(!list, "a list for %s", "coarse_galerkin_wilson");
    if (n == 0) return;
    w.columns = (vectors + w.column_tiles - 1) / w.column_tiles;
    const int most = WILSON_THREADS / w.columns;
    w.row_tiles = (vectors + most - 1) / most;
    w.rows = (vectors + w.row_tiles - 1) / w.row_tiles;
    gpu_start_sharing(dev, T(coarse_galerkin_wilson_global), dim3((unsigned)(2 * n * w.column_tiles * w.row_tiles)),
                      w.rows * w.columns, (int)sizeof(T(columns)) * WILSON_COMPONENTS * WILSON_COLUMNS, *a, w);
    T(complete_start)(dev, a, n);
}

/* A coarse operator's columns are many, so a block does few of them, and the five terms one behind the other. */
#define GALERKIN_VECTORS 8
#define GALERKIN_THREADS 512

static __global__ void __launch_bounds__(GALERKIN_THREADS)
    T(coarse_galerkin_global)(const __grid_constant__ coarse_galerkin_args a, int tiles)
{
    extern __shared__ __align__(16) unsigned char galerkin_memory[];
    gpu_begin();
    const coarse_aggregates *m = &a.of;
    const int vectors = m->vectors, fine = m->components, half = fine / 2, n = m->padded, thread = (int)threadIdx.x;
    const int tile = (int)blockIdx.x % tiles, chirality = (int)blockIdx.x / tiles % 2;
    const long u = (long)(blockIdx.x / tiles / 2);
    const int from = tile * GALERKIN_VECTORS,
              width = vectors - from < GALERKIN_VECTORS ? vectors - from : GALERKIN_VECTORS;
    T(columns) *y = (T(columns) *)galerkin_memory, *w = y + fine * GALERKIN_VECTORS; /* [component][column] */
    const int c = thread % GALERKIN_VECTORS, k0 = thread / GALERKIN_VECTORS;
    constexpr int stride = GALERKIN_THREADS / GALERKIN_VECTORS, mine = COARSE_COMPONENTS_MOST / stride;
    /* rows of the product: those of both chiralities, one behind the other */
    T(columns) inner[mine], hop[4][mine];
    UNROLL for (int e = 0; e < mine; e++)
    {
        inner[e] = {{0}, {0}};
        UNROLL for (int mu = 0; mu < 4; mu++) hop[mu][e] = {{0}, {0}};
    }
    T(member) at = T(aggregate_first)(m, u);
    for (int s = T(aggregate_sites)(m); s > 0; s--, T(aggregate_next)(m, &at)) {
        const real *here = T(row_at)(&a.vectors, at.of_all, 0), *diagonal = T(row_at)(&a.diagonal, at.of_all, 0);
        UNROLL for (int mu = -1; mu < 4; mu++)
        {
            T(ahead) ahead = {here, 0, 1};
            if (mu >= 0) ahead = T(step_ahead)(&a, &at, mu);
            const real *x = ahead.vectors + (long)chirality * half * 2 * n + from + c,
                       *first = mu < 0 ? diagonal : T(row_at)(&a.links, at.of_all, 2 * mu);
            __syncthreads();
            if (c < width)
                for (int i = k0; i < fine; i += stride)
                    T(matrix_row_columns)
                    (mu < 0 ? &w[i * GALERKIN_VECTORS + c] : &y[i * GALERKIN_VECTORS + c], mu < 0 ? (real)0.5 : 1, first,
                     fine, i, x, 2 * n, n, chirality * half, half);
            __syncthreads();
            if (mu >= 0 && c < width)
                for (int i = k0; i < fine; i += stride)
                    T(matrix_row_columns)
                    (&w[i * GALERKIN_VECTORS + c], 1, diagonal, fine, i, y[c].re, 2 * GALERKIN_VECTORS, 1, 0, fine);
            __syncthreads();
            if (c < width) UNROLL for (int e = 0; e < mine; e++)
                {
                    const int row = k0 + e * stride, of = row >= vectors, k = row - of * vectors;
                    if (row >= 2 * vectors) break;
                    T(columns) to = inner[e];
                    if (mu >= 0 && ahead.leaves) to = hop[mu < 0 ? 0 : mu][e];
                    T(project_element)
                    (&to, here + (long)of * half * 2 * n + k, n, w + of * half * GALERKIN_VECTORS + c, GALERKIN_VECTORS,
                     half);
                    if (mu >= 0 && ahead.leaves) hop[mu < 0 ? 0 : mu][e] = to;
                    else inner[e] = to;
                }
        }
    }
    if (c >= width) return;
    UNROLL for (int e = 0; e < mine; e++)
    {
        const int row = k0 + e * stride;
        if (row >= 2 * vectors) break;
        UNROLL for (int mu = 0; mu < 4; mu++)
            T(element_save)(&a.out, u, 2 * mu, &hop[mu][e], row, chirality * vectors + from + c, 2 * vectors);
        T(element_save)(&a.out_diagonal, u, 0, &inner[e], row, chirality * vectors + from + c, 2 * vectors);
    }
}

void T(coarse_galerkin_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_galerkin_args *a = (const coarse_galerkin_args *)args;
    const int tiles = (a->of.vectors + GALERKIN_VECTORS - 1) / GALERKIN_VECTORS;
    REQUIRE(!list, "a list for %s", "coarse_galerkin");
    if (n == 0) return;
    gpu_start_sharing(dev, T(coarse_galerkin_global), dim3((unsigned)(2 * n * tiles)), GALERKIN_THREADS,
                      2 * (int)sizeof(T(columns)) * a->of.components * GALERKIN_VECTORS, *a, tiles);
    T(complete_start)(dev, a, n);
}

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
