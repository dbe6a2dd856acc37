/* The Galerkin product P^dagger M P of an operator with hops to next neighbours and M^dagger = gamma_5 M gamma_5.
 *
 * Of an aggregate and COARSE_PAD columns (vectors of one chirality) at a time: W = H_mu(x) P(x + mu), then P(x)^dagger W is
 * added to the coarse link where x + mu is in another aggregate, else to the inner part I. Backward links and the coarse
 * diagonal D = I + gamma_5 I^dagger gamma_5 follow from gamma_5 Hermiticity; half of the fine diagonal is in I. */

typedef struct {
    real re[COARSE_PAD], im[COARSE_PAD];
} T(columns);

/* Product of a row of matrices with columns: sum += (re, im) x. */
FN void T(columns_add)(T(columns) * sum, real re, real im, const T(columns) * x)
{
    ROWS_LOOP for (int c = 0; c < COARSE_PAD; c++)
    {
        sum->re[c] = T(real_fma)(-im, x->im[c], T(real_fma)(re, x->re[c], sum->re[c]));
        sum->im[c] = T(real_fma)(im, x->re[c], T(real_fma)(re, x->im[c], sum->im[c]));
    }
}

FN void T(columns_clear)(T(columns) * x, int n)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < COARSE_PAD; c++) x[i].re[c] = x[i].im[c] = 0;
}

/* Columns first ... of the null vectors' component i at a row. */
FN void T(columns_load)(T(columns) * x, const real *at_site, int i, int padded, int first)
{
    const real *v = at_site + (long)i * 2 * padded + first;
    for (int c = 0; c < COARSE_PAD; c++) {
        x->re[c] = v[c];
        x->im[c] = v[padded + c];
    }
}

/* sum[k] += sum_i conj(v_ki) w[i] over `half` components of one chirality from number i0 on. */
FN void T(project_columns)(T(columns) * sum, const coarse_galerkin_args *a, long row, int chirality,
                           const T(columns) * w, int half)
{
    const int n = a->of.padded;
    const real *v = T(null_at)(&a->of, &a->vectors, row, chirality * half);
    for (int k = 0; k < a->of.vectors; k++) {
        T(columns) s = sum[chirality * a->of.vectors + k];
        for (int i = 0; i < half; i++) T(columns_add)(&s, v[(long)i * 2 * n + k], -v[(long)i * 2 * n + n + k], &w[i]);
        sum[chirality * a->of.vectors + k] = s;
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
    const int edge = ++y[mu] == m->sub[mu], parity = (at->parity + 1) % m->parities;
    T(ahead) r = {0, y[mu] % m->block[mu] == 0, edge && mu == 3 ? (real)a->time_sign : 1};
    if (edge && a->split[mu]) {
        long f = 0;
        UNROLL for (int e = 3; e >= 0; e--) if (e != mu) f = f * m->sub[e] + y[e];
        r.vectors = T(row_at)(&a->ghost[mu], f / m->parities + parity * a->ghost_rows[mu], 0);
        return r;
    }
    if (edge) y[mu] = 0;
    const long row =
        (((long)y[3] * m->sub[2] + y[2]) * m->sub[1] + y[1]) * (m->sub[0] / m->parities) + y[0] / m->parities;
    r.vectors = T(row_at)(&a->vectors, row + parity * m->rows_of_parity, 0);
    return r;
}

/* The sums of columns into the matrices of a site: column `first` + c of a chirality. */
FN void T(columns_save)(const view *out, long u, int dir, const T(columns) * sum, int chirality, int first, int vectors)
{
    const int n = 2 * vectors;
    real *m = T(row_at)(out, u, dir);
    for (int c = 0; c < COARSE_PAD && first + c < vectors; c++) {
        real *column = m + (long)(chirality * vectors + first + c) * 2 * n;
        for (int i = 0; i < n; i++) {
            column[i] = sum[i].re[c];
            column[n + i] = sum[i].im[c];
        }
    }
}

/* D = I + gamma_5 I^dagger gamma_5, in place. */
FN void T(complete_diagonal)(const view *out, long u, int n)
{
    real *m = T(row_at)(out, u, 0);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            real *a = m + (long)j * 2 * n + i, *b = m + (long)i * 2 * n + j;
            const real sign = (i < n / 2) == (j < n / 2) ? 1 : -1;
            const real re = a[0] + sign * b[0], im = a[n] - sign * b[n];
            a[0] = re;
            a[n] = im;
            b[0] = sign * re;
            b[n] = i == j ? im : -sign * im;
        }
}

/* ---- of Wilson-clover ---- */

/* w = U x / -2 for the two spins of a chirality, times the sign of the boundary. */
FN void T(link_columns)(T(columns) w[6], const real *link, const T(columns) x[6], real sign)
{
    T(columns_clear)(w, 6);
    for (int spin = 0; spin < 2; spin++)
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                T(columns_add)
                (&w[3 * spin + i], (real)-0.5 * sign * link[6 * i + 2 * c], (real)-0.5 * sign * link[6 * i + 2 * c + 1],
                 &x[3 * spin + c]);
}

/* y = -gamma_mu w from one chirality to the other: -G^dagger from the upper spins, -G from the lower ones, with G as in
 * kernels/site/spin.h. */
FN void T(gamma_columns)(T(columns) y[6], const T(columns) w[6], int mu, int from_lower)
{
    const int crosses = mu < 2; /* spins are exchanged */
    const real re[2] = {(real)(mu == 1 ? 1 : mu == 3 ? -1 : 0), (real)(mu == 1 ? -1 : mu == 3 ? -1 : 0)};
    const real im[2] = {(real)(mu == 0 || mu == 2 ? -1 : 0), (real)(mu == 0 ? -1 : mu == 2 ? 1 : 0)};
    const real dagger = (real)(from_lower || mu == 3 ? 1 : -1);
    T(columns_clear)(y, 6);
    for (int spin = 0; spin < 2; spin++)
        for (int c = 0; c < 3; c++)
            T(columns_add)
            (&y[3 * spin + c], dagger * re[spin], dagger * im[spin], &w[3 * (crosses ? 1 - spin : spin) + c]);
}

/* w = C x / 2 in one chirality. */
FN void T(clover_columns)(T(columns) w[6], const real *clover, const T(columns) x[6])
{
    T(columns_clear)(w, 6);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            const int high = i > j ? i : j, low = i > j ? j : i;
            const real *e = clover + (i == j ? i : CLOVER_LOWER(high, low));
            T(columns_add)(&w[i], (real)0.5 * e[0], i == j ? 0 : (real)(i > j ? 0.5 : -0.5) * e[1], &x[j]);
        }
}

FN void T(wilson_columns)(T(columns) * inner, T(columns) * hop, const coarse_galerkin_args *a, const T(member) * at,
                          int chirality, int first, int mu)
{
    const T(ahead) ahead = T(step_ahead)(a, at, mu);
    T(columns) x[6], w[6], other[6];
    for (int i = 0; i < 6; i++) T(columns_load)(&x[i], ahead.vectors, 6 * chirality + i, a->of.padded, first);
    T(link_columns)(w, T(row_at)(&a->links, at->of_all, 0) + 18 * mu, x, ahead.sign);
    T(gamma_columns)(other, w, mu, chirality);
    T(columns) *to = ahead.leaves ? hop : inner;
    T(project_columns)(to, a, at->of_all, chirality, w, 6);
    T(project_columns)(to, a, at->of_all, 1 - chirality, other, 6);
}

FN void T(coarse_galerkin_wilson_site)(const coarse_galerkin_args *a, long u)
{
    const int vectors = a->of.vectors, n = 2 * vectors;
    for (int chirality = 0; chirality < 2; chirality++)
        for (int first = 0; first < vectors; first += COARSE_PAD) {
            T(columns) inner[COARSE_COMPONENTS_MOST], hop[4][COARSE_COMPONENTS_MOST];
            T(columns_clear)(inner, n);
            for (int mu = 0; mu < 4; mu++) T(columns_clear)(hop[mu], n);
            for (int s = 0; s < T(aggregate_sites)(&a->of); s++) {
                const T(member) at = T(aggregate_member)(&a->of, u, s);
                const real *here = T(row_at)(&a->vectors, at.of_all, 0);
                T(columns) x[6], w[6];
                for (int i = 0; i < 6; i++) T(columns_load)(&x[i], here, 6 * chirality + i, a->of.padded, first);
                T(clover_columns)(w, T(row_at)(&a->diagonal, at.of_all, 0) + 36 * chirality, x);
                T(project_columns)(inner, a, at.of_all, chirality, w, 6);
                for (int mu = 0; mu < 4; mu++) T(wilson_columns)(inner, hop[mu], a, &at, chirality, first, mu);
            }
            for (int mu = 0; mu < 4; mu++) T(columns_save)(&a->out, u, 2 * mu, hop[mu], chirality, first, vectors);
            T(columns_save)(&a->out_diagonal, u, 0, inner, chirality, first, vectors);
        }
    T(complete_diagonal)(&a->out_diagonal, u, n);
}

/* ---- of a coarse operator M = X (1 + Y) ---- */

/* w = m x; x of n components from number `from` on, of which there are `count`. */
FN void T(matrix_columns)(T(columns) * w, const real *m, int n, const T(columns) * x, int from, int count)
{
    T(columns_clear)(w, n);
    for (int j = 0; j < count; j++) {
        const real *column = m + (long)(from + j) * 2 * n;
        for (int i = 0; i < n; i++) T(columns_add)(&w[i], column[i], column[n + i], &x[j]);
    }
}

/* The columns of X P / 2 at a site, or of X Y_mu P from the site ahead. */
FN void T(coarse_columns)(T(columns) * w, const coarse_galerkin_args *a, const T(member) * at, const T(ahead) * from,
                          int chirality, int first, int mu)
{
    const int n = a->of.components, half = n / 2;
    T(columns) x[COARSE_COMPONENTS_MOST];
    for (int i = 0; i < half; i++) T(columns_load)(&x[i], from->vectors, chirality * half + i, a->of.padded, first);
    if (mu < 0) {
        for (int i = 0; i < half; i++)
            for (int c = 0; c < COARSE_PAD; c++) {
                x[i].re[c] *= (real)0.5;
                x[i].im[c] *= (real)0.5;
            }
        T(matrix_columns)(w, T(row_at)(&a->diagonal, at->of_all, 0), n, x, chirality * half, half);
        return;
    }
    T(matrix_columns)(w, T(row_at)(&a->links, at->of_all, 2 * mu), n, x, chirality * half, half);
    for (int i = 0; i < n; i++) x[i] = w[i];
    T(matrix_columns)(w, T(row_at)(&a->diagonal, at->of_all, 0), n, x, 0, n);
}

FN void T(coarse_galerkin_site)(const coarse_galerkin_args *a, long u)
{
    const int vectors = a->of.vectors, n = 2 * vectors, fine = a->of.components;
    for (int chirality = 0; chirality < 2; chirality++)
        for (int first = 0; first < vectors; first += COARSE_PAD) {
            T(columns) inner[COARSE_COMPONENTS_MOST], hop[4][COARSE_COMPONENTS_MOST], w[COARSE_COMPONENTS_MOST];
            T(columns_clear)(inner, n);
            for (int mu = 0; mu < 4; mu++) T(columns_clear)(hop[mu], n);
            for (int s = 0; s < T(aggregate_sites)(&a->of); s++) {
                const T(member) at = T(aggregate_member)(&a->of, u, s);
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
FN void T(coarse_backward_site)(const coarse_backward_args *a, long u)
{
    const int n = a->components;
    const int32_t *st = a->g.stencil[a->parity] + STENCIL_INTS * u;
    const int odd_there = a->parities == 2 && a->parity == 0;
    const long here = u + (a->parity ? a->rows_of_parity : 0);
    for (int mu = 0; mu < 4; mu++) {
        const int dir = 2 * mu + 1, ghost = (st[8] >> 2 * dir & 3) == NEAR_GHOST;
        const real *y = ghost ? T(row_at)(&a->ghost[mu], st[dir] + odd_there * a->ghost_rows[mu], 0)
                              : T(row_at)(&a->links, st[dir] + odd_there * a->rows_of_parity, 2 * mu);
        real *m = T(row_at)(&a->links, here, dir);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const real sign = (i < n / 2) == (j < n / 2) ? 1 : -1;
                m[(long)j * 2 * n + i] = sign * y[(long)i * 2 * n + j];
                m[(long)j * 2 * n + n + i] = -sign * y[(long)i * 2 * n + n + j];
            }
    }
}
