/* Sums and updates block by block (kernels/ops/block.h). Every block has two bounds, the largest |r|^2 of its sites at the
 * start and the largest |q|^2 at the first step, as the bits of a float, which order as it does; and sums of (q, r) and
 * (q, q), integers in units of 2^-shift of a power of two: for (q, q) that at or below the bound of q, or of r where
 * that is larger; for (q, r) the one half way between this and that of r. There is room for |q|^2 of 2^8 times as much
 * on every site of the block. A step of minimal residual: R. Babich et al., arXiv:1109.2935, section 8.1. */

#ifndef PLAQ_BLOCK_SITE_H
#define PLAQ_BLOCK_SITE_H
#ifdef __CUDACC__
/* Most sites are below what others have left there, and need not wait for their turn. */
static __device__ __forceinline__ void block_raise(int32_t *bound, int32_t bits)
{
    if (bits > *(volatile int32_t *)bound) atomicMax(bound, bits);
}
#else
#ifdef _OPENMP
#include <omp.h>
#define BLOCK_THREAD() omp_get_thread_num()
#else
#define BLOCK_THREAD() 0
#endif

static inline __attribute__((always_inline, unused)) void block_raise(int32_t *bound, int32_t bits)
{
    int32_t before = __atomic_load_n(bound, __ATOMIC_RELAXED);
    while (bits > before)
        if (__atomic_compare_exchange_n(bound, &before, bits, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
}

/* Every thread has its own sums. */
static inline __attribute__((always_inline, unused)) void block_add(int64_t *sums, int blocks, int b,
                                                                    const double part[3])
{
    int64_t *mine = sums + 3 * ((long)BLOCK_THREAD() * blocks + b);
    for (int k = 0; k < 3; k++) mine[k] += (int64_t)__builtin_rint(part[k]);
}
#endif
#endif

/* The blocks that the lanes of a unit lie in. */
#if PLAQ_SIMD
FN int T(block_of)(const block_args *a, long u, int lane)
{
    return a->of[u * W + lane];
}
#else
FN int T(block_of)(const block_args *a, long u, int lane)
{
    (void)lane;
    const T(stencil) s = T(stencil_at)(&a->g, a->parity, u);
    int b = 0;
    UNROLL for (int d = 3; d >= 0; d--) b = b * a->count[d] + s.x[d] / a->size[d];
    return b;
}
#endif

FN int T(block_colour)(const block_args *a, int b)
{
    int colour = a->first_colour;
    UNROLL for (int d = 0; d < 4; d++)
    {
        colour += b % a->count[d];
        b /= a->count[d];
    }
    return colour & 1;
}

FN int32_t T(float_bits)(double x)
{
    union {
        float f;
        int32_t i;
    } c;
    c.f = (float)x;
    return c.i;
}

FN double T(power_of_two)(int exponent)
{
    union {
        uint64_t i;
        double d;
    } c;
    c.i = (uint64_t)(1023 + exponent) << 52;
    return c.d;
}

/* The exponent that bounds q: of the first q, or of r where that is more. An r near a low mode has a small q, and what
 * the step leaves of it a larger one. */
FN int T(block_exponent)(const block_args *a, int b)
{
    return (a->bound_q[b] > a->bound[b] ? a->bound_q[b] : a->bound[b]) >> 23;
}

/* What sums of (q, r) and of (q, q) count a number of one as. */
FN void T(block_units)(double unit[2], const block_args *a, int b)
{
    const int r = a->bound[b] >> 23, q = T(block_exponent)(a, b);
    unit[0] = T(power_of_two)(a->shift + 127 - (q + r) / 2);
    unit[1] = T(power_of_two)(a->shift + 127 - q);
}

/* The latter over the former. */
FN double T(block_units_ratio)(const block_args *a, int b)
{
    const int r = a->bound[b] >> 23, q = T(block_exponent)(a, b);
    return T(power_of_two)((q + r) / 2 - q);
}

FN void T(block_bound_site)(const block_args *a, long u)
{
    vreal r[24];
    T(load)(r, &a->r, u, 0, 24);
    const vdouble s = T(site_norm2)(r, 24);
    for (int lane = 0; lane < W; lane++)
        block_raise(&a->bound[T(block_of)(a, u, lane)], T(float_bits)(VDOUBLE_LANE(s, lane)));
}

/* (q, r) and (q, q) of a unit. */
FN void T(block_dots_unit)(vreal *re, vreal *im, vreal *qq, const block_args *a, long u)
{
    vreal r[24], q[24];
    T(load)(r, &a->r, u, 0, 24);
    T(load)(q, &a->q, u, 0, 24);
    *re = *im = *qq = vset(0);
    UNROLL for (int i = 0; i < 24; i += 2)
    {
        *re = vfma(q[i], r[i], *re);
        *re = vfma(q[i + 1], r[i + 1], *re);
        *im = vfma(q[i], r[i + 1], *im);
        *im = vfnma(q[i + 1], r[i], *im);
        *qq = vfma(q[i], q[i], *qq);
        *qq = vfma(q[i + 1], q[i + 1], *qq);
    }
}

#ifndef __CUDACC__
FN void T(block_dots_site)(const block_args *a, long u)
{
    vreal re, im, qq;
    T(block_dots_unit)(&re, &im, &qq, a, u);
    for (int lane = 0; lane < W; lane++) {
        const int b = T(block_of)(a, u, lane);
        double unit[2];
        T(block_units)(unit, a, b);
        const double part[3] = {LANE(re, lane) * unit[0], LANE(im, lane) * unit[0], LANE(qq, lane) * unit[1]};
        block_add(a->sums, a->blocks, b, part);
    }
}
#endif

FN void T(block_update_site)(const block_args *a, long u)
{
    vreal re = vset(0), im = vset(0), x[24], r[24], q[24];
    for (int lane = 0; lane < W; lane++) {
        const int b = T(block_of)(a, u, lane);
        const int64_t *s = a->sums + 3 * (long)b;
        if (s[2] <= 0 || (a->colour >= 0 && T(block_colour)(a, b) != a->colour)) continue;
        const real scale = (real)(a->relaxation * T(block_units_ratio)(a, b));
        LANE(re, lane) = scale * (real)s[0] / (real)s[2];
        LANE(im, lane) = scale * (real)s[1] / (real)s[2];
    }
    T(load)(x, &a->x, u, 0, 24);
    T(load)(r, &a->r, u, 0, 24);
    T(load)(q, &a->q, u, 0, 24);
    UNROLL for (int i = 0; i < 24; i += 2)
    {
        x[i] = vfnma(im, r[i + 1], vfma(re, r[i], x[i]));
        x[i + 1] = vfma(im, r[i], vfma(re, r[i + 1], x[i + 1]));
        r[i] = vfma(im, q[i + 1], vfnma(re, q[i], r[i]));
        r[i + 1] = vfnma(im, q[i], vfnma(re, q[i + 1], r[i + 1]));
    }
    T(save)(x, &a->x, u, 0, 24);
    T(save)(r, &a->r, u, 0, 24);
}
