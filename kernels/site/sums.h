/* Sums over a work item: in double, but in fixed point, whose numbers have 16 bits at most, in single: widening each addend
 * would take longer than reading it. */
#if PLAQ_PREC >= 2
typedef vreal T(site_sum);
#define SITE_FMA vfma
#define SITE_FNMA vfnma
#define SITE_ZERO vset(0)
FN vdouble T(widen)(T(site_sum) s)
{
    return vdouble_fma(s, vset(1), vdouble_zero());
}
#else
typedef vdouble T(site_sum);
#define SITE_FMA vdouble_fma
#define SITE_FNMA vdouble_fnma
#define SITE_ZERO vdouble_zero()
FN vdouble T(widen)(T(site_sum) s)
{
    return s;
}
#endif

FN vdouble T(site_norm2)(const vreal *x, int reals)
{
    T(site_sum) s = SITE_ZERO;
    UNROLL for (int i = 0; i < reals; i++) s = SITE_FMA(x[i], x[i], s);
    return T(widen)(s);
}

FN vdouble T(site_real_dot)(const vreal *x, const vreal *y, int reals)
{
    T(site_sum) s = SITE_ZERO;
    UNROLL for (int i = 0; i < reals; i++) s = SITE_FMA(x[i], y[i], s);
    return T(widen)(s);
}

/* Adds sum conj(x) y of a site to the sums of re and im. */
FN void T(dot_deposit)(vexact *re_sum, vexact *im_sum, const vreal *x, const vreal *y, int reals)
{
    T(site_sum) re = SITE_ZERO, im = SITE_ZERO;
    UNROLL for (int i = 0; i < reals / 2; i++)
    {
        re = SITE_FMA(x[2 * i], y[2 * i], re);
        re = SITE_FMA(x[2 * i + 1], y[2 * i + 1], re);
        im = SITE_FMA(x[2 * i], y[2 * i + 1], im);
        im = SITE_FNMA(x[2 * i + 1], y[2 * i], im);
    }
    T(exact_deposit)(re_sum, T(widen)(re));
    T(exact_deposit)(im_sum, T(widen)(im));
}
