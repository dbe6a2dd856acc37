/* Fused vector algebra on spinors: one pass over memory a step. Sums are exact (lane.h), one a right-hand side; kernels
 * that sum take the right-hand side as an argument and leave the others alone, the rest do all of them.
 * Outputs may alias inputs wherever the formula reads an element before it writes it. */

/* y = a x + b y */
FN void T(axpby_site)(const axpby_args *a, long u)
{
    const vreal fa = vset((real)a->a), fb = vset((real)a->b);
    for (int r = 0; r < a->x.groups; r++) {
        vreal x[24], y[24];
        T(load)(x, &a->x, u, r, 24);
        if (a->b != 0) {
            T(load)(y, &a->y, u, r, 24);
            UNROLL for (int i = 0; i < 24; i++) y[i] = vfma(fa, x[i], fb * y[i]);
        } else {
            UNROLL for (int i = 0; i < 24; i++) y[i] = fa * x[i];
        }
        T(save)(y, &a->y, u, r, 24);
    }
}

FN vdouble T(site_norm2)(const vreal x[24])
{
    vdouble s = vdouble_zero();
    UNROLL for (int i = 0; i < 24; i++) s = vdouble_fma(x[i], x[i], s);
    return s;
}

/* |x|^2 */
FN void T(norm2_site)(const norm2_args *a, long u, vexact *sum)
{
    vreal x[24];
    T(load)(x, &a->x, u, a->rhs, 24);
    T(exact_deposit)(&sum[0], T(site_norm2)(x));
}

/* (x, y) = sum conj(x) y: re, im */
FN void T(dot_site)(const dot_args *a, long u, vexact *sum)
{
    vreal x[24], y[24];
    T(load)(x, &a->x, u, a->rhs, 24);
    T(load)(y, &a->y, u, a->rhs, 24);
    vdouble re = vdouble_zero(), im = vdouble_zero();
    UNROLL for (int i = 0; i < 12; i++)
    {
        re = vdouble_fma(x[2 * i], y[2 * i], re);
        re = vdouble_fma(x[2 * i + 1], y[2 * i + 1], re);
        im = vdouble_fma(x[2 * i], y[2 * i + 1], im);
        im = vdouble_fnma(x[2 * i + 1], y[2 * i], im);
    }
    T(exact_deposit)(&sum[0], re);
    T(exact_deposit)(&sum[1], im);
}

/* y += a x, then |y|^2 */
FN void T(axpy_norm2_site)(const axpy_norm2_args *a, long u, vexact *sum)
{
    const vreal fa = vset((real)a->a);
    vreal x[24], y[24];
    T(load)(x, &a->x, u, a->rhs, 24);
    T(load)(y, &a->y, u, a->rhs, 24);
    UNROLL for (int i = 0; i < 24; i++) y[i] = vfma(fa, x[i], y[i]);
    T(save)(y, &a->y, u, a->rhs, 24);
    T(exact_deposit)(&sum[0], T(site_norm2)(y));
}

/* The two updates of conjugate gradients that share p: x += a p, p = r + b p. */
FN void T(cg_update_site)(const cg_update_args *a, long u)
{
    const vreal fa = vset((real)a->a), fb = vset((real)a->b);
    for (int k = 0; k < a->p.groups; k++) {
        vreal p[24], y[24];
        T(load)(p, &a->p, u, k, 24);
        T(load)(y, &a->x, u, k, 24);
        UNROLL for (int i = 0; i < 24; i++) y[i] = vfma(fa, p[i], y[i]);
        T(save)(y, &a->x, u, k, 24);
        T(load)(y, &a->r, u, k, 24);
        UNROLL for (int i = 0; i < 24; i++) p[i] = vfma(fb, p[i], y[i]);
        T(save)(p, &a->p, u, k, 24);
    }
}
