/* GPU kernels of family multiblas with instances of their own. */
#define OWN_multiblas_dot , NO_INSTANCE
#define OWN_multiblas_axpy , NO_INSTANCE

/* Words of 32 bits of a pack; a smaller pack takes one. */
#define PACK_BYTES(reals) (PACK(reals) * (int)sizeof(stored))
#define WORDS(reals) (PACK_BYTES(reals) < 4 ? 1 : PACK_BYTES(reals) / 4)

/* ---- X^dagger Y ---- */

/* A warp does one tile for a cell a thread. The sums of the cells go through shared memory, so that thread number k then has
 * sum number k of all of them, and adds them exactly: one exact sum a thread, whatever the tile. Warps of a block have the
 * next tiles of the same cells, whose columns the first cache holds. */
#define DOT_WARPS 4
#define DOT_REGISTERS 168
/* Packs that are asked for ahead, as many as registers hold. */
#define DOT_AHEAD(reals) (PLAQ_PREC == 0 ? 1 : (reals) == 6 ? 3 : PLAQ_PREC == 1 ? 2 : 1)
#define DOT_ROW (WARP + 1) /* a place more, for the banks of shared memory */

/* A pack of every column of a tile, as stored. Columns of X come first. */
#define DOT_COLUMNS (2 * MULTIBLAS_TILE)

template <int reals>
struct T(dot_packs) {
    uint32_t word[DOT_COLUMNS][WORDS(reals)];
#if PLAQ_PREC >= 2
    float scale[DOT_COLUMNS];
#endif
};

/* Places of the groups of a tile's columns at a site. */
struct T(dot_place) {
    const char *data[DOT_COLUMNS];
#if PLAQ_PREC >= 2
    const float *scale[DOT_COLUMNS];
#endif
};

template <int reals>
FN void T(dot_go)(T(dot_place) * at, const multiblas_dot_args *a, const int group[DOT_COLUMNS], long u)
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        const view *v = side ? &a->y : &a->x;
        const char *home = T(unit_at)(v->data, u, v->stride, PACK(reals), (int)sizeof(stored));
        UNROLL for (int i = 0; i < MULTIBLAS_TILE; i++)
        {
            const int k = side * MULTIBLAS_TILE + i;
            at->data[k] = home + (uint32_t)group[k] * (uint32_t)(reals * LINEAR_BLOCK * sizeof(stored));
#if PLAQ_PREC >= 2
            at->scale[k] = T(scale_at)(v, u, group[k]);
#endif
        }
    }
}

/* Asks for pack number c: a thread waits for it only where it multiplies. */
template <int reals>
FN void T(dot_ask)(T(dot_packs) < reals > *p, const T(dot_place) * at, int c)
{
    UNROLL for (int i = 0; i < DOT_COLUMNS; i++)
    {
        uint32_t w[4];
        pack_read<PACK_BYTES(reals)>(w, at->data[i] + c * PACK_BYTES(reals) * LINEAR_BLOCK);
        UNROLL for (int k = 0; k < WORDS(reals); k++) p->word[i][k] = w[k];
#if PLAQ_PREC >= 2
        p->scale[i] = *at->scale[i];
#endif
    }
}

template <int reals>
FN void T(dot_numbers)(vreal *x, const T(dot_packs) < reals > *p, int i)
{
    uint32_t w[4] = {0, 0, 0, 0};
    UNROLL for (int k = 0; k < WORDS(reals); k++) w[k] = p->word[i][k];
    UNROLL for (int n = 0; n < PACK(reals); n++) x[n] = T(decode)(w, n);
    T(take_off_bias)(x, PACK(reals));
#if PLAQ_PREC >= 2
    UNROLL for (int n = 0; n < PACK(reals); n++) x[n] *= 1 / FIXED_RANGE * p->scale[i];
#endif
}

template <int reals>
FN void T(dot_multiply)(vreal product[MULTIBLAS_TILE][MULTIBLAS_TILE][2], const T(dot_packs) < reals > *p)
{
    vreal x[MULTIBLAS_TILE][PACK(reals)], y[PACK(reals)];
    UNROLL for (int i = 0; i < MULTIBLAS_TILE; i++) T(dot_numbers)<reals>(x[i], p, i);
    UNROLL for (int j = 0; j < MULTIBLAS_TILE; j++)
    {
        T(dot_numbers)<reals>(y, p, MULTIBLAS_TILE + j);
        UNROLL for (int i = 0; i < MULTIBLAS_TILE; i++) UNROLL for (int n = 0; n < PACK(reals); n += 2)
            T(add_product)(product[i][j], x[i] + n, y + n);
    }
}

template <int reals>
FN void T(dot_cell)(vreal product[MULTIBLAS_TILE][MULTIBLAS_TILE][2], const multiblas_dot_args *a,
                    const int group[DOT_COLUMNS], unsigned cell)
{
    constexpr int packs = reals / PACK(reals), ahead = DOT_AHEAD(reals);
    static_assert(packs % ahead == 0, "packs in turn");
    const long first = T(cell_unit)(a, cell);
    T(dot_packs)<reals> p[ahead];
    T(dot_place) at;
    UNROLL for (int i = 0; i < MULTIBLAS_TILE * MULTIBLAS_TILE; i++)
        product[i / MULTIBLAS_TILE][i % MULTIBLAS_TILE][0] = product[i / MULTIBLAS_TILE][i % MULTIBLAS_TILE][1] = 0;
    T(dot_go)<reals>(&at, a, group, first);
    UNROLL for (int c = 0; c < ahead; c++) T(dot_ask)<reals>(&p[c], &at, c);
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
        UNROLL for (int c = 0; c < packs; c++)
        {
            T(dot_multiply)<reals>(product, &p[c % ahead]);
            if (c == packs - ahead) T(dot_go)<reals>(&at, a, group, first + T(cell_step)(a, k < 7 ? k + 1 : 0));
            T(dot_ask)<reals>(&p[c % ahead], &at, (c + ahead) % packs);
        }
    }
}

/* Warps that are done with a tile. */
static __device__ unsigned T(dot_chunks)[MULTIBLAS_TILES];

/* The last warp of a tile leaves its sums, or their values, and empty totals, a sum a thread. Words go through shared memory, for
 * neighbours have to write neighbouring ones. */
static __device__ __forceinline__ void T(dot_tell)(uint64_t *stage, unsigned tile, unsigned lane, int rounded,
                                                   gpu_grand_total *total, const gpu_device *dev)
{
    const exact_sum s = gpu_total(total);
    const double value = exact_value(&s);
    const int n = (int)(rounded ? VALUE_WORDS : SUM_WORDS);
    uint32_t words[SUM_WORDS];
    if (rounded) memcpy(words, &value, sizeof value);
    else memcpy(words, &s, sizeof s);
    UNROLL for (int i = 0; i < (int)SUM_WORDS; i++) if (i < n) stage[(int)lane * n + i] =
        gpu_sum_word(dev->number, words[i]);
    __syncwarp();
    volatile uint64_t *to = dev->result + (long)tile * MULTIBLAS_TILE_SUMS * n;
    for (int w = (int)lane; w < MULTIBLAS_TILE_SUMS * n; w += WARP) to[w] = stage[w];
    for (int k = 0; k < FOLDS; k++) total->fold[k] = 0;
    total->bin = EXACT_BIN_MIN;
    total->broken = 0;
}

template <int reals>
static __global__ void __maxnreg__(DOT_REGISTERS)
    T(multiblas_dot_global)(const __grid_constant__ multiblas_dot_args a, unsigned n, unsigned chunks,
                            const __grid_constant__ gpu_device dev)
{
    extern __shared__ double shared[];
    gpu_begin();
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, me = blockIdx.x * DOT_WARPS + warp;
    const unsigned tile = me % (unsigned)a.tiles, chunk = me / (unsigned)a.tiles;
    real *const turned = (real *)shared + warp * MULTIBLAS_TILE_SUMS * DOT_ROW;
    int column[DOT_COLUMNS];
    /* Columns beyond the last are the last: their sums are not looked at. */
    UNROLL for (int i = 0; i < MULTIBLAS_TILE; i++)
    {
        column[i] = min(a.first[tile][0] + i, a.nx - 1) * a.slices;
        column[MULTIBLAS_TILE + i] = min(a.first[tile][1] + i, a.ny - 1) * a.slices;
    }
    vexact mine;
    T(exact_open)(&mine);
    for (unsigned first = chunk * WARP; first < n && chunk < chunks; first += chunks * WARP) {
        const bool real_cell = first + lane < n;
#pragma unroll 1
        for (int s = 0; s < a.slices; s++) {
            vreal product[MULTIBLAS_TILE][MULTIBLAS_TILE][2];
            int group[DOT_COLUMNS];
            UNROLL for (int i = 0; i < DOT_COLUMNS; i++) group[i] = column[i] + s;
            T(dot_cell)<reals>(product, &a, group, real_cell ? first + lane : first);
            __syncwarp();
            UNROLL for (int k = 0; k < MULTIBLAS_TILE_SUMS; k++)
            {
                const int pair = k / 2;
                const real p = product[pair / MULTIBLAS_TILE][pair % MULTIBLAS_TILE][k % 2];
                turned[k * DOT_ROW + (int)lane] = real_cell ? p : 0;
            }
            __syncwarp();
#pragma unroll 1
            for (int k = 0; k < WARP; k += 4) {
                vdouble four[4];
                UNROLL for (int i = 0; i < 4; i++) four[i] = turned[(int)lane * DOT_ROW + k + i];
                T(exact_deposit_four)(&mine, four);
            }
        }
    }
    const exact_sum whole = T(exact_closed)(&mine);
    if (chunk >= chunks) return;
    gpu_grand_total *const total = &dev.totals[tile * MULTIBLAS_TILE_SUMS + lane];
    gpu_total_add(total, &whole);
    __threadfence();
    __syncwarp();
    unsigned before =
        lane == 0 ? atomicInc(&T(dot_chunks)[tile], chunks - 1) : 0; /* the last one sets it back to zero */
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before < chunks - 1) return;
    __threadfence();
    T(dot_tell)((uint64_t *)turned, tile, lane, a.rounded, total, &dev);
}

void T(multiblas_dot_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    static int resident[2];
    const multiblas_dot_args *a = (const multiblas_dot_args *)args;
    REQUIRE(!list && n <= INT_MAX && a->tiles >= 1 && a->tiles <= MULTIBLAS_TILES, "%d tiles of multiblas_dot",
            a->tiles);
    static_assert(MULTIBLAS_TILE_SUMS == WARP, "a sum a thread");
    const int small = a->reals == 6, shared = DOT_WARPS * MULTIBLAS_TILE_SUMS * DOT_ROW * (int)sizeof(real);
    auto kernel = small ? T(multiblas_dot_global)<6> : T(multiblas_dot_global)<24>;
    if (!resident[small]) {
        CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident[small], kernel, DOT_WARPS * WARP, (size_t)shared));
        REQUIRE(resident[small] >= 1, "no block of multiblas_dot fits");
    }
    const long warps = (long)dev->processors * resident[small] * DOT_WARPS, needed = (n + WARP - 1) / WARP;
    long chunks = warps / a->tiles < needed ? warps / a->tiles : needed;
    if (chunks < 1) chunks = 1;
    const long blocks = (chunks * a->tiles + DOT_WARPS - 1) / DOT_WARPS;
    gpu_start_sharing(dev, kernel, dim3((unsigned)blocks), DOT_WARPS * WARP, shared, *a, (unsigned)n, (unsigned)chunks,
                      *dev);
}

/* ---- X a + b w ---- */

/* A warp makes `columns` columns of out at a site a thread, from all of X, which the warps of a block share in the first
 * cache, as they share the coefficients in shared memory. */
#define AXPY_WARPS 4

/* Numbers that one access of shared memory brings. */
#define QUAD (16 / (int)sizeof(real))
typedef struct alignas(16) {
    real x[QUAD];
} T(quad);

typedef struct {
    view out, w, x;
    real b;
    int n, nx, first, slices;
    real a[MULTIBLAS_COEFFICIENT_BYTES / sizeof(real)]; /* [column of X][column of out][re, im], n rounded up */
} T(axpy_given);

template <int reals, int columns>
static __global__ void __maxnreg__(168) T(multiblas_axpy_global)(const __grid_constant__ T(axpy_given) a, unsigned n)
{
    constexpr int deep = PLAQ_PREC > 0 && columns >= 8 ? 4 : 2; /* columns of X that are asked for at once */
    extern __shared__ double2 coefficients[];
    gpu_begin();
    real *const by = (real *)coefficients;
    const int groups = (a.n + columns - 1) / columns, row = 2 * groups * columns;
    for (int i = (int)threadIdx.x; i < a.nx * row; i += AXPY_WARPS * WARP) by[i] = a.a[i];
    __syncthreads();
    const unsigned warp = blockIdx.x * AXPY_WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const unsigned u = warp / (unsigned)groups * WARP + lane;
    const int j0 = (int)(warp % (unsigned)groups) * columns;
    if (u >= n) return;
#pragma unroll 1
    for (int s = 0; s < a.slices; s++) {
        vreal y[columns][reals], x[reals];
        UNROLL for (int j = 0; j < columns; j++)
        {
            UNROLL for (int i = 0; i < reals; i++) y[j][i] = 0;
            if (a.b == 0 || j0 + j >= a.n) continue;
            T(load)(y[j], &a.w, u, (a.first + j0 + j) * a.slices + s, reals);
            UNROLL for (int i = 0; i < reals; i++) y[j][i] *= a.b;
        }
#pragma unroll deep
        for (int k = 0; k < a.nx; k++) {
            T(load)(x, &a.x, u, k * a.slices + s, reals);
            alignas(16) real c[2 * columns];
            UNROLL for (int i = 0; i < 2 * columns; i += QUAD) * (T(quad) *)(c + i) =
                *(const T(quad) *)(by + k * row + 2 * j0 + i);
            UNROLL for (int j = 0; j < columns; j++) T(add_multiple)(y[j], c[2 * j], c[2 * j + 1], x, reals);
        }
        UNROLL for (int j = 0; j < columns; j++) if (j0 + j < a.n)
            T(save)(y[j], &a.out, u, (a.first + j0 + j) * a.slices + s, reals);
    }
}

template <int reals, int columns>
static void T(axpy_start)(const gpu_device *dev, const multiblas_axpy_args *a, long n)
{
    static T(axpy_given) given;
    const int groups = (a->n + columns - 1) / columns, row = groups * columns;
    const real(*coefficients)[2] = (const real(*)[2])a->a;
    REQUIRE(2 * (size_t)(a->nx * row) * sizeof(real) <= MULTIBLAS_COEFFICIENT_BYTES, "%d x %d coefficients", a->nx,
            row);
    given.out = a->out;
    given.w = a->w;
    given.x = a->x;
    given.b = (real)a->b;
    given.n = a->n;
    given.nx = a->nx;
    given.first = a->first;
    given.slices = a->slices;
    for (int k = 0; k < a->nx; k++)
        for (int j = 0; j < row; j++)
            for (int c = 0; c < 2; c++)
                given.a[2 * (k * row + j) + c] = j < a->n ? coefficients[(long)k * a->row + j][c] : 0;
    const long warps = (n + WARP - 1) / WARP * groups, blocks = (warps + AXPY_WARPS - 1) / AXPY_WARPS;
    gpu_start_sharing(dev, T(multiblas_axpy_global) < reals, columns >, dim3((unsigned)blocks), AXPY_WARPS * WARP,
                      (int)(2 * (size_t)(a->nx * row) * sizeof(real)), given, (unsigned)n);
}

void T(multiblas_axpy_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const multiblas_axpy_args *a = (const multiblas_axpy_args *)args;
    REQUIRE(!list && n <= INT_MAX, "%ld units of multiblas_axpy", n);
    if (a->reals == 24) {
        T(axpy_start)<24, PLAQ_PREC == 0 ? 2 : 4>(dev, a, n);
        return;
    }
    /* Many columns share what is read of X; few leave room for more warps, and have less beyond the last. */
    constexpr int most = PLAQ_PREC == 0 ? 8 : 16;
    const int rest = a->n % 16;
    if (a->n > 16 && (rest == 0 || rest > 8)) T(axpy_start)<6, most>(dev, a, n);
    else if (a->n <= 12 && (rest <= 4 || rest > 8)) T(axpy_start)<6, 4>(dev, a, n);
    else T(axpy_start)<6, 8>(dev, a, n);
}
