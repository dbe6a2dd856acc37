/* Restriction to a coarse lattice and prolongation from it on a GPU (kernels/family/coarse.cuh). */

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
    else T(prolong_start)<4, 8 / sizeof(real), packs>(dev, a, n);
}

void T(coarse_prolong_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const coarse_prolong_args *a = (const coarse_prolong_args *)args;
    REQUIRE(!list, "a list for %s", "coarse_prolong");
    if (n == 0) return;
    T(prolong_choose)<COARSE_VECTORS_MOST / COARSE_PAD>(dev, a, n);
}
