/* The coarse hop of several right-hand sides on tensor cores, in single precision: the coefficients of M. Clark et al.,
 * arXiv:1612.07873, eq. (13), as products of real matrices in TF32.
 *
 * A block does a site and up to 8 `eights` right-hand sides, a warp one direction of it. Real and imaginary parts r, i are real
 * columns of their own: sums of re += Mr xr - Mi xi and of im += Mr xi + Mi xr. Rows and columns of tiles are numbered so that
 * what a thread reads lies together: row g of tile k is row 2 tiles g + 2 k of the matrix, row g + 8 the next one, and columns
 * t and t + 4 are columns 2 t and 2 t + 1 of eight. Directions are added in their order. */
#if PLAQ_PREC == 1

#include "kernels/site/tensor.cuh"

#define TENSOR_THREADS (8 * WARP)
#define TENSOR_TILES_MOST 4 /* tiles of 16 rows: 32 null vectors; beyond it the plain kernel serves */

/* Rows of a thread in a column, two a tile. */
template <int tiles>
static __device__ __forceinline__ void T(tensor_rows)(uint32_t to[2 * tiles], const float *column)
{
    UNROLL for (int k = 0; k < tiles; k++)
    {
        const float2 two = __ldg((const float2 *)column + k);
        to[2 * k] = tensor_number(two.x);
        to[2 * k + 1] = tensor_number(two.y);
    }
}

template <int tiles>
static __device__ __forceinline__ void T(tensor_rows)(uint32_t to[2 * tiles], const int16_t *column)
{
    UNROLL for (int k = 0; k < tiles; k++)
    {
        const short2 two = __ldg((const short2 *)column + k);
        to[2 * k] = tensor_number(two.x);
        to[2 * k + 1] = tensor_number(two.y);
    }
}

template <typename number, int tiles, int eights>
static __global__ void __launch_bounds__(TENSOR_THREADS)
    T(coarse_hop_tensor_global)(const __grid_constant__ coarse_hop_args a, int parts)
{
    constexpr int n = 16 * tiles, many = 8 * eights;
    extern __shared__ __align__(16) unsigned char tensor_memory[];
    T(pair) *sums = (T(pair) *)tensor_memory; /* [direction][right-hand side][row] */
    gpu_begin();
    const int part = (int)(blockIdx.x % parts), groups = a.out.groups, dir = (int)threadIdx.x / WARP,
              g = (int)threadIdx.x % WARP / 4, t = (int)threadIdx.x % 4;
    const long u = (long)(blockIdx.x / parts);
    const T(neighbour) next = T(row_neighbour)(&a.g, a.parity, u, dir);
    const view *in = next.near == NEAR_GHOST ? &a.ghost[dir] : &a.in;
    const float *x[eights];
    UNROLL for (int e = 0; e < eights; e++)
    {
        const int group = part * many + 8 * e + g;
        x[e] = T(row_at)(in, next.unit, group < groups ? group : groups - 1) + 4 * t;
    }
    const number *matrix = (const number *)a.links.data + dir * a.links.group_stride + u * a.links.stride +
                           (long)4 * t * n + 2 * tiles * g;
    float re[eights][tiles][4], im[eights][tiles][4];
    UNROLL for (int e = 0; e < eights; e++) UNROLL for (int k = 0; k < tiles; k++) UNROLL for (int i = 0; i < 4; i++)
        re[e][k][i] = im[e][k][i] = 0;
#pragma unroll 1
    for (int j = 0; j < n; j += 8, matrix += 16 * n) {
        uint32_t mr[2][2 * tiles], mi[2][2 * tiles];
        float4 v[eights];
        UNROLL for (int c = 0; c < 2; c++)
        {
            T(tensor_rows)<tiles>(mr[c], matrix + c * 2 * n);
            T(tensor_rows)<tiles>(mi[c], matrix + c * 2 * n + n);
        }
        UNROLL for (int e = 0; e < eights; e++) v[e] = *(const float4 *)(x[e] + 2 * j);
        UNROLL for (int e = 0; e < eights; e++)
        {
            const uint32_t r0 = tensor_number(v[e].x), i0 = tensor_number(v[e].y), r1 = tensor_number(v[e].z),
                           i1 = tensor_number(v[e].w);
            UNROLL for (int k = 0; k < tiles; k++)
            {
                const uint32_t r[4] = {mr[0][2 * k], mr[0][2 * k + 1], mr[1][2 * k], mr[1][2 * k + 1]},
                               i[4] = {mi[0][2 * k], mi[0][2 * k + 1], mi[1][2 * k], mi[1][2 * k + 1]};
                tensor_add(re[e][k], r, r0, r1);
                tensor_add(re[e][k], i, tensor_negative(i0), tensor_negative(i1));
                tensor_add(im[e][k], r, i0, i1);
                tensor_add(im[e][k], i, r0, r1);
            }
        }
    }
    const float scale = sizeof(number) < sizeof(float) ? T(fixed_scale)(&a.links, u, dir) : 1.0f;
    UNROLL for (int e = 0; e < eights; e++) UNROLL for (int k = 0; k < tiles; k++) UNROLL for (int i = 0; i < 4; i++)
    {
        const int column = 8 * e + 2 * t + i % 2, row = 2 * tiles * g + 2 * k + i / 2;
        sums[(dir * many + column) * n + row] = {scale * re[e][k][i], scale * im[e][k][i]};
    }
    __syncthreads();
    for (int k = (int)threadIdx.x; k < many * n; k += TENSOR_THREADS) {
        const int group = part * many + k / n;
        if (group >= groups) break;
        T(pair) s = sums[k];
        UNROLL for (int d = 1; d < 8; d++)
        {
            s.x += sums[d * many * n + k].x;
            s.y += sums[d * many * n + k].y;
        }
        T(coarse_hop_row)(&a, u, group, k % n, s.x, s.y);
    }
}

template <typename number, int tiles, int eights>
static void T(tensor_start)(const gpu_device *dev, const coarse_hop_args *a, long n)
{
    const int many = 8 * eights, parts = (a->out.groups + many - 1) / many;
    gpu_start_sharing(dev, T(coarse_hop_tensor_global) < number, tiles, eights >, dim3((unsigned)(n * parts)),
                      TENSOR_THREADS, 8 * many * 16 * tiles * (int)sizeof(T(pair)), *a, parts);
}

template <typename number, int tiles>
static void T(tensor_launch)(const gpu_device *dev, const coarse_hop_args *a, long n)
{
    if constexpr (tiles > 1)
        if (a->components < 16 * tiles) {
            T(tensor_launch)<number, tiles - 1>(dev, a, n);
            return;
        }
    if (a->out.groups > 8) T(tensor_start)<number, tiles, 2>(dev, a, n);
    else T(tensor_start)<number, tiles, 1>(dev, a, n);
}

void T(coarse_hop_tensor_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_hop_args *a = (const coarse_hop_args *)args;
    REQUIRE(!list && a->components % 16 == 0, "a list, or %d components, for %s", a->components, "coarse_hop_tensor");
    if (n == 0) return;
    if (a->components > 16 * TENSOR_TILES_MOST) {
        T(coarse_hop_launch)(dev, args, list, n);
        return;
    }
    if (a->links.scale) T(tensor_launch)<int16_t, TENSOR_TILES_MOST>(dev, a, n);
    else T(tensor_launch)<float, TENSOR_TILES_MOST>(dev, a, n);
}

#else

void T(coarse_hop_tensor_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    T(coarse_hop_launch)(dev, args, list, n);
}

#endif
