/* GPU kernels of family domainwall with instances of their own: matrices in the fifth dimension, alone and behind a hop.
 *
 * A block does all slices of a few sites, a thread `many` slices of one: it leaves them in shared memory, and when all have
 * come makes as many slices of the product from those of its site. Slices of a thread share the links. */
#define OWN_fifth , NO_INSTANCE
#define OWN_hop_fifth , NO_INSTANCE

/* Slices of a thread: behind a hop as many as share links to profit, while three or four blocks fit on a processor; alone
 * two, which halves what is read from shared memory. The caps of registers are those of which more blocks came out ahead
 * of fewer spills. */
#define FIFTH_MANY 2
#define FIFTH_CAP (PLAQ_PREC == 0 ? 128 : 80)
#define HOP_FIFTH_MANY (PLAQ_PREC == 0 ? 1 : 4)
#define HOP_FIFTH_CAP(many) (PLAQ_PREC == 0 || (many) == 1 ? 128 : 168)
#define FIFTH_THREADS 128 /* threads of a block at most, where the tuner has no other number */

/* How a block divides its threads: 2^site_bits sites for each `many` slices, of the fields that the matrix leads from and to
 * the one with more. */
typedef struct {
    int site_bits, Ls, from;
} T(fifth_block);

/* Shared memory: numbers [slice][24][site], and behind them the matrix [chirality][t][s], so that the coefficients of a
 * thread follow each other. */
static __device__ __forceinline__ real *T(fifth_numbers)(int slice, T(fifth_block) f)
{
    extern __shared__ __align__(16) unsigned char fifth_memory[];
    return (real *)fifth_memory + ((slice * 24) << f.site_bits) + (threadIdx.x & ((1u << f.site_bits) - 1));
}

template <int many>
static __device__ __forceinline__ void T(fifth_leave)(const vreal *x, int s, T(fifth_block) f)
{
    real *numbers = T(fifth_numbers)(s, f);
    UNROLL for (int i = 0; i < 24 * many; i++) numbers[i << f.site_bits] = x[i];
}

static __device__ __forceinline__ void T(fifth_leave_matrix)(const fifth_matrix *m, T(fifth_block) f)
{
    extern __shared__ __align__(16) unsigned char fifth_memory[];
    real *matrix = (real *)fifth_memory + ((24 * f.from) << f.site_bits);
    for (int k = (int)threadIdx.x; k < 2 * f.Ls * f.from; k += (int)blockDim.x) {
        const int rest = k / f.Ls, c = rest / f.from;
        matrix[k] = (real)m->of[c][k % f.Ls][rest % f.from];
    }
}

/* Slices s to s + many - 1 of m x + b add, into out. */
template <int many>
static __device__ __forceinline__ void T(fifth_finish)(const view *out, const view *add, double b, int adds, long u,
                                                       int group, int s, T(fifth_block) f)
{
    extern __shared__ __align__(16) unsigned char fifth_memory[];
    const real *numbers = T(fifth_numbers)(0, f),
               *upper = (const real *)fifth_memory + ((24 * f.from) << f.site_bits) + s, *lower = upper + f.Ls * f.from;
    vreal y[24 * many];
    UNROLL for (int k = 0; k < many; k++) T(fifth_begin)(y + 24 * k, add, b, adds, u, group + k);
    for (int t = 0; t < f.from; t++) {
        vreal x[24], m[2][many];
        UNROLL for (int k = 0; k < many; k++)
        {
            m[0][k] = upper[k];
            m[1][k] = lower[k];
        }
        UNROLL for (int i = 0; i < 24; i++) x[i] = numbers[i << f.site_bits];
        UNROLL for (int k = 0; k < many; k++) T(fifth_term)(y + 24 * k, m[0][k], m[1][k], x);
        numbers += 24 << f.site_bits;
        upper += f.Ls;
        lower += f.Ls;
    }
    UNROLL for (int k = 0; k < many; k++) T(save)(y + 24 * k, out, u, group + k, 24);
}

/* Threads and shared memory of a block whose sites are a power of two, no more than a warp, that keep it within `most`
 * threads. */
typedef struct {
    T(fifth_block) f;
    int threads, shared;
} T(fifth_shape);

static T(fifth_shape) T(fifth_shape_for)(const fifth_matrix *m, int many, int most)
{
    const int slices = m->Ls > m->from ? m->Ls : m->from;
    T(fifth_shape) s = {{5, m->Ls, m->from}, 0, 0};
    while (s.f.site_bits > 0 && (slices / many) << s.f.site_bits > most) s.f.site_bits--;
    s.threads = (slices / many) << s.f.site_bits;
    s.shared = (int)sizeof(real) * (((24 * m->from) << s.f.site_bits) + 2 * m->Ls * m->from);
    return s;
}

template <int many>
static __global__ void __maxnreg__(FIFTH_CAP)
    T(fifth_global)(const __grid_constant__ fifth_args a, const int *list, long n, T(fifth_block) f)
{
    gpu_begin();
    const int s = (int)(threadIdx.x >> f.site_bits) * many, rhs = (int)blockIdx.y;
    const long i = ((long)blockIdx.x << f.site_bits) + (threadIdx.x & ((1u << f.site_bits) - 1));
    const long u = i < n ? (list ? list[i] : i) : 0;
    if (s < f.from) {
        vreal x[24 * many];
        UNROLL for (int k = 0; k < many; k++) T(load)(x + 24 * k, &a.in, u, rhs * f.from + s + k, 24);
        T(fifth_leave)<many>(x, s, f);
    }
    T(fifth_leave_matrix)(&a.m, f);
    __syncthreads();
    if (i < n && s < f.Ls) T(fifth_finish)<many>(&a.out, &a.add, a.b, a.b != 0, u, rhs * f.Ls + s, s, f);
}

template <int many>
static void T(fifth_start)(const gpu_device *dev, const fifth_args *a, const int *list, long n)
{
    const T(fifth_shape) s = T(fifth_shape_for)(&a->m, many, FIFTH_THREADS);
    const long sites = 1L << s.f.site_bits;
    const dim3 grid((unsigned)((n + sites - 1) / sites), (unsigned)(a->out.groups / a->m.Ls));
    gpu_start_sharing(dev, T(fifth_global) < many >, grid, s.threads, s.shared, *a, list, n, s.f);
}

void T(fifth_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const fifth_args *a = (const fifth_args *)args;
    if (a->m.Ls % FIFTH_MANY == 0 && a->m.from % FIFTH_MANY == 0) T(fifth_start)<FIFTH_MANY>(dev, a, list, n);
    else T(fifth_start)<1>(dev, a, list, n);
}

/* ---- behind a hop ---- */

/* Neighbours of a hop: all on this rank, some on others, or none beyond the block. */
enum { HOP_WHOLE, HOP_SPLIT, HOP_CUT };

template <int reals, int reach, int sign, int many>
static __global__ void __maxnreg__(HOP_FIFTH_CAP(many))
    T(hop_fifth_global)(const __grid_constant__ hop_fifth_args a, const int *list, long n,
                        const __grid_constant__ gpu_tile tile, T(fifth_block) f)
{
    gpu_begin();
    const int s = (int)(threadIdx.x >> f.site_bits) * many;
    const unsigned site = threadIdx.x & ((1u << f.site_bits) - 1);
    hop_args b = a.hop; /* never in memory: it hands the literals to the inlined site function */
    unsigned high = blockIdx.z;
    const unsigned part = high / (unsigned)tile.high;
    const int group = (int)part * f.Ls + s;
    high -= part * (unsigned)tile.high;
    b.here.scale = b.there.scale = NULL;
    b.sign = sign;
    if (PLAQ_PREC >= 2) __builtin_assume(b.in.scale != NULL);
    if (reach != HOP_SPLIT) UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0;
    T(stencil) st;
    bool mine = true;
    if (tile.on) {
        st = T(tile_thread)(&tile, &b.g, b.parity, site, blockIdx.x, blockIdx.y, high);
        if (reach == HOP_SPLIT) mine = !T(at_face)(&a.hop.g, st);
        UNROLL for (int d = 0; d < 4; d++) b.g.split[d] = 0; /* no branches for what comes from elsewhere */
    } else {
        const long i = ((long)blockIdx.x << f.site_bits) + site;
        mine = i < n;
        st = T(stencil_at)(&b.g, b.parity, mine ? (list ? list[i] : i) : 0);
    }
    vreal acc[24 * many];
    UNROLL for (int i = 0; i < 24 * many; i++) acc[i] = 0;
    if (mine) T(hop_sum)(acc, &b, st, st.unit, group, many, reals, reach == HOP_CUT);
    T(fifth_leave)<many>(acc, s, f);
    T(fifth_leave_matrix)(&a.m, f);
    __syncthreads();
    if (mine) T(fifth_finish)<many>(&b.out, &b.x, b.b, b.form == HOP_ADD, st.unit, group, s, f);
}

template <int reals, int reach, int many>
static void T(hop_fifth_start)(const gpu_device *dev, const hop_fifth_args *a, const int *list, long n)
{
    gpu_shape shape = gpu_shape_for(dev, FIFTH_THREADS);
    const T(fifth_shape) s = T(fifth_shape_for)(&a->m, many, shape.threads);
    const long sites = 1L << s.f.site_bits;
    dim3 grid;
    shape.threads = (int)sites;
    if (dev->way < 0) shape.length = -1; /* memory order gives so few sites most neighbours */
    if (shape.length > s.f.site_bits) shape.length = s.f.site_bits;
    gpu_tile tile = gpu_tile_for(&a->hop.g, shape, &grid);
    if (list && !a->hop.interior) tile.on = 0;
    if (!tile.on) {
        grid = dim3((unsigned)((n + sites - 1) / sites));
        tile.high = 1;
    }
    grid.z *= (unsigned)(a->hop.in.groups / a->m.Ls);
    auto kernel =
        a->hop.sign > 0 ? T(hop_fifth_global)<reals, reach, 1, many> : T(hop_fifth_global)<reals, reach, -1, many>;
    gpu_start_sharing(dev, kernel, grid, s.threads, s.shared, *a, list, n, tile, s.f);
}

template <int reals, int many>
static void T(hop_fifth_reach)(const gpu_device *dev, const hop_fifth_args *a, const int *list, long n)
{
    if (a->hop.block[0] != 0) T(hop_fifth_start)<reals, HOP_CUT, many>(dev, a, list, n);
    else if (T(is_split)(&a->hop.g)) T(hop_fifth_start)<reals, HOP_SPLIT, many>(dev, a, list, n);
    else T(hop_fifth_start)<reals, HOP_WHOLE, many>(dev, a, list, n);
}

template <int reals>
static void T(hop_fifth_many)(const gpu_device *dev, const hop_fifth_args *a, const int *list, long n)
{
    if (a->m.Ls % HOP_FIFTH_MANY == 0) T(hop_fifth_reach)<reals, HOP_FIFTH_MANY>(dev, a, list, n);
    else T(hop_fifth_reach)<reals, 1>(dev, a, list, n);
}

void T(hop_fifth_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const hop_fifth_args *a = (const hop_fifth_args *)args;
    if (a->hop.link_reals == 18) T(hop_fifth_many)<18>(dev, a, list, n);
    else T(hop_fifth_many)<12>(dev, a, list, n);
}
