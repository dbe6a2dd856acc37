/* GPU kernels of family domainwall with instances of their own: matrices in the fifth dimension, alone and behind a hop.
 *
 * A block does all slices of a few sites. A thread leaves `many` slices of a site in shared memory, and when all have come makes as
 * many of the product from those of its site. Slices of a thread share the links. Reads from shared memory bind the product: above
 * half precision a thread makes twice as many slices of one chirality instead, from half of the numbers; below, a spinor's scale
 * needs both. */
#define OWN_fifth , NO_INSTANCE
#define OWN_hop_fifth , NO_INSTANCE

#define CHIRALITY_APART (PLAQ_PREC <= 1)

/* Slices of a thread without a hop; cap of registers, with which more blocks came out ahead of fewer spills; threads of a block at
 * most. */
#define FIFTH_MANY 2
#define FIFTH_CAP (PLAQ_PREC == 0 ? 128 : 80)
#define FIFTH_THREADS 128

/* Cap behind a hop, and threads of a block at most. */
#define HOP_FIFTH_CAP(many) (PLAQ_PREC == 0 || (many) > 1 ? 168 : 80)
#define HOP_FIFTH_THREADS (PLAQ_PREC <= 1 ? 256 : 384)
#define SHARED_MOST (227 * 1024) /* shared memory of a processor */

/* How a block divides its threads: so many sites for each `many` slices, of the fields that the matrix leads from and to the one
 * with more. */
typedef struct {
    int sites, Ls, from;
    unsigned inverse; /* gpu_inverse() of the sites */
} T(fifth_block);

/* Numbers that go together into shared memory and out of it. */
#define FIFTH_PACK (PLAQ_PREC == 0 ? 2 : 4)
typedef struct __align__(16)
{
    real of[FIFTH_PACK];
}
T(fifth_pack);

/* Place of a thread in its block: the site, and the number of its group of threads. */
typedef struct {
    int site, group;
} T(fifth_place);

static __device__ __forceinline__ T(fifth_place) T(fifth_here)(T(fifth_block) f)
{
    const int group = (int)gpu_quotient(threadIdx.x, f.inverse);
    return {(int)threadIdx.x - group * f.sites, group};
}

/* Shared memory: packs [slice][24 / pack][site], and behind them the matrix [chirality][t][s], so that the coefficients of a
 * thread follow each other. */
static __device__ __forceinline__ T(fifth_pack) * T(fifth_packs)(int slice, int site, T(fifth_block) f)
{
    extern __shared__ __align__(16) unsigned char fifth_memory[];
    return (T(fifth_pack) *)fifth_memory + slice * (24 / FIFTH_PACK) * f.sites + site;
}

static __device__ __forceinline__ real *T(fifth_coefficients)(T(fifth_block) f)
{
    return (real *)T(fifth_packs)(f.from, 0, f);
}

template <int many>
static __device__ __forceinline__ void T(fifth_leave)(const vreal *x, T(fifth_place) here, T(fifth_block) f)
{
    T(fifth_pack) *packs = T(fifth_packs)(here.group * many, here.site, f);
    UNROLL for (int i = 0; i < 24 * many; i += FIFTH_PACK)
    {
        T(fifth_pack) p;
        UNROLL for (int k = 0; k < FIFTH_PACK; k++) p.of[k] = x[i + k];
        packs[i / FIFTH_PACK * f.sites] = p;
    }
}

static __device__ __forceinline__ void T(fifth_leave_matrix)(const fifth_matrix *m, T(fifth_block) f)
{
    real *matrix = T(fifth_coefficients)(f);
    for (int k = (int)threadIdx.x; k < 2 * f.Ls * f.from; k += (int)blockDim.x) {
        const int rest = k / f.Ls, c = rest / f.from;
        matrix[k] = (real)m->of[c][k % f.Ls][rest % f.from];
    }
}

/* Reads n numbers of a site, and walks on to its next slice. */
template <int n>
static __device__ __forceinline__ void T(fifth_take)(vreal *x, const T(fifth_pack) * *packs, T(fifth_block) f)
{
    UNROLL for (int i = 0; i < n; i += FIFTH_PACK)
    {
        const T(fifth_pack) p = (*packs)[i / FIFTH_PACK * f.sites];
        UNROLL for (int k = 0; k < FIFTH_PACK; k++) x[i + k] = p.of[k];
    }
    *packs += 24 / FIFTH_PACK * f.sites;
}

/* Slices s to s + many - 1 of m x + b add, into out; `first` is the number of the right-hand side's first group in these. */
template <int many>
static __device__ __forceinline__ void T(fifth_spinors)(const view *out, const view *add, double b, int adds, long u,
                                                        int first, T(fifth_place) here, T(fifth_block) f)
{
    const int s = here.group * many;
    const T(fifth_pack) *packs = T(fifth_packs)(0, here.site, f);
    const real *upper = T(fifth_coefficients)(f) + s, *lower = upper + f.Ls * f.from;
    vreal y[24 * many];
    UNROLL for (int k = 0; k < many; k++) T(fifth_begin)(y + 24 * k, add, b, adds, u, first + s + k);
    for (int t = 0; t < f.from; t++, upper += f.Ls, lower += f.Ls) {
        vreal x[24], m[2][many];
        UNROLL for (int k = 0; k < many; k++)
        {
            m[0][k] = upper[k];
            m[1][k] = lower[k];
        }
        T(fifth_take)<24>(x, &packs, f);
        UNROLL for (int k = 0; k < many; k++) T(fifth_term)(y + 24 * k, m[0][k], m[1][k], x);
    }
    UNROLL for (int k = 0; k < many; k++) T(save)(y + 24 * k, out, u, first + s + k, 24);
}

#if CHIRALITY_APART
/* The twelve numbers of a chirality of a spinor. */
static __device__ __forceinline__ stored *T(chirality_at)(const view *v, long u, int group, int chirality)
{
    return T(at)(v, u, group, 24, 0) + 12 * chirality * LINEAR_BLOCK;
}

static __device__ __forceinline__ void T(chirality_load)(vreal x[12], const view *v, long u, int group, int chirality)
{
    const stored *p = T(chirality_at)(v, u, group, chirality);
    UNROLL for (int i = 0; i < 12; i += FIFTH_PACK)
    {
        uint32_t w[4];
        pack_read<16>(w, p + i * LINEAR_BLOCK);
        UNROLL for (int k = 0; k < FIFTH_PACK; k++) x[i + k] = T(decode)(w, k);
    }
}

static __device__ __forceinline__ void T(chirality_save)(const vreal x[12], const view *v, long u, int group,
                                                         int chirality)
{
    stored *p = T(chirality_at)(v, u, group, chirality);
    UNROLL for (int i = 0; i < 12; i += FIFTH_PACK)
    {
        uint32_t w[4];
        T(encode)<FIFTH_PACK>(w, x + i, 1);
        pack_write<16>(p + i * LINEAR_BLOCK, w);
    }
}

/* Product for 2 many slices of one chirality, with the sums of T(fifth_spinors) in their order: the first half of the groups of threads
 * does the upper one. */
template <int many>
static __device__ __forceinline__ void T(fifth_chiralities)(const view *out, const view *add, double b, int adds,
                                                            long u, int first, T(fifth_place) here, T(fifth_block) f)
{
    const int half = f.Ls / (2 * many), chirality = here.group >= half, s = (here.group - chirality * half) * 2 * many;
    const T(fifth_pack) *packs = T(fifth_packs)(0, here.site, f) + chirality * (12 / FIFTH_PACK) * f.sites;
    const real *coefficients = T(fifth_coefficients)(f) + chirality * f.Ls * f.from + s;
    vreal y[24 * many];
    UNROLL for (int i = 0; i < 24 * many; i++) y[i] = 0;
    if (adds) {
        UNROLL for (int k = 0; k < 2 * many; k++) T(chirality_load)(y + 12 * k, add, u, first + s + k, chirality);
        UNROLL for (int i = 0; i < 24 * many; i++) y[i] *= (real)b;
    }
    for (int t = 0; t < f.from; t++, coefficients += f.Ls) {
        vreal x[12], m[2 * many];
        UNROLL for (int k = 0; k < 2 * many; k++) m[k] = coefficients[k];
        T(fifth_take)<12>(x, &packs, f);
        UNROLL for (int k = 0; k < 2 * many; k++)
        {
            UNROLL for (int i = 0; i < 12; i++) y[12 * k + i] = vfma(m[k], x[i], y[12 * k + i]);
        }
    }
    UNROLL for (int k = 0; k < 2 * many; k++) T(chirality_save)(y + 12 * k, out, u, first + s + k, chirality);
}
#endif

template <int many, bool apart>
static __device__ __forceinline__ void T(fifth_finish)(const view *out, const view *add, double b, int adds, long u,
                                                       int first, T(fifth_place) here, T(fifth_block) f)
{
#if CHIRALITY_APART
    if (apart) {
        T(fifth_chiralities)<many>(out, add, b, adds, u, first, here, f);
        return;
    }
#endif
    T(fifth_spinors)<many>(out, add, b, adds, u, first, here, f);
}

/* Threads and shared memory of a block. */
typedef struct {
    T(fifth_block) f;
    int threads, shared;
} T(fifth_shape);

static T(fifth_shape) T(fifth_shape_of)(const fifth_matrix *m, int many, int sites)
{
    const int slices = m->Ls > m->from ? m->Ls : m->from;
    return {{sites, m->Ls, m->from, gpu_inverse(sites)},
            slices / many * sites,
            (int)sizeof(real) * (24 * m->from * sites + 2 * m->Ls * m->from)};
}

/* Shape for sites in memory's order: a power of two, no more than a warp, that keeps a block within `most` threads. */
static T(fifth_shape) T(fifth_shape_within)(const fifth_matrix *m, int many, int most)
{
    T(fifth_shape) s = T(fifth_shape_of)(m, many, WARP);
    while (s.f.sites > 1 && s.threads > most) s = T(fifth_shape_of)(m, many, s.f.sites / 2);
    return s;
}

template <int many, bool apart>
static __global__ void __maxnreg__(FIFTH_CAP)
    T(fifth_global)(const __grid_constant__ fifth_args a, const int *list, long n, T(fifth_block) f)
{
    gpu_begin();
    const T(fifth_place) here = T(fifth_here)(f);
    const int s = here.group * many, rhs = (int)blockIdx.y;
    const long i = (long)blockIdx.x * f.sites + here.site;
    const long u = i < n ? (list ? list[i] : i) : 0;
    if (s < f.from) {
        vreal x[24 * many];
        UNROLL for (int k = 0; k < many; k++) T(load)(x + 24 * k, &a.in, u, rhs * f.from + s + k, 24);
        T(fifth_leave)<many>(x, here, f);
    }
    T(fifth_leave_matrix)(&a.m, f);
    __syncthreads();
    if (i < n && s < f.Ls) T(fifth_finish)<many, apart>(&a.out, &a.add, a.b, a.b != 0, u, rhs * f.Ls, here, f);
}

template <int many, bool apart>
static void T(fifth_start)(const gpu_device *dev, const fifth_args *a, const int *list, long n)
{
    const T(fifth_shape) s = T(fifth_shape_within)(&a->m, many, FIFTH_THREADS);
    const dim3 grid((unsigned)((n + s.f.sites - 1) / s.f.sites), (unsigned)(a->out.groups / a->m.Ls));
    gpu_start_sharing(dev, T(fifth_global) < many, apart >, grid, s.threads, s.shared, *a, list, n, s.f);
}

void T(fifth_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const fifth_args *a = (const fifth_args *)args;
    const bool many = a->m.Ls % FIFTH_MANY == 0 && a->m.from % FIFTH_MANY == 0;
    if (many && CHIRALITY_APART && a->m.Ls % (2 * FIFTH_MANY) == 0)
        T(fifth_start)<FIFTH_MANY, CHIRALITY_APART>(dev, a, list, n);
    else if (many) T(fifth_start)<FIFTH_MANY, false>(dev, a, list, n);
    else T(fifth_start)<1, false>(dev, a, list, n);
}

/* ---- behind a hop ---- */

/* Neighbours of a hop: all on this rank, some on others, or none beyond the block. */
enum { HOP_WHOLE, HOP_SPLIT, HOP_CUT };

/* Right-hand sides are `parts` blocks side by side. */
template <int reals, int reach, int sign, int many, bool apart>
static __global__ void __maxnreg__(HOP_FIFTH_CAP(many))
    T(hop_fifth_global)(const __grid_constant__ hop_fifth_args a, const int *list, long n,
                        const __grid_constant__ gpu_tile tile, unsigned parts, T(fifth_block) f)
{
    gpu_begin();
    const T(fifth_place) here = T(fifth_here)(f);
    const int first = (int)(blockIdx.x % parts) * f.Ls, group = first + here.group * many;
    const unsigned block = blockIdx.x / parts;
    hop_args b = a.hop; /* never in memory: it hands the literals to the inlined site function */
    b.here.scale = b.there.scale = NULL;
    b.sign = sign;
    if (PLAQ_PREC >= 2) __builtin_assume(b.in.scale != NULL);
    if (reach != HOP_SPLIT) UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0;
    T(stencil) st;
    bool mine = true;
    if (tile.on) {
        st = T(tile_thread)(&tile, &b.g, b.parity, (unsigned)here.site, block, blockIdx.y, blockIdx.z);
        if (reach == HOP_SPLIT) mine = !T(at_face)(&a.hop.g, st);
        UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0; /* no branches for what comes from elsewhere */
    } else {
        const long i = (long)block * f.sites + here.site;
        mine = i < n;
        st = T(stencil_at)(&b.g, b.parity, mine ? (list ? list[i] : i) : 0);
    }
    vreal acc[24 * many];
    UNROLL for (int i = 0; i < 24 * many; i++) acc[i] = 0;
    if (mine) T(hop_sum)(acc, &b, st, st.unit, group, many, reals, reach == HOP_CUT);
    T(fifth_leave)<many>(acc, here, f);
    T(fifth_leave_matrix)(&a.m, f);
    __syncthreads();
    if (mine) T(fifth_finish)<many, apart>(&b.out, &b.x, b.b, b.form == HOP_ADD, st.unit, first, here, f);
}

/* Threads that a processor has room for at a time. */
static int T(fifth_resident)(const T(fifth_shape) * s, int cap)
{
    const int warps = (s->threads + WARP - 1) / WARP, by_registers = REGISTERS / (cap * warps * WARP),
              by_memory = SHARED_MOST / (s->shared + 1024);
    return s->threads * (by_registers < by_memory ? by_registers : by_memory);
}

/* The box of a block: by rule the largest with which a processor has the most threads, its rows whole, or four sites in x / 2 where a
 * thread has one slice and a block few sites; else the largest of the shape's row with no more than twice the shape's threads. Off
 * where none fits. */
static gpu_tile T(hop_fifth_tile)(const gpu_device *dev, const hop_fifth_args *a, int many, dim3 *grid)
{
    const geom *g = &a->hop.g;
    const gpu_shape shape = gpu_shape_for(dev, HOP_FIFTH_THREADS);
    const int most = dev->way < 0 ? HOP_FIFTH_THREADS : 2 * shape.threads;
    int row = shape.length == LENGTH_BY_RULE ? gpu_whole_row(g) : 1 << (shape.length < 0 ? 0 : shape.length), best = 0;
    if (dev->way < 0 && many == 1 && g->half_x % 4 == 0) row = 4;
    gpu_tile chosen = {};
    if (shape.length < 0 || g->half_x % row) return chosen;
    for (int sites = row;; sites *= 2) {
        dim3 boxes;
        const T(fifth_shape) s = T(fifth_shape_of)(&a->m, many, sites);
        const gpu_tile t = gpu_tile_of(g, row, sites, &boxes);
        const int resident = s.threads <= most ? T(fifth_resident)(&s, HOP_FIFTH_CAP(many)) : 0;
        if (resident == 0 || t.threads != sites) return chosen;
        if (!t.on || (dev->way < 0 && resident < best)) continue;
        best = resident;
        chosen = t;
        *grid = boxes;
    }
}

template <int reals, int reach, int many, bool apart>
static void T(hop_fifth_start)(const gpu_device *dev, const hop_fifth_args *a, const int *list, long n)
{
    dim3 grid;
    gpu_tile tile = T(hop_fifth_tile)(dev, a, many, &grid);
    if (list && !a->hop.interior) tile.on = 0;
    const T(fifth_shape) s =
        tile.on ? T(fifth_shape_of)(&a->m, many, tile.threads) : T(fifth_shape_within)(&a->m, many, FIFTH_THREADS);
    const unsigned parts = (unsigned)(a->hop.in.groups / a->m.Ls);
    if (!tile.on) grid = dim3((unsigned)((n + s.f.sites - 1) / s.f.sites));
    grid.x *= parts;
    auto kernel = a->hop.sign > 0 ? T(hop_fifth_global)<reals, reach, 1, many, apart>
                                  : T(hop_fifth_global)<reals, reach, -1, many, apart>;
    gpu_start_sharing(dev, kernel, grid, s.threads, s.shared, *a, list, n, tile, parts, s.f);
}

template <int reals, int many, bool apart>
static void T(hop_fifth_reach)(const gpu_device *dev, const hop_fifth_args *a, const int *list, long n)
{
    if (a->hop.block[0] != 0) T(hop_fifth_start)<reals, HOP_CUT, many, apart>(dev, a, list, n);
    else if (T(is_split)(&a->hop.g)) T(hop_fifth_start)<reals, HOP_SPLIT, many, apart>(dev, a, list, n);
    else T(hop_fifth_start)<reals, HOP_WHOLE, many, apart>(dev, a, list, n);
}

/* Slices of a thread: three where they divide Ls, which share links and leave room for enough threads, in half precision else four;
 * one in double. */
template <int reals>
static void T(hop_fifth_many)(const gpu_device *dev, const hop_fifth_args *a, const int *list, long n)
{
    const int Ls = a->m.Ls;
#if PLAQ_PREC >= 2
    if (Ls % 3 == 0) T(hop_fifth_reach)<reals, 3, false>(dev, a, list, n);
    else if (Ls % 4 == 0) T(hop_fifth_reach)<reals, 4, false>(dev, a, list, n);
#else
    if (PLAQ_PREC == 1 && Ls % 6 == 0) T(hop_fifth_reach)<reals, PLAQ_PREC == 1 ? 3 : 1, true>(dev, a, list, n);
    else if (Ls % 2 == 0) T(hop_fifth_reach)<reals, 1, true>(dev, a, list, n);
#endif
    else T(hop_fifth_reach)<reals, 1, false>(dev, a, list, n);
}

void T(hop_fifth_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const hop_fifth_args *a = (const hop_fifth_args *)args;
    if (a->hop.link_reals == 18) T(hop_fifth_many)<18>(dev, a, list, n);
    else T(hop_fifth_many)<12>(dev, a, list, n);
}
