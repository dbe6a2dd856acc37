/* Coarse operators on CPUs: products with matrices and the transfer of vectors, whose sums stay in strips (strip.h), with
 * matrices and null vectors fetched from memory ahead of their use. Sums have the order that coarse.h and coarse_transfer.h
 * tell of. */

/* ---- products with matrices ---- */

/* A matrix in floating or in fixed point, without its scale, and what is read after it, which is fetched in time. */
typedef struct {
    const void *at, *ahead;
} T(matrix);

FN T(strip) T(matrix_strip)(const void *m, long i, const int fixed)
{
    return fixed ? T(strip_of_fixed)((const T(fixed) *)m + i) : T(strip_at)((const real *)m + i);
}

/* Strips of rows that a pass over the columns makes: whole lines of the cache, in floating point. */
#define ROW_STRIPS 2

/* Adds column j times x_j to `many` strips of a chain, from row `first`. */
FN void T(column_times)(T(strip) * re, T(strip) * im, const T(matrix) * m, const real *x, int n, int first, int j,
                        const int many, const int fixed)
{
    const T(strip) xr = T(strip_of)(x[2 * j]), xi = T(strip_of)(x[2 * j + 1]);
    const long column = (long)j * 2 * n + first, part = 2 * many * STRIP * (fixed ? 2 : (long)sizeof(real));
    const char *ahead = (const char *)m->ahead + ((long)first / (many * STRIP) * n + j) * part;
    UNROLL for (long b = 0; b < part; b += 64) __builtin_prefetch(ahead + b, 0, 2);
    UNROLL for (int s = 0; s < many; s++)
    {
        const long at = column + s * STRIP;
        T(strip_add)(&re[s], &im[s], T(matrix_strip)(m->at, at, fixed), T(matrix_strip)(m->at, at + n, fixed), xr, xi);
    }
}

/* Adds `many` strips of matrix x. */
FN void T(strips_times)(T(parts) * sum, const T(matrix) * m, const real *x, int n, int first, const int many,
                        const int fixed)
{
    T(strip) re[COARSE_CHAINS][ROW_STRIPS], im[COARSE_CHAINS][ROW_STRIPS];
    UNROLL for (int c = 0; c < COARSE_CHAINS; c++) UNROLL for (int s = 0; s < many; s++) re[c][s] = im[c][s] =
        T(strip_of)(0);
    for (int j = 0; j < n; j += COARSE_CHAINS)
        UNROLL for (int c = 0; c < COARSE_CHAINS; c++)
            T(column_times)(re[c], im[c], m, x, n, first, j + c, many, fixed);
    UNROLL for (int s = 0; s < many; s++)
    {
        real *r = sum->re + first + s * STRIP, *i = sum->im + first + s * STRIP;
        T(strip_keep)(r, T(strip_at)(r) + ((re[0][s] + re[2][s]) + (re[1][s] + re[3][s])));
        T(strip_keep)(i, T(strip_at)(i) + ((im[0][s] + im[2][s]) + (im[1][s] + im[3][s])));
    }
}

/* Adds one row of matrix x. */
FN void T(row_times)(T(parts) * sum, const T(matrix) * m, const real *x, int n, int i, const int fixed)
{
    real re[COARSE_CHAINS] = {0}, im[COARSE_CHAINS] = {0};
    for (int j = 0; j < n; j++) {
        const long at = (long)j * 2 * n + i;
        const int c = j % COARSE_CHAINS;
        const real r = fixed ? (real)((const T(fixed) *)m->at)[at] : ((const real *)m->at)[at],
                   s = fixed ? (real)((const T(fixed) *)m->at)[at + n] : ((const real *)m->at)[at + n];
        re[c] = T(real_fma)(-s, x[2 * j + 1], T(real_fma)(r, x[2 * j], re[c]));
        im[c] = T(real_fma)(s, x[2 * j], T(real_fma)(r, x[2 * j + 1], im[c]));
    }
    sum->re[i] += (re[0] + re[2]) + (re[1] + re[3]);
    sum->im[i] += (im[0] + im[2]) + (im[1] + im[3]);
}

/* sum += matrix x; x as it stands in a field, each chirality times a factor; n is a multiple of COARSE_CHAINS. */
FN void T(matrix_times)(T(parts) * sum, const T(matrix) * m, const real *x, int n, real first, real second,
                        const int fixed)
{
    real y[2 * COARSE_COMPONENTS_MOST];
    int i = 0;
    for (int j = 0; j < 2 * n; j++) y[j] = (j < n ? first : second) * x[j];
    for (; i + ROW_STRIPS * STRIP <= n; i += ROW_STRIPS * STRIP) T(strips_times)(sum, m, y, n, i, ROW_STRIPS, fixed);
    for (; i + STRIP <= n; i += STRIP) T(strips_times)(sum, m, y, n, i, 1, fixed);
    for (; i < n; i++) T(row_times)(sum, m, y, n, i, fixed);
}

/* Right-hand sides that share what the cache holds of a matrix. */
#define GROUPS_TILE 16

/* The link of a site, and then that of the next direction or site. */
FN const void *T(coarse_link)(const coarse_hop_args *a, long u, int dir)
{
    return a->links.scale ? (const void *)T(fixed_at)(&a->links, u, dir) : T(row_at)(&a->links, u, dir);
}

FN void T(hop_direction)(const coarse_hop_args *a, T(parts) * sum, long u, int dir, int from, int groups)
{
    const T(matrix) link = {T(coarse_link)(a, u, dir), T(coarse_link)(a, u + dir / 7, (dir + 1) % 8)};
    const real scale = a->links.scale ? T(fixed_scale)(&a->links, u, dir) : 1;
    for (int k = 0; k < groups; k++) {
        const real *x = T(coarse_neighbour)(a, u, dir, from + k);
        if (a->links.scale) T(matrix_times)(&sum[k], &link, x, a->components, scale, scale, 1);
        else T(matrix_times)(&sum[k], &link, x, a->components, 1, 1, 0);
    }
}

FN void T(coarse_hop_site)(const coarse_hop_args *a, long u)
{
    const int n = a->components;
    for (int from = 0; from < a->out.groups; from += GROUPS_TILE) {
        const int groups = a->out.groups - from < GROUPS_TILE ? a->out.groups - from : GROUPS_TILE;
        T(parts) sum[GROUPS_TILE];
        for (int k = 0; k < groups; k++) T(parts_clear)(&sum[k], n);
        for (int dir = 0; dir < 8; dir++) T(hop_direction)(a, sum, u, dir, from, groups);
        for (int k = 0; k < groups; k++)
            for (int i = 0; i < n; i++) T(coarse_hop_row)(a, u, from + k, i, sum[k].re[i], sum[k].im[i]);
    }
}

FN void T(coarse_hop_tensor_site)(const coarse_hop_tensor_args *a, long u)
{
    T(coarse_hop_site)(a, u);
}

FN void T(coarse_local_site)(const coarse_local_args *a, long u)
{
    const int n = a->components;
    for (int group = 0; group < a->out.groups; group++) {
        const T(matrix) m = {T(row_at)(&a->matrices, u, 0), T(row_at)(&a->matrices, u + 1, 0)};
        T(parts) sum;
        T(parts_clear)(&sum, n);
        T(matrix_times)(&sum, &m, T(row_at)(&a->in, u, group), n, 1, (real)a->right, 0);
        for (int i = 0; i < n; i++) T(coarse_local_row)(a, u, group, i, sum.re[i], sum.im[i]);
    }
}

/* links = inverse links, in every direction. */
FN void T(coarse_fold_site)(const coarse_fold_args *a, long u)
{
    const int n = a->components;
    const T(matrix) inverse = {T(row_at)(&a->inverse, u, 0), T(row_at)(&a->inverse, u, 0)};
    for (int dir = 0; dir < a->links.groups; dir++)
        for (int j = 0; j < n; j++) {
            real *column = T(row_at)(&a->links, u, dir) + (long)j * 2 * n, x[2 * COARSE_COMPONENTS_MOST];
            T(parts) sum;
            for (int i = 0; i < n; i++) {
                x[2 * i] = column[i];
                x[2 * i + 1] = column[n + i];
            }
            T(parts_clear)(&sum, n);
            T(matrix_times)(&sum, &inverse, x, n, 1, 1, 0);
            for (int i = 0; i < n; i++) {
                column[i] = sum.re[i];
                column[n + i] = sum.im[i];
            }
        }
}

/* ---- transfer ---- */

/* re, im of `many` strips of vectors gain conj(v) x over the components of one chirality at a site. */
FN void T(restrict_strips)(real *re, real *im, const real *v, const real *x, int half, int n, const int many)
{
    T(strip) r[4], s[4];
    UNROLL for (int m = 0; m < many; m++)
    {
        r[m] = T(strip_at)(re + m * STRIP);
        s[m] = T(strip_at)(im + m * STRIP);
    }
    for (int i = 0; i < half; i++, v += 2 * n) {
        const T(strip) xr = T(strip_of)(x[2 * i]), xi = T(strip_of)(x[2 * i + 1]);
        UNROLL for (int m = 0; m < many; m++)
            T(strip_add_conj)(&r[m], &s[m], T(strip_at)(v + m * STRIP), T(strip_at)(v + n + m * STRIP), xr, xi);
    }
    UNROLL for (int m = 0; m < many; m++)
    {
        T(strip_keep)(re + m * STRIP, r[m]);
        T(strip_keep)(im + m * STRIP, s[m]);
    }
}

/* Restricts one site and chirality, as many strips at once as their sums have room for in registers. */
FN void T(restrict_member)(real *re, real *im, const real *v, const real *x, int half, int n)
{
    for (int first = 0, many; first < n; first += many * STRIP) {
        const int left = (n - first) / STRIP;
        many = left % 3 == 0 ? 3 : left >= 4 ? 4 : left;
        real *r = re + first, *s = im + first;
        if (many == 3) T(restrict_strips)(r, s, v + first, x, half, n, 3);
        else if (many == 4) T(restrict_strips)(r, s, v + first, x, half, n, 4);
        else if (many == 2) T(restrict_strips)(r, s, v + first, x, half, n, 2);
        else T(restrict_strips)(r, s, v + first, x, half, n, 1);
    }
}

/* Right-hand sides that share what the cache holds of null vectors. */
#define TRANSFER_TILE 4
/* Sites of an aggregate between one and that whose null vectors are on their way from memory. */
#define FETCH_AHEAD 4

/* A walk through an aggregate. */
typedef struct {
    T(member) at, ahead;
    int left;
} T(members);

FN T(members) T(members_begin)(const coarse_aggregates *m, long u)
{
    T(members) w = {.at = T(aggregate_first)(m, u), .left = T(aggregate_sites)(m)};
    w.ahead = T(aggregate_member)(m, &w.at, FETCH_AHEAD % w.left);
    return w;
}

/* True if the walk has a site; fetches null vectors of a later one, to be at hand soon after those before it. */
FN int T(members_on)(const coarse_transfer_args *a, const T(members) * w)
{
    if (w->left == 0) return 0;
    if (a->fine == 2 || w->ahead.parity == a->fine) {
        const char *v = (const char *)T(null_at)(&a->of, &a->vectors, w->ahead.of_all, 0);
        const long bytes = (long)a->of.components * 2 * a->of.padded * (long)sizeof(real);
        for (long i = 0; i < bytes; i += 64) __builtin_prefetch(v + i, 0, 2);
    }
    return 1;
}

FN void T(members_next)(const coarse_aggregates *m, T(members) * w)
{
    T(aggregate_next)(m, &w->at);
    T(aggregate_next)(m, &w->ahead);
    w->left--;
}

typedef struct {
    real re[2][COARSE_PAD][COARSE_VECTORS_MOST], im[2][COARSE_PAD][COARSE_VECTORS_MOST];
} T(restrict_sums);

/* The sums of one right-hand side, added in pairs. */
FN void T(restrict_close)(real *out, T(restrict_sums) * sum, int vectors, int n)
{
    for (int chirality = 0; chirality < 2; chirality++) {
        real(*re)[COARSE_VECTORS_MOST] = sum->re[chirality], (*im)[COARSE_VECTORS_MOST] = sum->im[chirality];
        for (int step = COARSE_PAD / 2; step > 0; step /= 2)
            for (int l = 0; l < step; l++)
                for (int k = 0; k < n; k++) {
                    re[l][k] += re[l + step][k];
                    im[l][k] += im[l + step][k];
                }
        for (int k = 0; k < vectors; k++) {
            out[2 * (chirality * vectors + k)] = re[0][k];
            out[2 * (chirality * vectors + k) + 1] = im[0][k];
        }
    }
}

/* coarse = P^dagger fine. Line number l of an aggregate along x is added to sum l % COARSE_PAD. */
FN void T(coarse_restrict_site)(const coarse_transfer_args *a, long u)
{
    const int n = a->of.padded, half = a->of.components / 2;
    for (int from = 0; from < a->coarse_vector.groups; from += TRANSFER_TILE) {
        const int left = a->coarse_vector.groups - from, groups = left < TRANSFER_TILE ? left : TRANSFER_TILE;
        T(restrict_sums) sum[TRANSFER_TILE];
        for (int k = 0; k < groups; k++)
            for (int c = 0; c < 2; c++)
                for (int l = 0; l < COARSE_PAD; l++)
                    for (int i = 0; i < n; i++) sum[k].re[c][l][i] = sum[k].im[c][l][i] = 0;
        int line = 0;
        for (T(members) w = T(members_begin)(&a->of, u); T(members_on)(a, &w); T(members_next)(&a->of, &w)) {
            const int l = line % COARSE_PAD;
            const real *v = T(null_at)(&a->of, &a->vectors, w.at.of_all, 0);
            for (int k = 0; k < groups; k++) {
                const real *x = T(member_row)(a, &w.at, from + k);
                if (!x) break;
                for (int c = 0; c < 2; c++) {
                    const long first = (long)c * half;
                    T(restrict_member)(sum[k].re[c][l], sum[k].im[c][l], v + first * 2 * n, x + 2 * first, half, n);
                }
            }
            line += w.at.in[0] == a->of.block[0] - 1;
        }
        for (int k = 0; k < groups; k++)
            T(restrict_close)(T(row_at)(&a->coarse_vector, u, from + k), &sum[k], a->of.vectors, n);
    }
}

#define SUM_STRIPS (COARSE_PAD / STRIP)

/* `many` components, (sum_k v_k c_k) of each: COARSE_PAD sums, added in pairs. */
FN void T(prolong_components)(real *out, const real *v, const T(parts) * c, int n, const int many)
{
    T(strip) re[3][SUM_STRIPS], im[3][SUM_STRIPS];
    UNROLL for (int m = 0; m < many; m++) UNROLL for (int p = 0; p < SUM_STRIPS; p++) re[m][p] = im[m][p] =
        T(strip_of)(0);
    for (int k = 0; k < n; k += COARSE_PAD) UNROLL for (int p = 0; p < SUM_STRIPS; p++)
        {
            const int at = k + p * STRIP;
            const T(strip) cr = T(strip_at)(c->re + at), ci = T(strip_at)(c->im + at);
            UNROLL for (int m = 0; m < many; m++)
            {
                const real *w = v + 2 * m * n + at;
                T(strip_add)(&re[m][p], &im[m][p], T(strip_at)(w), T(strip_at)(w + n), cr, ci);
            }
        }
    UNROLL for (int m = 0; m < many; m++) T(strip_pair_sums)(out + 2 * m, re[m], im[m]);
}

/* The components of one chirality at a site. */
FN void T(prolong_member)(real *x, const real *v, const T(parts) * c, int half, int n)
{
    int i = 0;
    for (; i + 3 <= half; i += 3) T(prolong_components)(x + 2 * i, v + 2 * i * n, c, n, 3);
    for (; i < half; i++) T(prolong_components)(x + 2 * i, v + 2 * i * n, c, n, 1);
}

/* fine = P coarse, on the parities that the fine vector has */
FN void T(coarse_prolong_site)(const coarse_transfer_args *a, long u)
{
    const int n = a->of.padded, half = a->of.components / 2, vectors = a->of.vectors;
    for (int from = 0; from < a->coarse_vector.groups; from += TRANSFER_TILE) {
        const int left = a->coarse_vector.groups - from, groups = left < TRANSFER_TILE ? left : TRANSFER_TILE;
        T(parts) in[TRANSFER_TILE][2];
        for (int k = 0; k < groups; k++) {
            const real *row = T(row_at)(&a->coarse_vector, u, from + k);
            for (int c = 0; c < 2; c++)
                for (int i = 0; i < n; i++) {
                    in[k][c].re[i] = i < vectors ? row[2 * (c * vectors + i)] : 0;
                    in[k][c].im[i] = i < vectors ? row[2 * (c * vectors + i) + 1] : 0;
                }
        }
        for (T(members) w = T(members_begin)(&a->of, u); T(members_on)(a, &w); T(members_next)(&a->of, &w)) {
            const real *v = T(null_at)(&a->of, &a->vectors, w.at.of_all, 0);
            for (int k = 0; k < groups; k++) {
                real *x = T(member_row)(a, &w.at, from + k);
                if (!x) break;
                for (int c = 0; c < 2; c++)
                    T(prolong_member)(x + 2 * c * half, v + (long)c * half * 2 * n, &in[k][c], half, n);
            }
        }
    }
}
