/* GPU kernels of family contract with instances of their own. */
#define OWN_slice_sums , NO_INSTANCE
#define OWN_column_slices , NO_INSTANCE

/* Cubes of a slice, and the corner of one. */
FN unsigned T(cubes_of)(const geom *g)
{
    return (unsigned)(g->sub[0] / 2 * (g->sub[1] / 2) * (g->sub[2] / 2));
}

FN void T(cube_corner)(int x[3], const geom *g, unsigned cube)
{
    const unsigned nx = (unsigned)g->sub[0] / 2, ny = (unsigned)g->sub[1] / 2;
    x[0] = (int)(2 * (cube % nx));
    x[1] = (int)(2 * (cube / nx % ny));
    x[2] = (int)(2 * (cube / nx / ny));
}

/* ---- sums of densities ---- */

/* A block sums one channel of one slice for a few waves; its threads go through the cubes. */
#define SLICE_THREADS 128
#define SLICE_THREAD_WAVES 2

static __global__ void __maxnreg__(168) T(slice_sums_global)(const __grid_constant__ slice_sums_args a)
{
    gpu_begin();
    unsigned block = blockIdx.x;
    const int channel = (int)(block % (unsigned)a.s.channels);
    block /= (unsigned)a.s.channels;
    const unsigned chunks = (unsigned)(a.s.waves + SLICE_THREAD_WAVES - 1) / SLICE_THREAD_WAVES;
    const int first = (int)(block % chunks) * SLICE_THREAD_WAVES, t = (int)(block / chunks);
    const unsigned cubes = T(cubes_of)(&a.s.g);
    vexact mine[SLICE_THREAD_WAVES][2];
    UNROLL for (int i = 0; i < 2 * SLICE_THREAD_WAVES; i++) T(exact_open)(&mine[i / 2][i % 2]);
    for (unsigned cube = threadIdx.x; cube < cubes; cube += SLICE_THREADS) {
        int x[3];
        T(cube_corner)(x, &a.s.g, cube);
        vreal rho[8][2], wave[8][2], sum[2];
        T(slice_density)(rho, &a, channel, x, t);
        UNROLL for (int i = 0; i < SLICE_THREAD_WAVES; i++)
        {
            if (first + i >= a.s.waves) continue;
            T(slice_wave)(wave, &a.s, first + i, x);
            T(slice_cube)(sum, wave, rho);
            UNROLL for (int k = 0; k < 2; k++) T(exact_deposit)(&mine[i][k], sum[k]);
        }
    }
    UNROLL for (int i = 0; i < 2 * SLICE_THREAD_WAVES; i++)
    {
        const exact_sum s = gpu_block_sum(T(exact_closed)(&mine[i / 2][i % 2]));
        if (threadIdx.x == 0 && first + i / 2 < a.s.waves)
            T(slice_place)(&a.s, 0, t, first + i / 2, channel)[i % 2] = s;
    }
}

void T(slice_sums_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const slice_sums_args *a = (const slice_sums_args *)args;
    const long waves = (a->s.waves + SLICE_THREAD_WAVES - 1) / SLICE_THREAD_WAVES;
    REQUIRE(!list && n > 0 && a->s.parts == 1, "%d parts of slice_sums", a->s.parts);
    gpu_start(dev, T(slice_sums_global), dim3((unsigned)(a->s.slices * waves * a->s.channels)), SLICE_THREADS, *a);
}

/* ---- sums of pairs of columns ---- */

/* A block sums all spin pairs of a tile of columns of one slice for a few waves, a spin pair a thread: number 4 column + spin of a
 * counts slowest. Sites of a few cubes go through shared memory, where a row is a site, [colour][column and spin], and a
 * place more for the banks. */
#define COLUMN_BLOCK_TILE 4
#define COLUMN_BLOCK_SPINS (4 * COLUMN_BLOCK_TILE)
#define COLUMN_THREADS (COLUMN_BLOCK_SPINS * COLUMN_BLOCK_SPINS)
#define COLUMN_CUBES 2
#define CUBE_SITES (8 * COLUMN_CUBES)
#define COLUMN_ROW (3 * COLUMN_BLOCK_SPINS + 1)

typedef struct {
    double2 vector[2][CUBE_SITES][COLUMN_ROW];
    double2 wave[SLICE_THREAD_WAVES][CUBE_SITES];
} T(column_stage);

/* Brings the sites of COLUMN_CUBES cubes from number `first` on, cubes beyond the last as the last, columns likewise. The cube counts
 * fastest: its neighbour along x is next in memory. */
static __device__ __forceinline__ void T(column_bring)(T(column_stage) * s, const column_slices_args *a, unsigned first,
                                                       unsigned cubes, int first_wave, const int column[2], int t)
{
    int x[3];
    for (unsigned k = threadIdx.x; k < 2 * CUBE_SITES * COLUMN_BLOCK_SPINS; k += COLUMN_THREADS) {
        const unsigned site = k % CUBE_SITES, spin = k / CUBE_SITES % COLUMN_BLOCK_SPINS,
                       side = k / (CUBE_SITES * COLUMN_BLOCK_SPINS);
        const int last = (side ? a->columns_b : a->columns_a) - 1, here = min(column[side] + (int)(spin / 4), last);
        vreal v[6];
        T(cube_corner)(x, &a->s.g, min(first + site % COLUMN_CUBES, cubes - 1));
        const long unit = T(slice_unit)(&a->s.g, x, t, (int)(site / COLUMN_CUBES));
        T(load)(v, side ? &a->b : &a->a, unit, 4 * here + (int)(spin % 4), 6);
        UNROLL for (int c = 0; c < 3; c++) s->vector[side][site][c * COLUMN_BLOCK_SPINS + (int)spin] =
            make_double2(v[2 * c], v[2 * c + 1]);
    }
    if (threadIdx.x < SLICE_THREAD_WAVES * COLUMN_CUBES) {
        const int cube = (int)threadIdx.x % COLUMN_CUBES, number = (int)threadIdx.x / COLUMN_CUBES;
        vreal wave[8][2];
        T(cube_corner)(x, &a->s.g, min(first + (unsigned)cube, cubes - 1));
        T(slice_wave)(wave, &a->s, min(first_wave + number, a->s.waves - 1), x);
        UNROLL for (int k = 0; k < 8; k++) s->wave[number][k * COLUMN_CUBES + cube] =
            make_double2(wave[k][0], wave[k][1]);
    }
}

/* The sum over one of these cubes, for the spin pair of a thread. */
static __device__ __forceinline__ void T(column_cube)(vexact mine[SLICE_THREAD_WAVES][2], const T(column_stage) * s,
                                                      int cube, int spin_a, int spin_b, int waves)
{
    vreal rho[8][2];
    UNROLL for (int k = 0; k < 8; k++)
    {
        const int site = k * COLUMN_CUBES + cube;
        vreal x[6], y[6];
        UNROLL for (int c = 0; c < 3; c++)
        {
            const double2 p = s->vector[0][site][c * COLUMN_BLOCK_SPINS + spin_a],
                          q = s->vector[1][site][c * COLUMN_BLOCK_SPINS + spin_b];
            x[2 * c] = p.x, x[2 * c + 1] = p.y, y[2 * c] = q.x, y[2 * c + 1] = q.y;
        }
        T(column_density)(rho[k], x, y);
    }
    UNROLL for (int i = 0; i < SLICE_THREAD_WAVES; i++)
    {
        if (i >= waves) continue;
        vreal wave[8][2], sum[2];
        UNROLL for (int k = 0; k < 8; k++)
        {
            const double2 w = s->wave[i][k * COLUMN_CUBES + cube];
            wave[k][0] = w.x, wave[k][1] = w.y;
        }
        T(slice_cube)(sum, wave, rho);
        UNROLL for (int k = 0; k < 2; k++) T(exact_deposit)(&mine[i][k], sum[k]);
    }
}

static __global__ void __launch_bounds__(COLUMN_THREADS, 2)
    T(column_slices_global)(const __grid_constant__ column_slices_args a)
{
    __shared__ T(column_stage) stage;
    gpu_begin();
    const unsigned tiles_a = (unsigned)(a.columns_a + COLUMN_BLOCK_TILE - 1) / COLUMN_BLOCK_TILE,
                   tiles_b = (unsigned)(a.columns_b + COLUMN_BLOCK_TILE - 1) / COLUMN_BLOCK_TILE,
                   chunks = (unsigned)(a.s.waves + SLICE_THREAD_WAVES - 1) / SLICE_THREAD_WAVES;
    const unsigned pair = blockIdx.x % (tiles_a * tiles_b), rest = blockIdx.x / (tiles_a * tiles_b);
    const int first_wave = (int)(rest % chunks) * SLICE_THREAD_WAVES, t = (int)(rest / chunks),
              waves = min(SLICE_THREAD_WAVES, a.s.waves - first_wave);
    const int column[2] = {(int)(pair / tiles_b) * COLUMN_BLOCK_TILE, (int)(pair % tiles_b) * COLUMN_BLOCK_TILE};
    const int spin_a = (int)threadIdx.x / COLUMN_BLOCK_SPINS, spin_b = (int)threadIdx.x % COLUMN_BLOCK_SPINS;
    const unsigned cubes = T(cubes_of)(&a.s.g);
    vexact mine[SLICE_THREAD_WAVES][2];
    UNROLL for (int i = 0; i < 2 * SLICE_THREAD_WAVES; i++) T(exact_open)(&mine[i / 2][i % 2]);
    for (unsigned first = 0; first < cubes; first += COLUMN_CUBES) {
        T(column_bring)(&stage, &a, first, cubes, first_wave, column, t);
        __syncthreads();
        for (unsigned c = 0; c < COLUMN_CUBES && first + c < cubes; c++)
            T(column_cube)(mine, &stage, (int)c, spin_a, spin_b, waves);
        __syncthreads();
    }
    const int i = column[0] + spin_a / 4, j = column[1] + spin_b / 4;
    if (i >= a.columns_a || j >= a.columns_b) return;
    const int channel = 16 * (i * a.columns_b + j) + 4 * (spin_a % 4) + spin_b % 4;
    UNROLL for (int k = 0; k < 2 * SLICE_THREAD_WAVES; k++)
    {
        if (k / 2 >= waves) continue;
        T(slice_place)(&a.s, 0, t, first_wave + k / 2, channel)[k % 2] = T(exact_closed)(&mine[k / 2][k % 2]);
    }
}

void T(column_slices_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const column_slices_args *a = (const column_slices_args *)args;
    const long tiles_a = (a->columns_a + COLUMN_BLOCK_TILE - 1) / COLUMN_BLOCK_TILE,
               tiles_b = (a->columns_b + COLUMN_BLOCK_TILE - 1) / COLUMN_BLOCK_TILE,
               chunks = (a->s.waves + SLICE_THREAD_WAVES - 1) / SLICE_THREAD_WAVES,
               blocks = tiles_a * tiles_b * chunks * a->s.slices;
    REQUIRE(!list && n > 0 && a->s.parts == 1 && blocks <= INT_MAX, "%d parts and %ld blocks of column_slices",
            a->s.parts, blocks);
    gpu_start(dev, T(column_slices_global), dim3((unsigned)blocks), COLUMN_THREADS, *a);
}
