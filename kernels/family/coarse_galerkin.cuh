/* Galerkin products on a GPU (kernels/family/coarse.cuh). */

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
