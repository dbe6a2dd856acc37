/* Sums over time slices of waves times the spin pairs of columns of two fields: conj(x_a) y_a' over colours, for all pairs of columns.
 * Densities of a cube are those of site/contract.h and stay in registers or the nearest cache; the sum over a cube is that
 * of slice_sums.h, so that both ways give the same bits. */

/* Spins k and l of one column each. */
FN void T(column_density)(vreal rho[2], const vreal x[6], const vreal y[6])
{
    vreal sum[3] = {vset(0), vset(0), vset(0)};
    T(colours_add)(sum, x, y);
    rho[0] = sum[0];
    rho[1] = sum[1] - sum[2];
}

#ifndef __CUDACC__

#define COLUMN_CHANNELS 16

typedef struct {
    int t, part, first_wave, waves, first[2], columns[2];
    T(lane_sum) sums[COLUMN_TILE][COLUMN_TILE][SLICE_WAVES][COLUMN_CHANNELS][2];
} T(column_work);

FN void T(column_begin)(T(column_work) * w, const column_slices_args *a, long u)
{
    const long tiles[2] = {(a->columns_a + COLUMN_TILE - 1) / COLUMN_TILE,
                           (a->columns_b + COLUMN_TILE - 1) / COLUMN_TILE},
               waves = (a->s.waves + SLICE_WAVES - 1) / SLICE_WAVES;
    w->first[1] = (int)(u % tiles[1]) * COLUMN_TILE;
    u /= tiles[1];
    w->first[0] = (int)(u % tiles[0]) * COLUMN_TILE;
    u /= tiles[0];
    w->first_wave = (int)(u % waves) * SLICE_WAVES;
    u /= waves;
    w->t = (int)(u % a->s.g.sub[3]);
    w->part = (int)(u / a->s.g.sub[3]);
    w->waves = T(slice_rest)(a->s.waves, w->first_wave, SLICE_WAVES);
    w->columns[0] = T(slice_rest)(a->columns_a, w->first[0], COLUMN_TILE);
    w->columns[1] = T(slice_rest)(a->columns_b, w->first[1], COLUMN_TILE);
    for (int pair = 0; pair < COLUMN_TILE * COLUMN_TILE; pair++)
        for (int i = 0; i < w->waves; i++)
            for (int c = 0; c < 2 * COLUMN_CHANNELS; c++)
                T(lane_sum_open)(&w->sums[pair / COLUMN_TILE][pair % COLUMN_TILE][i][c / 2][c % 2]);
}

/* The pair of columns number i and j of the tile, on the cube at x. */
FN void T(column_add)(T(column_work) * w, const column_slices_args *a, int i, int j, const int x[3])
{
    vreal rho[COLUMN_CHANNELS][8][2], p[24], q[24], wave[8][2], sum[2];
    for (int k = 0; k < 8; k++) {
        const long unit = T(slice_unit)(&a->s.g, x, w->t, k);
        UNROLL for (int s = 0; s < 4; s++)
        {
            T(load)(p + 6 * s, &a->a, unit, 4 * (w->first[0] + i) + s, 6);
            T(load)(q + 6 * s, &a->b, unit, 4 * (w->first[1] + j) + s, 6);
        }
        UNROLL for (int c = 0; c < COLUMN_CHANNELS; c++) T(column_density)(rho[c][k], p + 6 * (c / 4), q + 6 * (c % 4));
    }
    for (int m = 0; m < w->waves; m++) {
        T(slice_wave)(wave, &a->s, w->first_wave + m, x);
        for (int c = 0; c < COLUMN_CHANNELS; c++) {
            T(slice_cube)(sum, wave, rho[c]);
            T(lane_sum_add)(&w->sums[i][j][m][c][0], sum[0]);
            T(lane_sum_add)(&w->sums[i][j][m][c][1], sum[1]);
        }
    }
}

FN void T(column_slices_site)(const column_slices_args *a, long u)
{
    const int *sub = a->s.g.sub;
    int x[3];
    T(column_work) w;
    T(column_begin)(&w, a, u);
    const int planes = sub[2] / a->s.parts;
    for (x[2] = w.part * planes; x[2] < (w.part + 1) * planes; x[2] += 2)
        for (int i = 0; i < w.columns[0]; i++)
            for (int j = 0; j < w.columns[1]; j++)
                for (x[1] = 0; x[1] < sub[1]; x[1] += 2)
                    for (x[0] = 0; x[0] < sub[0]; x[0] += 2) T(column_add)(&w, a, i, j, x);
    for (int i = 0; i < w.columns[0]; i++)
        for (int j = 0; j < w.columns[1]; j++)
            for (int m = 0; m < w.waves; m++)
                for (int c = 0; c < COLUMN_CHANNELS; c++) {
                    const int pair = (w.first[0] + i) * a->columns_b + w.first[1] + j;
                    T(slice_merge)
                    (&a->s, w.sums[i][j][m][c], w.part, w.t, w.first_wave + m, COLUMN_CHANNELS * pair + c);
                }
}

#endif
