/* Fused vector algebra: one pass over memory a step. Sums are exact (sums.h). Kernels that sum do a range of groups, the
 * slices of one right-hand side, and leave the others alone; the rest do all of them. Outputs may alias inputs wherever
 * the formula reads an element before it writes it.
 *
 * Each formula is name_of, for groups of `reals` components; name_site calls it with the number in its arguments, as a
 * literal. Fields in rows order come in floating point and with one lane. */
#define VECTOR_CASES(name, ...)                                                                                        \
    if (a->reals == 6) T(name##_of)(__VA_ARGS__, 6);                                                                   \
    else if (!PLAQ_SIMD && PLAQ_PREC < 2 && a->reals == VECTOR_FLAT(PLAQ_PREC))                                        \
        T(name##_of)(__VA_ARGS__, VECTOR_FLAT(PLAQ_PREC));                                                             \
    else T(name##_of)(__VA_ARGS__, 24);
#define VECTOR_SITE(name)                                                                                              \
    FN void T(name##_site)(const name##_args *a, long u)                                                               \
    {                                                                                                                  \
        VECTOR_CASES(name, a, u)                                                                                       \
    }
#define VECTOR_SITE_SUM(name)                                                                                          \
    FN void T(name##_site)(const name##_args *a, long u, vexact *sum)                                                  \
    {                                                                                                                  \
        VECTOR_CASES(name, a, u, sum)                                                                                  \
    }

/* y = a x + b y */
FN void T(axpby_of)(const axpby_args *a, long u, int reals)
{
    const vreal fa = vset((real)a->a), fb = vset((real)a->b);
    for (int r = 0; r < a->x.groups; r++) {
        vreal x[24], y[24];
        T(load)(x, &a->x, u, r, reals);
        if (a->b != 0) {
            T(load)(y, &a->y, u, r, reals);
            UNROLL for (int i = 0; i < reals; i++) y[i] = vfma(fa, x[i], fb * y[i]);
        } else {
            UNROLL for (int i = 0; i < reals; i++) y[i] = fa * x[i];
        }
        T(save)(y, &a->y, u, r, reals);
    }
}
VECTOR_SITE(axpby)

/* |x|^2 */
FN void T(norm2_group)(const view *from, long u, int group, vexact *sum, int reals)
{
    vreal x[24];
    T(load)(x, from, u, group, reals);
    T(exact_deposit)(&sum[0], T(site_norm2)(x, reals));
}

FN void T(norm2_of)(const norm2_args *a, long u, vexact *sum, int reals)
{
    for (int k = 0; k < a->count; k++) T(norm2_group)(&a->x, u, a->first + k, sum, reals);
}
VECTOR_SITE_SUM(norm2)

/* (x, y) = sum conj(x) y: re, im */
FN void T(dot_group)(const view *left, const view *right, long u, int group, vexact *sum, int reals)
{
    vreal x[24], y[24];
    T(load)(x, left, u, group, reals);
    T(load)(y, right, u, group, reals);
    T(dot_deposit)(&sum[0], &sum[1], x, y, reals);
}

FN void T(dot_of)(const dot_args *a, long u, vexact *sum, int reals)
{
    for (int k = 0; k < a->count; k++) T(dot_group)(&a->x, &a->y, u, a->first + k, sum, reals);
}
VECTOR_SITE_SUM(dot)

/* Re (x, y) */
FN void T(real_dot_of)(const real_dot_args *a, long u, vexact *sum, int reals)
{
    for (int k = 0; k < a->count; k++) {
        vreal x[24], y[24];
        T(load)(x, &a->x, u, a->first + k, reals);
        T(load)(y, &a->y, u, a->first + k, reals);
        T(exact_deposit)(&sum[0], T(site_real_dot)(x, y, reals));
    }
}
VECTOR_SITE_SUM(real_dot)

/* A number that a kernel in front has written, so that no cache of old may answer. */
#ifdef __CUDACC__
#define FRESH(at) __ldcv(at)
#else
#define FRESH(at) (*(at))
#endif

FN double T(value_of)(const coefficient *c)
{
    if (!c->above_at && !c->below_at) return c->times;
    const double above = c->above_at ? FRESH(c->above_at) : c->above,
                 below = c->below_at ? FRESH(c->below_at) : c->below;
    return c->times * exact_quotient(above, below);
}

/* y = a x + b y, then |y|^2; mostly with b = 1, which is to cost nothing */
FN void T(axpby_norm2_group)(const view *to, const view *from, double a, double b, long u, int group, vexact *sum,
                             int reals)
{
    const vreal fa = vset((real)a), fb = vset((real)b);
    vreal x[24], y[24];
    T(load)(x, from, u, group, reals);
    T(load)(y, to, u, group, reals);
    if (b != 1) UNROLL for (int i = 0; i < reals; i++) y[i] *= fb;
    UNROLL for (int i = 0; i < reals; i++) y[i] = vfma(fa, x[i], y[i]);
    T(save)(y, to, u, group, reals);
    T(exact_deposit)(&sum[0], T(site_norm2)(y, reals));
}

/* The coefficient is its `times` here: a GPU settles it once for all sites of a thread. */
FN void T(axpby_norm2_of)(const axpby_norm2_args *a, long u, vexact *sum, int reals)
{
    for (int k = 0; k < a->count; k++)
        T(axpby_norm2_group)(&a->y, &a->x, a->a.times, a->b, u, a->first + k, sum, reals);
}
VECTOR_SITE_SUM(axpby_norm2)

/* ---- right-hand sides each: name_one of right-hand side number k of those that the arguments name ---- */

#define EACH_SITE(name, sums)                                                                                          \
    FN void T(name##_of)(const name##_args *a, long u, vexact *sum, int reals)                                         \
    {                                                                                                                  \
        for (int k = 0; k < a->rhs.many; k++) T(name##_one)(a, u, k, sum + (sums)*k, reals);                           \
    }                                                                                                                  \
    VECTOR_SITE_SUM(name)

/* The view in which slice s of right-hand side k is, and the slice's group there. */
FN view T(of_slice)(const view *v, const several *rhs, int k, int s)
{
    view w = *v;
    w.data = (stored *)v->data + (rhs->number[k] * rhs->slices + s) * rhs->apart;
    return w;
}

FN int T(group_of)(const several *rhs, int k, int s)
{
    return rhs->apart ? 0 : rhs->number[k] * rhs->slices + s;
}

FN void T(norm2_each_one)(const norm2_each_args *a, long u, int k, vexact *sum, int reals)
{
    for (int s = 0; s < a->rhs.slices; s++) {
        const view x = T(of_slice)(&a->x, &a->rhs, k, s);
        T(norm2_group)(&x, u, T(group_of)(&a->rhs, k, s), sum, reals);
    }
}
EACH_SITE(norm2_each, 1)

FN void T(dot_each_one)(const dot_each_args *a, long u, int k, vexact *sum, int reals)
{
    for (int s = 0; s < a->rhs.slices; s++) {
        const view x = T(of_slice)(&a->x, &a->rhs, k, s), y = T(of_slice)(&a->y, &a->rhs, k, s);
        T(dot_group)(&x, &y, u, T(group_of)(&a->rhs, k, s), sum, reals);
    }
}
EACH_SITE(dot_each, 2)

FN void T(axpby_norm2_each_one)(const axpby_norm2_each_args *a, long u, int k, vexact *sum, int reals)
{
    for (int s = 0; s < a->rhs.slices; s++) {
        const view x = T(of_slice)(&a->x, &a->rhs, k, s), y = T(of_slice)(&a->y, &a->rhs, k, s);
        T(axpby_norm2_group)(&y, &x, a->a[k], a->b[k], u, T(group_of)(&a->rhs, k, s), sum, reals);
    }
}
EACH_SITE(axpby_norm2_each, 1)

/* The two updates of conjugate gradients that share p: x += a p, p = r + b p. */
FN void T(cg_update_of)(const cg_update_args *a, long u, int reals)
{
    const vreal fa = vset((real)T(value_of)(&a->a)), fb = vset((real)T(value_of)(&a->b));
    for (int k = 0; k < a->p.groups; k++) {
        vreal p[24], y[24];
        T(load)(p, &a->p, u, k, reals);
        T(load)(y, &a->x, u, k, reals);
        UNROLL for (int i = 0; i < reals; i++) y[i] = vfma(fa, p[i], y[i]);
        T(save)(y, &a->x, u, k, reals);
        T(load)(y, &a->r, u, k, reals);
        UNROLL for (int i = 0; i < reals; i++) p[i] = vfma(fb, p[i], y[i]);
        T(save)(p, &a->p, u, k, reals);
    }
}
VECTOR_SITE(cg_update)

/* ---- complex coefficients, many vectors ---- */

/* y = c x */
FN void T(times)(vreal *y, const double c[2], const vreal *x, int reals)
{
    const vreal re = vset((real)c[0]), im = vset((real)c[1]);
    UNROLL for (int i = 0; i < reals; i += 2)
    {
        y[i] = vfnma(im, x[i + 1], re * x[i]);
        y[i + 1] = vfma(im, x[i], re * x[i + 1]);
    }
}

/* y += c x */
FN void T(add_times)(vreal *y, const double c[2], const vreal *x, int reals)
{
    const vreal re = vset((real)c[0]), im = vset((real)c[1]);
    UNROLL for (int i = 0; i < reals; i += 2)
    {
        y[i] = vfnma(im, x[i + 1], vfma(re, x[i], y[i]));
        y[i + 1] = vfma(im, x[i], vfma(re, x[i + 1], y[i + 1]));
    }
}

/* y -= c x */
FN void T(subtract_times)(vreal *y, const double c[2], const vreal *x, int reals)
{
    const double minus[2] = {-c[0], -c[1]};
    T(add_times)(y, minus, x, reals);
}

/* (z_j, y) of slice s of right-hand side k: re, im */
FN void T(multi_dot_slice)(const multi_dot_args *a, long u, int k, int s, int j, vexact *sum, const vreal *y, int reals)
{
    const view zs = T(of_slice)(&a->z[j], &a->rhs, k, s);
    vreal z[24];
    T(load)(z, &zs, u, T(group_of)(&a->rhs, k, s), reals);
    T(dot_deposit)(&sum[0], &sum[1], z, y, reals);
}

FN void T(multi_dot_right)(vreal *y, const multi_dot_args *a, long u, int k, int s, int reals)
{
    const view ys = T(of_slice)(&a->y, &a->rhs, k, s);
    T(load)(y, &ys, u, T(group_of)(&a->rhs, k, s), reals);
}

/* Product number j of right-hand side k, of a device's warp: re, im */
FN void T(multi_dot_one)(const multi_dot_args *a, long u, int k, int j, vexact *sum, int reals)
{
    for (int s = 0; s < a->rhs.slices; s++) {
        vreal y[24];
        T(multi_dot_right)(y, a, u, k, s, reals);
        T(multi_dot_slice)(a, u, k, s, j, sum, y, reals);
    }
}

/* (z_j, y) of the first n of each right-hand side: re, im, re, im, ... */
FN void T(multi_dot_of)(const multi_dot_args *a, long u, vexact *sum, int reals)
{
    for (int k = 0; k < a->rhs.many; k++)
        for (int s = 0; s < a->rhs.slices; s++) {
            vreal y[24];
            T(multi_dot_right)(y, a, u, k, s, reals);
            for (int j = 0; j < a->n; j++) T(multi_dot_slice)(a, u, k, s, j, sum + 2 * (k * a->n + j), y, reals);
        }
}
VECTOR_SITE_SUM(multi_dot)

/* y += sum_j c_j z_j, then |y|^2 */
FN void T(multi_axpy_of)(const multi_axpy_args *a, long u, vexact *sum, int reals)
{
    for (int g = a->first; g < a->first + a->count; g++) {
        vreal y[24], z[24];
        T(load)(y, &a->y, u, g, reals);
        for (int j = 0; j < a->n; j++) {
            T(load)(z, &a->z[j], u, g, reals);
            T(add_times)(y, a->c[j], z, reals);
        }
        T(save)(y, &a->y, u, g, reals);
        T(exact_deposit)(&sum[0], T(site_norm2)(y, reals));
    }
}
VECTOR_SITE_SUM(multi_axpy)

/* y += sum_j c_j z_j of right-hand side k, and next = r + s y */
FN void T(multi_axpy_each_one)(const multi_axpy_each_args *a, long u, int k, int reals)
{
    for (int s = 0; s < a->rhs.slices; s++) {
        const view ys = T(of_slice)(&a->y, &a->rhs, k, s), rs = T(of_slice)(&a->r, &a->rhs, k, s),
                   next = T(of_slice)(&a->next, &a->rhs, k, s);
        vreal y[24], z[24];
        const int group = T(group_of)(&a->rhs, k, s);
        T(load)(y, &ys, u, group, reals);
        for (int j = 0; j < a->n[k]; j++) {
            const view zs = T(of_slice)(&a->z[j], &a->rhs, k, s);
            T(load)(z, &zs, u, group, reals);
            T(add_times)(y, a->c[k * a->most + j], z, reals);
        }
        if (a->n[k] > 0) T(save)(y, &ys, u, group, reals);
        if (!a->steps) continue;
        T(load)(z, &rs, u, group, reals);
        T(add_times)(z, a->s[k], y, reals);
        T(save)(z, &next, u, group, reals);
    }
}

FN void T(multi_axpy_each_of)(const multi_axpy_each_args *a, long u, int reals)
{
    for (int k = 0; k < a->rhs.many; k++) T(multi_axpy_each_one)(a, u, k, reals);
}
VECTOR_SITE(multi_axpy_each)

/* y_j = a_j x_j + b_j y_j one after the other, so that x_j may be a y of later ones. */
FN void T(multi_axpby_of)(const multi_axpby_args *a, long u, int reals)
{
    for (int k = 0; k < a->y[0].groups; k++)
        for (int j = 0; j < a->n; j++) {
            vreal x[24], y[24];
            T(load)(x, &a->y[j], u, k, reals);
            T(times)(y, a->b[j], x, reals);
            T(load)(x, &a->x[j], u, k, reals);
            T(add_times)(y, a->a[j], x, reals);
            T(save)(y, &a->y[j], u, k, reals);
        }
}
VECTOR_SITE(multi_axpby)

/* A step of minimal residuals of right-hand side k: x += a r; r -= a q. */
FN void T(mr_update_one)(const mr_update_args *a, long u, int k, int reals)
{
    for (int s = 0; s < a->rhs.slices; s++) {
        const view xs = T(of_slice)(&a->x, &a->rhs, k, s), rs = T(of_slice)(&a->r, &a->rhs, k, s),
                   qs = T(of_slice)(&a->q, &a->rhs, k, s);
        vreal r[24], y[24];
        const int group = T(group_of)(&a->rhs, k, s);
        T(load)(r, &rs, u, group, reals);
        T(load)(y, &xs, u, group, reals);
        T(add_times)(y, a->a[k], r, reals);
        T(save)(y, &xs, u, group, reals);
        T(load)(y, &qs, u, group, reals);
        T(subtract_times)(r, a->a[k], y, reals);
        T(save)(r, &rs, u, group, reals);
    }
}

FN void T(mr_update_of)(const mr_update_args *a, long u, int reals)
{
    for (int k = 0; k < a->rhs.many; k++) T(mr_update_one)(a, u, k, reals);
}
VECTOR_SITE(mr_update)

/* The polynomial step of BiCGStab(l): x += sum_j gamma_j r_(j-1), r_0 -= sum_j gamma_j r_j, u_0 -= sum_j gamma_j u_j
 * over j = 1 ... l, with gamma_j in gamma[j - 1]; then |r_0|^2 and (shadow, r_0). */
FN void T(bicgstab_update_group)(const bicgstab_update_args *a, long u, int group, vexact *sum, int reals)
{
    vreal y[24], r[24], z[24];
    T(load)(y, &a->x, u, group, reals);
    T(load)(r, &a->r[0], u, group, reals);
    T(add_times)(y, a->gamma[0], r, reals);
    for (int j = 1; j <= a->l; j++) {
        T(load)(z, &a->r[j], u, group, reals);
        if (j < a->l) T(add_times)(y, a->gamma[j], z, reals);
        T(subtract_times)(r, a->gamma[j - 1], z, reals);
    }
    T(save)(y, &a->x, u, group, reals);
    T(save)(r, &a->r[0], u, group, reals);
    T(exact_deposit)(&sum[0], T(site_norm2)(r, reals));
    T(load)(z, &a->shadow, u, group, reals);
    T(dot_deposit)(&sum[1], &sum[2], z, r, reals);
    T(load)(y, &a->u[0], u, group, reals);
    for (int j = 1; j <= a->l; j++) {
        T(load)(z, &a->u[j], u, group, reals);
        T(subtract_times)(y, a->gamma[j - 1], z, reals);
    }
    T(save)(y, &a->u[0], u, group, reals);
}

FN void T(bicgstab_update_of)(const bicgstab_update_args *a, long u, vexact *sum, int reals)
{
    for (int k = 0; k < a->count; k++) T(bicgstab_update_group)(a, u, a->first + k, sum, reals);
}
VECTOR_SITE_SUM(bicgstab_update)

/* The updates of conjugate gradients for many shifts, which share r: x_j += alpha_j p_j; p_j = zeta_j r + beta_j p_j. */
FN void T(multishift_update_group)(const multishift_update_args *a, long u, int group, int reals)
{
    vreal r[24], p[24], y[24];
    T(load)(r, &a->r, u, group, reals);
    for (int j = 0; j < a->n; j++) {
        const vreal alpha = vset((real)a->alpha[j]), zeta = vset((real)a->zeta[j]), beta = vset((real)a->beta[j]);
        T(load)(p, &a->p[j], u, group, reals);
        T(load)(y, &a->x[j], u, group, reals);
        UNROLL for (int i = 0; i < reals; i++) y[i] = vfma(alpha, p[i], y[i]);
        T(save)(y, &a->x[j], u, group, reals);
        UNROLL for (int i = 0; i < reals; i++) p[i] = vfma(zeta, r[i], beta * p[i]);
        T(save)(p, &a->p[j], u, group, reals);
    }
}

FN void T(multishift_update_of)(const multishift_update_args *a, long u, int reals)
{
    for (int k = 0; k < a->count; k++) T(multishift_update_group)(a, u, a->first + k, reals);
}
VECTOR_SITE(multishift_update)
