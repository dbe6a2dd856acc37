/* Numbers of a work item widened to the type of sums (sums.h) once, where many products share them. The products are those of
 * dot_deposit(), to the bit. */
#if PLAQ_PREC >= 2
typedef vreal T(wide);
#define WIDE_OF(x) (x)
#define WIDE_FMA vfma
#define WIDE_FNMA vfnma
#elif PLAQ_SIMD
typedef vdouble T(wide);
FN vdouble T(widened)(vreal x)
{
    vdouble w;
    UNROLL for (int i = 0; i < PARTS; i++) w.part[i] = WIDEN(x, i);
    return w;
}
FN vdouble T(wide_fma)(vdouble x, vdouble y, vdouble s)
{
    UNROLL for (int i = 0; i < PARTS; i++) s.part[i] = PART_FMA(x.part[i], y.part[i], s.part[i]);
    return s;
}
FN vdouble T(wide_fnma)(vdouble x, vdouble y, vdouble s)
{
    UNROLL for (int i = 0; i < PARTS; i++) s.part[i] = PART_FNMA(x.part[i], y.part[i], s.part[i]);
    return s;
}
#define WIDE_OF T(widened)
#define WIDE_FMA T(wide_fma)
#define WIDE_FNMA T(wide_fnma)
#else
/* Widening ahead gains nothing with one lane. */
typedef vreal T(wide);
#define WIDE_OF(x) (x)
#define WIDE_FMA vdouble_fma
#define WIDE_FNMA vdouble_fnma
#endif

/* The components of a group. */
FN void T(load_wide)(T(wide) * w, const view *v, long u, int group, int reals)
{
    vreal x[24];
    T(load)(x, v, u, group, reals);
    UNROLL for (int i = 0; i < reals; i++) w[i] = WIDE_OF(x[i]);
}

/* Adds sum conj(x) y of a work item to the sums of re and im. */
FN void T(wide_dot_deposit)(vexact *re_sum, vexact *im_sum, const T(wide) * x, const T(wide) * y, int reals)
{
    T(site_sum) re = SITE_ZERO, im = SITE_ZERO;
    UNROLL for (int i = 0; i < reals / 2; i++)
    {
        re = WIDE_FMA(x[2 * i], y[2 * i], re);
        re = WIDE_FMA(x[2 * i + 1], y[2 * i + 1], re);
        im = WIDE_FMA(x[2 * i], y[2 * i + 1], im);
        im = WIDE_FNMA(x[2 * i + 1], y[2 * i], im);
    }
    T(exact_deposit)(re_sum, T(widen)(re));
    T(exact_deposit)(im_sum, T(widen)(im));
}
