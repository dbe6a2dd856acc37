/* Aggregates: null vectors put in, made orthonormal, and the transfer of vectors by them. A work item is a coarse site,
 * and sums over an aggregate run over its sites in their order, or a share of its lines in theirs, so they do not depend on
 * the process grid. */

/* A site of an aggregate: its row among those of its parity, and among all; its place on the rank, and in the aggregate. */
typedef struct {
    long row, of_all;
    int parity, x[4], in[4];
} T(member);

FN long T(row_of_place)(const coarse_aggregates *m, const int x[4])
{
    const long line = ((long)x[3] * m->sub[2] + x[2]) * m->sub[1] + x[1];
    return m->parities == 2 ? line * (m->sub[0] >> 1) + (x[0] >> 1) : line * m->sub[0] + x[0];
}

FN void T(member_settle)(const coarse_aggregates *m, T(member) * at)
{
    at->parity = m->parities == 2 ? (at->x[0] + at->x[1] + at->x[2] + at->x[3]) & 1 : 0;
    at->row = T(row_of_place)(m, at->x);
    at->of_all = at->row + at->parity * m->rows_of_parity;
}

/* The first site of the aggregate of coarse site u. */
FN T(member) T(aggregate_first)(const coarse_aggregates *m, long u)
{
    const int16_t *c = m->coarse.coord[m->parity] + 4 * u;
    T(member) at;
    UNROLL for (int d = 0; d < 4; d++)
    {
        at.x[d] = c[d] * m->block[d];
        at.in[d] = 0;
    }
    T(member_settle)(m, &at);
    return at;
}

/* The next one, x fastest; after the last comes the first. */
FN void T(aggregate_next)(const coarse_aggregates *m, T(member) * at)
{
    for (int d = 0; d < 4; d++) {
        at->x[d]++;
        if (++at->in[d] < m->block[d]) break;
        at->x[d] -= m->block[d];
        at->in[d] = 0;
    }
    T(member_settle)(m, at);
}

/* The next one in its line along x. */
FN void T(member_step)(const coarse_aggregates *m, T(member) * at)
{
    at->x[0]++;
    at->in[0]++;
    T(member_settle)(m, at);
}

/* Member number s, and the first one of line number `line` along x. */
FN T(member) T(aggregate_member)(const coarse_aggregates *m, const T(member) * first, int s)
{
    T(member) at = *first;
    UNROLL for (int d = 0; d < 4; d++)
    {
        at.in[d] = s % m->block[d];
        at.x[d] += at.in[d];
        s /= m->block[d];
    }
    T(member_settle)(m, &at);
    return at;
}

FN T(member) T(aggregate_line)(const coarse_aggregates *m, const T(member) * first, int line)
{
    return T(aggregate_member)(m, first, line * m->block[0]);
}

FN int T(aggregate_sites)(const coarse_aggregates *m)
{
    return m->block[0] * m->block[1] * m->block[2] * m->block[3];
}

/* Component i of the null vectors at a site. */
FN real *T(null_at)(const coarse_aggregates *m, const view *vectors, long row, int i)
{
    return T(row_at)(vectors, row, 0) + (long)i * 2 * m->padded;
}

FN void T(coarse_insert_component)(const coarse_insert_args *a, long u, int i)
{
    const real *in = T(row_at)(&a->in, u, 0) + 2 * i;
    real *v = T(null_at)(&a->of, &a->vectors, u + a->fine * a->of.rows_of_parity, i) + a->number;
    v[0] = in[0];
    v[a->of.padded] = in[1];
}

FN void T(coarse_insert_site)(const coarse_insert_args *a, long u)
{
    for (int i = 0; i < a->of.components; i++) T(coarse_insert_component)(a, u, i);
}

/* ---- orthonormal null vectors, by the Cholesky factor of their products ---- */

typedef struct {
    double re[COARSE_VECTORS_MOST], im[COARSE_VECTORS_MOST];
} T(products);

/* gram += conj(x_k) x_l */
FN void T(gram_add)(double *re, double *im, double kr, double ki, double lr, double li)
{
    *re = fma(ki, li, fma(kr, lr, *re));
    *im = fma(-ki, lr, fma(kr, li, *im));
}

/* gram[k] = (v_k, v_l) for l >= k over an aggregate and chirality. */
FN void T(gram)(T(products) * gram, const coarse_orthonormalise_args *a, long u, int chirality)
{
    const int n = a->of.vectors, half = a->of.components / 2;
    for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) gram[k].re[l] = gram[k].im[l] = 0;
    T(member) at = T(aggregate_first)(&a->of, u);
    for (int s = T(aggregate_sites)(&a->of); s > 0; s--, T(aggregate_next)(&a->of, &at)) {
        for (int i = 0; i < half; i++) {
            const real *v = T(null_at)(&a->of, &a->vectors, at.of_all, chirality * half + i);
            T(products) x;
            for (int k = 0; k < n; k++) {
                x.re[k] = v[k];
                x.im[k] = v[a->of.padded + k];
            }
            for (int k = 0; k < n; k++) {
                const double xr = x.re[k], xi = x.im[k];
                ROWS_LOOP for (int l = k / COARSE_PAD * COARSE_PAD; l < n; l++)
                    T(gram_add)(&gram[k].re[l], &gram[k].im[l], xr, xi, x.re[l], x.im[l]);
            }
        }
    }
}

/* Remainder of |v_k|^2, over itself, up to which a vector depends on those before it. */
#define DEPENDENT 1e-12

/* Element k of R's diagonal, or 1 where vector k depends on those before it. */
FN double T(cholesky_pivot)(const T(products) * gram, int k, int *bad)
{
    double left = gram[k].re[k];
    const double whole = left;
    for (int j = 0; j < k; j++) left = fma(-gram[j].im[k], gram[j].im[k], fma(-gram[j].re[k], gram[j].re[k], left));
    *bad = !(left > DEPENDENT * whole);
    return *bad ? 1 : sqrt(left);
}

FN void T(cholesky_element)(T(products) * gram, int k, int l, double root)
{
    double re = gram[k].re[l], im = gram[k].im[l];
    for (int j = 0; j < k; j++) {
        re = fma(-gram[j].im[k], gram[j].im[l], fma(-gram[j].re[k], gram[j].re[l], re));
        im = fma(gram[j].im[k], gram[j].re[l], fma(-gram[j].re[k], gram[j].im[l], im));
    }
    gram[k].re[l] = re / root;
    gram[k].im[l] = im / root;
}

/* gram = R^dagger R, R in place of its upper triangle; how many vectors depend on those before them. */
FN int T(cholesky)(T(products) * gram, int n)
{
    int dependent = 0;
    for (int k = 0; k < n; k++) {
        int bad;
        const double root = T(cholesky_pivot)(gram, k, &bad);
        dependent += bad;
        gram[k].re[k] = root;
        gram[k].im[k] = 0;
        for (int l = k + 1; l < n; l++) T(cholesky_element)(gram, k, l, root);
    }
    return dependent;
}

/* x_l loses x_k R_kl. */
FN void T(divide_element)(double *re, double *im, double xr, double xi, double factor_re, double factor_im)
{
    *re = fma(xi, factor_im, fma(-xr, factor_re, *re));
    *im = fma(-xi, factor_re, fma(-xr, factor_im, *im));
}

/* The vectors times R^-1. */
FN void T(divide_by_factor)(const T(products) * factor, const coarse_orthonormalise_args *a, long u, int chirality)
{
    const int n = a->of.vectors, half = a->of.components / 2;
    T(member) at = T(aggregate_first)(&a->of, u);
    for (int s = T(aggregate_sites)(&a->of); s > 0; s--, T(aggregate_next)(&a->of, &at)) {
        for (int i = 0; i < half; i++) {
            real *v = T(null_at)(&a->of, &a->vectors, at.of_all, chirality * half + i);
            T(products) x;
            for (int k = 0; k < n; k++) {
                x.re[k] = v[k];
                x.im[k] = v[a->of.padded + k];
            }
            for (int k = 0; k < n; k++) {
                const double inverse = 1 / factor[k].re[k], xr = x.re[k] * inverse, xi = x.im[k] * inverse;
                x.re[k] = xr;
                x.im[k] = xi;
                ROWS_LOOP for (int l = k + 1; l < n; l++)
                    T(divide_element)(&x.re[l], &x.im[l], xr, xi, factor[k].re[l], factor[k].im[l]);
            }
            for (int k = 0; k < n; k++) {
                v[k] = (real)x.re[k];
                v[a->of.padded + k] = (real)x.im[k];
            }
        }
    }
}

/* Twice, so that rounding of the first pass is taken out by the second. Sums the vectors that depend on others. */
FN void T(coarse_orthonormalise_site)(const coarse_orthonormalise_args *a, long u, vexact *sum)
{
    T(products) gram[COARSE_VECTORS_MOST];
    vdouble dependent = vdouble_zero();
    for (int chirality = 0; chirality < 2; chirality++)
        for (int pass = 0; pass < 2; pass++) {
            T(gram)(gram, a, u, chirality);
            VDOUBLE_LANE(dependent, 0) += T(cholesky)(gram, a->of.vectors);
            T(divide_by_factor)(gram, a, u, chirality);
        }
    T(exact_deposit)(sum, dependent);
}

/* ---- transfer ---- */

/* The fine vector's row at a member, or null where it has none. */
FN real *T(member_row)(const coarse_transfer_args *a, const T(member) * at, int group)
{
    if (a->fine == 2) return T(row_at)(&a->fine_vector, at->of_all, group);
    return at->parity == a->fine ? T(row_at)(&a->fine_vector, at->row, group) : (real *)0;
}
