/* Coarse operators per site: rows of fields in sites order, the coarse hop, products with a site's matrix, its inverse.
 *
 * A work item is a site of rows, with one lane; the kernels between sites order and rows have all lanes. Each row of a
 * product adds up directions in the order +x -x +y -y +z -z +t -t, wherever a neighbour comes from; a direction's part is
 * made of COARSE_CHAINS sums, each over every COARSE_CHAINS-th column, which are added in pairs: kernels of GPUs give them
 * to threads of their own (kernels/family/coarse.cuh). */

FN real T(real_fma)(real a, real b, real c)
{
#if PLAQ_PREC == 0
    return fma(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

/* Loops over rows or vectors, whose passes do not depend on each other. */
#ifdef __CUDACC__
#define ROWS_LOOP
#else
#define ROWS_LOOP _Pragma("omp simd")
#endif

FN real *T(row_at)(const view *v, long row, int group)
{
    return (real *)v->data + group * v->group_stride + row * v->stride;
}

/* ---- sites order and rows ---- */

/* The unit of the linear layout where the site of a unit and lane of this layout is. */
FN long T(linear_unit)(const geom *g, int parity, long u, int lane)
{
    int x[4];
    UNROLL for (int d = 0; d < 4; d++) x[d] =
        g->coord[parity][4 * u + d] + g->lane_origin[4 * lane + d] - g->lane_origin[d];
    const int *sub = g->sub, *lanes = g->lane_grid;
    return (((long)x[3] * (sub[2] * lanes[2]) + x[2]) * (sub[1] * lanes[1]) + x[1]) * (sub[0] * lanes[0] / 2) +
           x[0] / 2;
}

FN real *T(row_of_lane)(const coarse_rows_args *a, long u, int lane, int group)
{
    const long row = T(linear_unit)(&a->g, a->parity, u, lane);
    return T(row_at)(&a->rows, row, a->groups_apart ? group : 0) + (a->groups_apart ? 0 : group * a->reals);
}

FN void T(gather_groups)(const coarse_rows_args *a, long u, int reals)
{
    for (int group = 0; group < a->sites.groups; group++) {
        vreal x[36];
        T(load)(x, &a->sites, u, group, reals);
        for (int lane = 0; lane < W; lane++) {
            real *row = T(row_of_lane)(a, u, lane, group);
            for (int i = 0; i < reals; i++) row[i] = LANE(x[i], lane);
        }
    }
}

FN void T(coarse_gather_site)(const coarse_rows_args *a, long u)
{
    if (a->reals == 18) T(gather_groups)(a, u, 18);
    else if (a->reals == 24) T(gather_groups)(a, u, 24);
    else T(gather_groups)(a, u, 36);
}

FN void T(coarse_scatter_site)(const coarse_rows_args *a, long u)
{
    for (int group = 0; group < a->sites.groups; group++) {
        vreal x[24], y[24];
        for (int lane = 0; lane < W; lane++) {
            const real *row = T(row_of_lane)(a, u, lane, group);
            for (int i = 0; i < 24; i++) LANE(x[i], lane) = row[i];
        }
        if (a->add) {
            T(load)(y, &a->sites, u, group, 24);
            UNROLL for (int i = 0; i < 24; i++) x[i] += y[i];
        }
        T(save)(x, &a->sites, u, group, 24);
    }
}

/* ---- products with matrices ---- */

/* Matrices in fixed point are [group][site][component] of these, with scale[site][group]. */
typedef int16_t T(fixed);

/* A row of numbers, real parts and imaginary ones apart. */
typedef struct {
    real re[COARSE_COMPONENTS_MOST], im[COARSE_COMPONENTS_MOST];
} T(parts);

FN void T(parts_clear)(T(parts) * sum, int n)
{
    for (int i = 0; i < n; i++) sum->re[i] = sum->im[i] = 0;
}

/* Neighbour of row u along dir, of the other parity where there are two, or in a message. Devices have no table of neighbours,
 * and those of near.h are of lattices with parity. */
FN T(neighbour) T(row_neighbour)(const geom *g, int parity, long u, int dir)
{
    const int d = dir / 2, up = dir % 2 == 0, sites = g->half_x == g->sub[0] ? 1 : 2; /* sites in a step of u along x */
    const int16_t *c = g->coord[parity] + 4 * u;
    int x[4];
    UNROLL for (int e = 0; e < 4; e++) x[e] = c[e];
    const int leaves = up ? x[d] == g->sub[d] - 1 : x[d] == 0;
    T(neighbour) n = {0, leaves && g->split[d] ? NEAR_GHOST : NEAR_BODY, 0};
    long f = 0;
    if (n.near == NEAR_GHOST) {
        UNROLL for (int e = 3; e >= 0; e--) if (e != d) f = f * g->sub[e] + x[e];
    } else {
        x[d] = leaves ? (up ? 0 : g->sub[d] - 1) : x[d] + (up ? 1 : -1);
        UNROLL for (int e = 3; e >= 0; e--) f = f * g->sub[e] + x[e];
    }
    n.unit = f / sites;
    return n;
}

/* The neighbour's row. */
FN const real *T(coarse_neighbour)(const coarse_hop_args *a, long u, int dir, int group)
{
    const T(neighbour) n = T(row_neighbour)(&a->g, a->parity, u, dir);
    return T(row_at)(n.near == NEAR_GHOST ? &a->ghost[dir] : &a->in, n.unit, group);
}

/* Row i of out = a sum + b add. */
FN void T(coarse_hop_row)(const coarse_hop_args *a, long u, int group, int i, real re, real im)
{
    const real fa = (real)a->a, fb = (real)a->b;
    real *out = T(row_at)(&a->out, u, group) + 2 * i;
    const real *add = fb != 0 ? T(row_at)(&a->add, u, group) + 2 * i : out;
    out[0] = fb != 0 ? T(real_fma)(fa, re, fb * add[0]) : fa * re;
    out[1] = fb != 0 ? T(real_fma)(fa, im, fb * add[1]) : fa * im;
}

FN T(fixed) * T(fixed_at)(const view *v, long row, int group)
{
    return (T(fixed) *)v->data + group * v->group_stride + row * v->stride;
}

FN real T(fixed_scale)(const view *v, long row, int group)
{
    return (real)v->scale[row * v->groups + group];
}

#define FIXED_MOST 32767.0f

/* Scale of the integers for numbers up to `most`; `poison` is NaN where one of them is no number, else zero. */
FN float T(scale_of)(float most, float poison)
{
    return most / FIXED_MOST + poison;
}

FN T(fixed) T(fixed_of)(real x, float most)
{
    return most > 0 ? (T(fixed))rintf((float)x * (FIXED_MOST / most)) : 0;
}

FN void T(coarse_compress_site)(const coarse_compress_args *a, long u)
{
    const long n = 2L * a->components * a->components;
    for (int dir = 0; dir < a->real.groups; dir++) {
        const real *from = T(row_at)(&a->real, u, dir);
        T(fixed) *to = T(fixed_at)(&a->fixed, u, dir);
        float most = 0, poison = 0;
        for (long i = 0; i < n; i++) {
            most = fmaxf(most, fabsf((float)from[i]));
            poison += 0 * (float)from[i];
        }
        a->fixed.scale[u * a->fixed.groups + dir] = T(scale_of)(most, poison);
        if (poison != 0) most = 0;
        for (long i = 0; i < n; i++) to[i] = T(fixed_of)(from[i], most);
    }
}

FN void T(coarse_expand_site)(const coarse_expand_args *a, long u)
{
    const long n = 2L * a->components * a->components;
    for (int dir = 0; dir < a->real.groups; dir++) {
        const T(fixed) *from = T(fixed_at)(&a->fixed, u, dir);
        const real scale = T(fixed_scale)(&a->fixed, u, dir);
        real *to = T(row_at)(&a->real, u, dir);
        for (long i = 0; i < n; i++) to[i] = (real)from[i] * scale;
    }
}

/* Row i of out, with gamma_5 in front. */
FN void T(coarse_local_row)(const coarse_local_args *a, long u, int group, int i, real re, real im)
{
    const real by = i < a->components / 2 ? 1 : (real)a->left;
    real *out = T(row_at)(&a->out, u, group) + 2 * i;
    out[0] = by * re;
    out[1] = by * im;
}

/* A face's rows into a message. */
FN void T(coarse_pack_site)(const coarse_pack_args *a, long f)
{
    for (int group = 0; group < a->in.groups; group++) {
        const real *from = T(row_at)(&a->in, a->face[f], group);
        real *to = T(row_at)(&a->out, f, group);
        for (long i = 0; i < a->reals; i++) to[i] = from[i];
    }
}

/* ---- the inverse of a site's matrix ---- */

FN void T(swap_rows)(real *m, int n, int p, int q)
{
    for (int j = 0; j < 2 * n; j++) {
        const real t = m[(long)j * n + p];
        m[(long)j * n + p] = m[(long)j * n + q];
        m[(long)j * n + q] = t;
    }
}

FN int T(pivot_row)(const real *column, int n, int p)
{
    int best = p;
    real most = -1;
    for (int i = p; i < n; i++) {
        const real size = column[i] * column[i] + column[n + i] * column[n + i];
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

FN void T(eliminate_element)(real *re, real *im, real pivot_re, real pivot_im, real fr, real fi)
{
    *re = T(real_fma)(pivot_im, fi, T(real_fma)(-pivot_re, fr, *re));
    *im = T(real_fma)(-pivot_im, fr, T(real_fma)(-pivot_re, fi, *im));
}

/* column j loses its part along row p; `pivot` is column p as it was, with the element of row p taken out. */
FN void T(eliminate)(real *column, const T(parts) * pivot, int n, int p, real ir, real ii)
{
    real *re = column, *im = column + n;
    const real fr = re[p] * ir - im[p] * ii, fi = re[p] * ii + im[p] * ir;
    ROWS_LOOP for (int i = 0; i < n; i++) T(eliminate_element)(&re[i], &im[i], pivot->re[i], pivot->im[i], fr, fi);
    re[p] = fr;
    im[p] = fi;
}

/* Gauss and Jordan, with rows exchanged, in place. */
FN void T(coarse_invert_site)(const coarse_invert_args *a, long u)
{
    const int n = a->components;
    const real *in = T(row_at)(&a->in, u, 0);
    real *m = T(row_at)(&a->out, u, 0);
    int from[COARSE_COMPONENTS_MOST];
    if (m != in)
        for (long i = 0; i < 2L * n * n; i++) m[i] = in[i];
    for (int p = 0; p < n; p++) {
        T(parts) pivot;
        real *column = m + (long)p * 2 * n;
        from[p] = T(pivot_row)(column, n, p);
        if (from[p] != p) T(swap_rows)(m, n, p, from[p]);
        const real r = column[p], i = column[n + p], size = r * r + i * i;
        for (int k = 0; k < n; k++) {
            pivot.re[k] = k == p ? 0 : column[k];
            pivot.im[k] = k == p ? 0 : column[n + k];
            column[k] = column[n + k] = 0;
        }
        column[p] = 1;
        for (int j = 0; j < n; j++) T(eliminate)(m + (long)j * 2 * n, &pivot, n, p, r / size, -i / size);
    }
    for (int p = n - 1; p >= 0; p--) {
        real *one = m + (long)p * 2 * n, *other = m + (long)from[p] * 2 * n;
        for (int k = 0; k < 2 * n && from[p] != p; k++) {
            const real t = one[k];
            one[k] = other[k];
            other[k] = t;
        }
    }
}

FN void T(coarse_shift_site)(const coarse_shift_args *a, long u)
{
    const long n = a->components;
    real *m = T(row_at)(&a->matrices, u, 0);
    for (long j = 0; j < n; j++) {
        const real re = (real)a->times.number, im = (real)(j < n / 2 ? a->times.twist : -a->times.twist);
        real *column = m + j * 2 * n;
        for (long i = 0; i < n; i++) {
            const real x = column[i], y = column[n + i];
            column[i] = im != 0 ? T(real_fma)(-im, y, re * x) : re * x;
            column[n + i] = im != 0 ? T(real_fma)(im, x, re * y) : re * y;
        }
        column[j] += (real)a->plus.number;
        column[n + j] += (real)(j < n / 2 ? a->plus.twist : -a->plus.twist);
    }
}
