/* GPU kernels of family contract with instances of their own. A block sums one channel of one slice for a few waves; its threads
 * go through the cubes. */
#define OWN_slice_sums , NO_INSTANCE

#define SLICE_THREADS 128
#define SLICE_THREAD_WAVES 2

static __global__ void __maxnreg__(168) T(slice_sums_global)(const __grid_constant__ slice_sums_args a)
{
    gpu_begin();
    unsigned block = blockIdx.x;
    const int channel = (int)(block % (unsigned)a.channels);
    block /= (unsigned)a.channels;
    const unsigned chunks = (unsigned)(a.waves + SLICE_THREAD_WAVES - 1) / SLICE_THREAD_WAVES;
    const int first = (int)(block % chunks) * SLICE_THREAD_WAVES, t = (int)(block / chunks);
    const unsigned nx = (unsigned)a.g.sub[0] / 2, ny = (unsigned)a.g.sub[1] / 2,
                   cubes = nx * ny * ((unsigned)a.g.sub[2] / 2);
    vexact mine[SLICE_THREAD_WAVES][2];
    UNROLL for (int i = 0; i < 2 * SLICE_THREAD_WAVES; i++) T(exact_open)(&mine[i / 2][i % 2]);
    for (unsigned cube = threadIdx.x; cube < cubes; cube += SLICE_THREADS) {
        const int x[3] = {(int)(2 * (cube % nx)), (int)(2 * (cube / nx % ny)), (int)(2 * (cube / nx / ny))};
        vreal rho[8][2], wave[8][2], sum[2];
        T(slice_density)(rho, &a, channel, x, t);
        UNROLL for (int i = 0; i < SLICE_THREAD_WAVES; i++)
        {
            if (first + i >= a.waves) continue;
            T(slice_wave)(wave, &a, first + i, x);
            T(slice_cube)(sum, wave, rho);
            UNROLL for (int k = 0; k < 2; k++) T(exact_deposit)(&mine[i][k], sum[k]);
        }
    }
    UNROLL for (int i = 0; i < 2 * SLICE_THREAD_WAVES; i++)
    {
        const exact_sum s = gpu_block_sum(T(exact_closed)(&mine[i / 2][i % 2]));
        if (threadIdx.x == 0 && first + i / 2 < a.waves) T(slice_place)(&a, 0, t, first + i / 2, channel)[i % 2] = s;
    }
}

void T(slice_sums_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const slice_sums_args *a = (const slice_sums_args *)args;
    const long waves = (a->waves + SLICE_THREAD_WAVES - 1) / SLICE_THREAD_WAVES;
    REQUIRE(!list && n > 0 && a->parts == 1, "%d parts of slice_sums", a->parts);
    gpu_start(dev, T(slice_sums_global), dim3((unsigned)(a->slices * waves * a->channels)), SLICE_THREADS, *a);
}
