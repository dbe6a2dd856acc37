/* The Galerkin product P^dagger M P of an operator with hops to next neighbours and M^dagger = gamma_5 M gamma_5.
 *
 * Of an aggregate and a few columns (vectors of one chirality) at a time: W = H_mu(x) P(x + mu), then P(x)^dagger W is
 * added to the coarse link where x + mu is in another aggregate, else to the inner part I. Backward links and the coarse
 * diagonal D = I + gamma_5 I^dagger gamma_5 follow from gamma_5 Hermiticity; half of the fine diagonal is in I. */

/* Columns of a work item: COARSE_PAD, one a lane, or that of a thread of a GPU (kernels/family/coarse.cuh). */
#ifdef __CUDACC__
#define COLUMNS 1
#else
#define COLUMNS COARSE_PAD
#endif

typedef struct {
    real re[COLUMNS], im[COLUMNS];
} T(columns);

/* Product of a row of matrices with columns: sum += (re, im) x, or the first of these terms. */
FN void T(columns_add)(T(columns) * sum, real re, real im, const real *xr, const real *xi)
{
    ROWS_LOOP for (int c = 0; c < COLUMNS; c++)
    {
        sum->re[c] = T(real_fma)(-im, xi[c], T(real_fma)(re, xr[c], sum->re[c]));
        sum->im[c] = T(real_fma)(im, xr[c], T(real_fma)(re, xi[c], sum->im[c]));
    }
}

FN void T(columns_set)(T(columns) * sum, real re, real im, const real *xr, const real *xi)
{
    ROWS_LOOP for (int c = 0; c < COLUMNS; c++)
    {
        sum->re[c] = T(real_fma)(-im, xi[c], re * xr[c]);
        sum->im[c] = T(real_fma)(im, xr[c], re * xi[c]);
    }
}

FN void T(columns_clear)(T(columns) * x, int n)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++) x[i].re[c] = x[i].im[c] = 0;
}

/* sum[k] += sum_i conj(v_ki) w[i] over `half` components of one chirality. */
FN void T(project_columns)(T(columns) * sum, const coarse_galerkin_args *a, long row, int chirality,
                           const T(columns) * w, int half)
{
    const int n = a->of.padded;
    const real *v = T(null_at)(&a->of, &a->vectors, row, chirality * half);
    for (int k = 0; k < a->of.vectors; k++) {
        T(columns) *to = &sum[chirality * a->of.vectors + k], s;
        T(columns_set)(&s, v[k], -v[n + k], w[0].re, w[0].im);
        for (int i = 1; i < half; i++)
            T(columns_add)(&s, v[(long)i * 2 * n + k], -v[(long)i * 2 * n + n + k], w[i].re, w[i].im);
        ROWS_LOOP for (int c = 0; c < COLUMNS; c++)
        {
            to->re[c] += s.re[c];
            to->im[c] += s.im[c];
        }
    }
}

/* The null vectors at x + mu, where x + mu is in another aggregate or not, and the sign of the time boundary. */
typedef struct {
    const real *vectors;
    int leaves;
    real sign;
} T(ahead);

FN T(ahead) T(step_ahead)(const coarse_galerkin_args *a, const T(member) * at, int mu)
{
    const coarse_aggregates *m = &a->of;
    int y[4] = {at->x[0], at->x[1], at->x[2], at->x[3]};
    const int edge = ++y[mu] == m->sub[mu], parity = m->parities == 2 ? 1 - at->parity : 0;
    T(ahead) r = {0, at->in[mu] + 1 == m->block[mu], edge && mu == 3 ? (real)a->time_sign : 1};
    if (edge && a->split[mu]) {
        long f = 0;
        UNROLL for (int e = 3; e >= 0; e--) if (e != mu) f = f * m->sub[e] + y[e];
        r.vectors = T(row_at)(&a->ghost[mu], (m->parities == 2 ? f >> 1 : f) + parity * a->ghost_rows[mu], 0);
        return r;
    }
    if (edge) y[mu] = 0;
    const long row = T(row_of_place)(m, y);
    r.vectors = T(row_at)(&a->vectors, row + parity * m->rows_of_parity, 0);
    return r;
}

/* The sums of columns into the matrices of a site: column `first` + c of a chirality. */
FN void T(columns_save)(const view *out, long u, int dir, const T(columns) * sum, int chirality, int first, int vectors)
{
    const int n = 2 * vectors;
    real *m = T(row_at)(out, u, dir);
    for (int c = 0; c < COLUMNS && first + c < vectors; c++) {
        real *column = m + (long)(chirality * vectors + first + c) * 2 * n;
        for (int i = 0; i < n; i++) {
            column[i] = sum[i].re[c];
            column[n + i] = sum[i].im[c];
        }
    }
}

/* D = I + gamma_5 I^dagger gamma_5, in place: elements (i, j) and (j, i). */
FN void T(complete_element)(real *m, int n, int i, int j)
{
    real *a = m + (long)j * 2 * n + i, *b = m + (long)i * 2 * n + j;
    const real sign = (i < n / 2) == (j < n / 2) ? 1 : -1;
    const real re = a[0] + sign * b[0], im = a[n] - sign * b[n];
    a[0] = re;
    a[n] = im;
    b[0] = sign * re;
    b[n] = i == j ? im : -sign * im;
}

FN void T(complete_diagonal)(const view *out, long u, int n)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) T(complete_element)(T(row_at)(out, u, 0), n, i, j);
}

/* ---- of Wilson-clover ---- */

/* w = U x / -2 for the two spins of a chirality, times the sign of the boundary; component i of x is at x + 2 i n, its
 * imaginary parts n further. */
FN void T(link_columns)(T(columns) w[6], const real *link, const real *x, int n, real sign)
{
    const real factor = (real)-0.5 * sign;
    for (int spin = 0; spin < 2; spin++)
        for (int i = 0; i < 3; i++) {
            const real *y = x + (long)6 * spin * n, *u = link + 6 * i;
            T(columns) *to = &w[3 * spin + i];
            T(columns_set)(to, factor * u[0], factor * u[1], y, y + n);
            T(columns_add)(to, factor * u[2], factor * u[3], y + 2 * n, y + 3 * n);
            T(columns_add)(to, factor * u[4], factor * u[5], y + 4 * n, y + 5 * n);
        }
}

/* y = -gamma_mu w from one chirality to the other: -G^dagger from the upper spins, -G from the lower ones, with G as in
 * kernels/site/spin.h. */
FN void T(gamma_columns)(T(columns) y[6], const T(columns) w[6], int mu, int from_lower)
{
    const int crosses = mu < 2; /* spins are exchanged */
    const real re[2] = {(real)(mu == 1 ? 1 : mu == 3 ? -1 : 0), (real)(mu == 1 ? -1 : mu == 3 ? -1 : 0)};
    const real im[2] = {(real)(mu == 0 || mu == 2 ? -1 : 0), (real)(mu == 0 ? -1 : mu == 2 ? 1 : 0)};
    const real dagger = (real)(from_lower || mu == 3 ? 1 : -1);
    for (int spin = 0; spin < 2; spin++)
        for (int c = 0; c < 3; c++) {
            const T(columns) *from = &w[3 * (crosses ? 1 - spin : spin) + c];
            T(columns_set)(&y[3 * spin + c], dagger * re[spin], dagger * im[spin], from->re, from->im);
        }
}

/* w = C x / 2 in one chirality; x as above. */
FN void T(clover_columns)(T(columns) w[6], const real *clover, const real *x, int n)
{
    for (int i = 0; i < 6; i++) {
        const real *y = x + (long)2 * i * n;
        T(columns_set)(&w[i], (real)0.5 * clover[i], 0, y, y + n);
        for (int j = 0; j < 6; j++) {
            if (i == j) continue;
            const real *e = clover + CLOVER_LOWER(i > j ? i : j, i > j ? j : i), *z = x + (long)2 * j * n;
            T(columns_add)(&w[i], (real)0.5 * e[0], (real)(i > j ? 0.5 : -0.5) * e[1], z, z + n);
        }
    }
}

FN void T(wilson_columns)(T(columns) * inner, T(columns) * hop, const coarse_galerkin_args *a, const T(member) * at,
                          int chirality, int first, int mu)
{
    const T(ahead) ahead = T(step_ahead)(a, at, mu);
    const int n = a->of.padded;
    T(columns) w[6], other[6];
    T(link_columns)
    (w, T(row_at)(&a->links, at->of_all, 0) + 18 * mu, ahead.vectors + (long)12 * chirality * n + first, n, ahead.sign);
    T(gamma_columns)(other, w, mu, chirality);
    T(columns) *to = ahead.leaves ? hop : inner;
    T(project_columns)(to, a, at->of_all, chirality, w, 6);
    T(project_columns)(to, a, at->of_all, 1 - chirality, other, 6);
}

FN void T(coarse_galerkin_wilson_site)(const coarse_galerkin_args *a, long u)
{
    const int vectors = a->of.vectors, n = 2 * vectors;
    for (int chirality = 0; chirality < 2; chirality++)
        for (int first = 0; first < vectors; first += COLUMNS) {
            T(columns) inner[COARSE_COMPONENTS_MOST], hop[4][COARSE_COMPONENTS_MOST];
            T(columns_clear)(inner, n);
            for (int mu = 0; mu < 4; mu++) T(columns_clear)(hop[mu], n);
            T(member) at = T(aggregate_first)(&a->of, u);
            for (int s = T(aggregate_sites)(&a->of); s > 0; s--, T(aggregate_next)(&a->of, &at)) {
                const real *here = T(row_at)(&a->vectors, at.of_all, 0);
                T(columns) w[6];
                T(clover_columns)
                (w, T(row_at)(&a->diagonal, at.of_all, 0) + 36 * chirality,
                 here + (long)12 * chirality * a->of.padded + first, a->of.padded);
                T(project_columns)(inner, a, at.of_all, chirality, w, 6);
                for (int mu = 0; mu < 4; mu++) T(wilson_columns)(inner, hop[mu], a, &at, chirality, first, mu);
            }
            for (int mu = 0; mu < 4; mu++) T(columns_save)(&a->out, u, 2 * mu, hop[mu], chirality, first, vectors);
            T(columns_save)(&a->out_diagonal, u, 0, inner, chirality, first, vectors);
        }
    T(complete_diagonal)(&a->out_diagonal, u, n);
}

/* ---- of a coarse operator M = X (1 + Y) ---- */

/* w = factor m x; x of `count` components from number `from` on, one every `apart` reals, its imaginary parts half of that
 * further. */
FN void T(matrix_columns)(T(columns) * w, real factor, const real *m, int n, const real *x, long apart, int from,
                          int count)
{
    T(columns_clear)(w, n);
    for (int j = 0; j < count; j++) {
        const real *column = m + (long)(from + j) * 2 * n, *y = x + j * apart;
        for (int i = 0; i < n; i++) T(columns_add)(&w[i], factor * column[i], factor * column[n + i], y, y + apart / 2);
    }
}

/* Row i of the same; imaginary parts of x are `imaginary` reals further. */
FN void T(matrix_row_columns)(T(columns) * w, real factor, const real *m, int n, int i, const real *x, long apart,
                              long imaginary, int from, int count)
{
    T(columns_clear)(w, 1);
    for (int j = 0; j < count; j++) {
        const real *column = m + (long)(from + j) * 2 * n, *y = x + j * apart;
        T(columns_add)(w, factor * column[i], factor * column[n + i], y, y + imaginary);
    }
}

/* The columns of X P / 2 at a site, or of X Y_mu P from the site ahead. */
FN void T(coarse_columns)(T(columns) * w, const coarse_galerkin_args *a, const T(member) * at, const T(ahead) * from,
                          int chirality, int first, int mu)
{
    const int n = a->of.components, half = n / 2, padded = a->of.padded;
    const real *x = from->vectors + (long)chirality * half * 2 * padded + first;
    const real *diagonal = T(row_at)(&a->diagonal, at->of_all, 0);
    if (mu < 0) {
        T(matrix_columns)(w, (real)0.5, diagonal, n, x, 2 * padded, chirality * half, half);
        return;
    }
    T(columns) y[COARSE_COMPONENTS_MOST];
    T(matrix_columns)(y, 1, T(row_at)(&a->links, at->of_all, 2 * mu), n, x, 2 * padded, chirality * half, half);
    T(matrix_columns)(w, 1, diagonal, n, (const real *)y, 2 * COLUMNS, 0, n);
}

FN void T(coarse_galerkin_site)(const coarse_galerkin_args *a, long u)
{
    const int vectors = a->of.vectors, n = 2 * vectors, fine = a->of.components;
    for (int chirality = 0; chirality < 2; chirality++)
        for (int first = 0; first < vectors; first += COLUMNS) {
            T(columns) inner[COARSE_COMPONENTS_MOST], hop[4][COARSE_COMPONENTS_MOST], w[COARSE_COMPONENTS_MOST];
            T(columns_clear)(inner, n);
            for (int mu = 0; mu < 4; mu++) T(columns_clear)(hop[mu], n);
            T(member) at = T(aggregate_first)(&a->of, u);
            for (int s = T(aggregate_sites)(&a->of); s > 0; s--, T(aggregate_next)(&a->of, &at)) {
                for (int mu = -1; mu < 4; mu++) {
                    T(ahead) from = {T(row_at)(&a->vectors, at.of_all, 0), 0, 1};
                    if (mu >= 0) from = T(step_ahead)(a, &at, mu);
                    T(columns) *to = from.leaves ? hop[mu] : inner;
                    T(coarse_columns)(w, a, &at, &from, chirality, first, mu);
                    for (int half = 0; half < 2; half++)
                        T(project_columns)(to, a, at.of_all, half, w + half * fine / 2, fine / 2);
                }
            }
            for (int mu = 0; mu < 4; mu++) T(columns_save)(&a->out, u, 2 * mu, hop[mu], chirality, first, vectors);
            T(columns_save)(&a->out_diagonal, u, 0, inner, chirality, first, vectors);
        }
    T(complete_diagonal)(&a->out_diagonal, u, n);
}

/* Backward links Y_-mu(x) = gamma_5 Y_mu(x - mu)^dagger gamma_5. */
typedef struct {
    const real *forward;
    real *backward;
} T(backward_link);

FN T(backward_link) T(backward_of)(const coarse_backward_args *a, long u, int mu)
{
    const int odd_there = a->parities == 2 && a->parity == 0, dir = 2 * mu + 1;
    const T(neighbour) n = T(row_neighbour)(&a->g, a->parity, u, dir);
    const T(backward_link) l = {
        n.near == NEAR_GHOST ? T(row_at)(&a->ghost[mu], n.unit + odd_there * a->ghost_rows[mu], 0)
                             : T(row_at)(&a->links, n.unit + odd_there * a->rows_of_parity, 2 * mu),
        T(row_at)(&a->links, u + (a->parity ? a->rows_of_parity : 0), dir)};
    return l;
}

FN void T(backward_element)(const T(backward_link) * l, int n, int i, int j)
{
    const real sign = (i < n / 2) == (j < n / 2) ? 1 : -1, *y = l->forward + (long)i * 2 * n + j;
    real *to = l->backward + (long)j * 2 * n + i;
    to[0] = sign * y[0];
    to[n] = -sign * y[n];
}

FN void T(coarse_backward_site)(const coarse_backward_args *a, long u)
{
    const int n = a->components;
    for (int mu = 0; mu < 4; mu++) {
        const T(backward_link) l = T(backward_of)(a, u, mu);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) T(backward_element)(&l, n, i, j);
    }
}
