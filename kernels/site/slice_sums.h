/* Sums of a density times plane waves over time slices. The eight sites of each cube of a slice are added in a fixed order, and
 * cubes exactly, so that process grids, lanes, threads and devices leave no trace: lanes and ranks cut between cubes. */

/* Factor of a wave along direction d at coordinate x of the layout. */
FN void T(slice_factor)(vreal f[2], const wave_sums *a, int wave, int d, int x)
{
    const vreal *at = (const vreal *)a->factors + 2 * (a->first[3 * wave + d] + x);
    f[0] = at[0];
    f[1] = at[1];
}

FN void T(slice_product)(vreal out[2], const vreal x[2], const vreal y[2])
{
    out[0] = vfnma(x[1], y[1], x[0] * y[0]);
    out[1] = vfma(x[0], y[1], x[1] * y[0]);
}

/* A wave at the corners of the cube at x, y, z: corner number bit 0 x, 1 y, 2 z. */
FN void T(slice_wave)(vreal wave[8][2], const wave_sums *a, int number, const int x[3])
{
    vreal f[3][2][2], xy[2];
    UNROLL for (int d = 0; d < 3; d++) UNROLL for (int up = 0; up < 2; up++)
        T(slice_factor)(f[d][up], a, number, d, x[d] + up);
    UNROLL for (int k = 0; k < 4; k++)
    {
        T(slice_product)(xy, f[0][k & 1], f[1][k >> 1]);
        UNROLL for (int up = 0; up < 2; up++) T(slice_product)(wave[k + 4 * up], xy, f[2][up]);
    }
}

/* Unit of corner number k of that cube of slice t, in storage of both parities. */
FN long T(slice_unit)(const geom *g, const int x[3], int t, int k)
{
    const int y = x[1] + (k >> 1 & 1), z = x[2] + (k >> 2 & 1), odd = (k + y + z + t) & 1;
    return x[0] / 2 + (long)y * g->stride[1] + (long)z * g->stride[2] + (long)t * g->stride[3] +
           (odd ? g->odd_start : 0);
}

/* A channel at the corners of that cube. */
FN void T(slice_density)(vreal rho[8][2], const slice_sums_args *a, int channel, const int x[3], int t)
{
    UNROLL for (int k = 0; k < 8; k++) T(load)(rho[k], &a->rho, T(slice_unit)(&a->s.g, x, t, k), channel, 2);
}

/* The sum over the corners. */
FN void T(slice_cube)(vreal sum[2], const vreal wave[8][2], const vreal rho[8][2])
{
    sum[0] = sum[1] = vset(0);
    UNROLL for (int k = 0; k < 8; k++)
    {
        sum[0] = vfnma(wave[k][1], rho[k][1], vfma(wave[k][0], rho[k][0], sum[0]));
        sum[1] = vfma(wave[k][1], rho[k][0], vfma(wave[k][0], rho[k][1], sum[1]));
    }
}

/* Place of the sums of a wave and channel of a slice of the rank. */
FN exact_sum *T(slice_place)(const wave_sums *a, int part, int t, int wave, int channel)
{
    return a->sums + 2 * ((((long)part * a->slices + t) * a->waves + wave) * a->channels + channel);
}

#ifndef __CUDACC__

/* Merges the sums of the lanes of a unit, [re, im], into those of a channel, each lane's into its own slice. */
FN void T(slice_merge)(const wave_sums *a, T(lane_sum) sums[2], int part, int t, int wave, int channel)
{
    for (int lane = 0; lane < W; lane++) {
        const int at = t + a->g.lane_origin[4 * lane + 3] - a->g.lane_origin[3];
        exact_sum *to = T(slice_place)(a, part, at, wave, channel);
        for (int k = 0; k < 2; k++) {
            const exact_sum s = T(lane_sum_of)(&sums[k], lane);
            exact_merge(&to[k], &s);
        }
    }
}

/* Work of a unit, and its sums. */
typedef struct {
    int t, first_wave, waves, first_channel, channels, part;
    T(lane_sum) sums[SLICE_WAVES][SLICE_CHANNELS][2];
} T(slice_work);

FN int T(slice_rest)(int all, int first, int most)
{
    return all - first < most ? all - first : most;
}

FN void T(slice_begin)(T(slice_work) * w, const wave_sums *a, long u)
{
    const long waves = (a->waves + SLICE_WAVES - 1) / SLICE_WAVES,
               channels = (a->channels + SLICE_CHANNELS - 1) / SLICE_CHANNELS;
    w->t = (int)(u % a->g.sub[3]);
    u /= a->g.sub[3];
    w->first_wave = (int)(u % waves) * SLICE_WAVES;
    u /= waves;
    w->first_channel = (int)(u % channels) * SLICE_CHANNELS;
    w->part = (int)(u / channels);
    w->waves = T(slice_rest)(a->waves, w->first_wave, SLICE_WAVES);
    w->channels = T(slice_rest)(a->channels, w->first_channel, SLICE_CHANNELS);
    for (int i = 0; i < w->waves; i++)
        for (int c = 0; c < 2 * w->channels; c++) T(lane_sum_open)(&w->sums[i][c / 2][c % 2]);
}

FN void T(slice_add)(T(slice_work) * w, const slice_sums_args *a, const int x[3])
{
    vreal wave[SLICE_WAVES][8][2], rho[8][2], sum[2];
    for (int i = 0; i < w->waves; i++) T(slice_wave)(wave[i], &a->s, w->first_wave + i, x);
    for (int c = 0; c < w->channels; c++) {
        T(slice_density)(rho, a, w->first_channel + c, x, w->t);
        for (int i = 0; i < w->waves; i++) {
            T(slice_cube)(sum, wave[i], rho);
            T(lane_sum_add)(&w->sums[i][c][0], sum[0]);
            T(lane_sum_add)(&w->sums[i][c][1], sum[1]);
        }
    }
}

FN void T(slice_sums_site)(const slice_sums_args *a, long u)
{
    const int *sub = a->s.g.sub;
    int x[3];
    T(slice_work) w;
    T(slice_begin)(&w, &a->s, u);
    const int planes = sub[2] / a->s.parts;
    for (x[2] = w.part * planes; x[2] < (w.part + 1) * planes; x[2] += 2)
        for (x[1] = 0; x[1] < sub[1]; x[1] += 2)
            for (x[0] = 0; x[0] < sub[0]; x[0] += 2) T(slice_add)(&w, a, x);
    for (int i = 0; i < w.waves; i++)
        for (int c = 0; c < w.channels; c++)
            T(slice_merge)(&a->s, w.sums[i][c], w.part, w.t, w.first_wave + i, w.first_channel + c);
}

#endif
