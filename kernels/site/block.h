/* Sums and updates block by block (kernels/ops/block.h), of spinors with any number of slices. Every block has two bounds,
 * the largest |r|^2 of its sites at the start and the largest |q|^2 at the first step, as the bits of a float, which
 * order as it does; and sums of (q, r) and (q, q), integers in units of 2^-shift of a power of two: for (q, q) that at or
 * below the bound of q, or of r where that is larger; for (q, r) the one half way between this and that of r. There is
 * room for |q|^2 of 2^8 times as much on every site of the block. A step of minimal residual: R. Babich et al.,
 * arXiv:1109.2935, section 8.1.
 *
 * Conjugate gradients have bounds of the vectors of each step: of r and p together, whose norms may grow, and of q. */

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

/* Ratio of the units of (q, q) to those of (q, r): of what their sums count a number of one as. */
FN double T(block_units_ratio)(const block_args *a, int b)
{
    const int r = a->bound[b] >> 23, q = T(block_exponent)(a, b);
    return T(power_of_two)((q + r) / 2 - q);
}

/* Raises the bounds of blocks to what their sites have. */
FN void T(block_raise_all)(int32_t *bound, const block_args *a, long u, vdouble s)
{
    for (int lane = 0; lane < W; lane++)
        block_raise(&bound[T(block_of)(a, u, lane)], T(float_bits)(VDOUBLE_LANE(s, lane)));
}

FN void T(block_bound_site)(const block_args *a, long u)
{
    for (int g = 0; g < a->r.groups; g++) {
        vreal r[24];
        T(load)(r, &a->r, u, g, 24);
        T(block_raise_all)(a->bound, a, u, T(site_norm2)(r, 24));
    }
}

/* (q, r), in two numbers, and (q, q) of a unit. */
FN void T(block_dots_unit)(vreal sum[3], const block_args *a, long u)
{
    sum[0] = sum[1] = sum[2] = vset(0);
    for (int g = 0; g < a->r.groups; g++) {
        vreal r[24], q[24];
        T(load)(r, &a->r, u, g, 24);
        T(load)(q, &a->q, u, g, 24);
        UNROLL for (int i = 0; i < 24; i += 2)
        {
            sum[0] = vfma(q[i], r[i], sum[0]);
            sum[0] = vfma(q[i + 1], r[i + 1], sum[0]);
            sum[1] = vfma(q[i], r[i + 1], sum[1]);
            sum[1] = vfnma(q[i + 1], r[i], sum[1]);
            sum[2] = vfma(q[i], q[i], sum[2]);
            sum[2] = vfma(q[i + 1], q[i + 1], sum[2]);
        }
    }
}

/* Units of the three sums: what they count a number of one as. */
FN void T(block_dots_units)(double unit[3], const block_args *a, int b)
{
    const int r = a->bound[b] >> 23, q = T(block_exponent)(a, b);
    unit[0] = unit[1] = T(power_of_two)(a->shift + 127 - (q + r) / 2);
    unit[2] = T(power_of_two)(a->shift + 127 - q);
}

/* (p, q), (q, q) and (r, r) of a unit. */
FN void T(block_cg_dots_unit)(vreal sum[3], const block_args *a, long u)
{
    sum[0] = sum[1] = sum[2] = vset(0);
    for (int g = 0; g < a->r.groups; g++) {
        vreal p[24], r[24], q[24];
        T(load)(p, &a->p, u, g, 24);
        T(load)(r, &a->r, u, g, 24);
        T(load)(q, &a->q, u, g, 24);
        UNROLL for (int i = 0; i < 24; i++)
        {
            sum[0] = vfma(p[i], q[i], sum[0]);
            sum[1] = vfma(q[i], q[i], sum[1]);
            sum[2] = vfma(r[i], r[i], sum[2]);
        }
    }
}

/* Exponents of the units of the three sums. */
FN void T(block_cg_exponents)(int unit[3], const block_args *a, int b)
{
    const int r = a->bound[b] >> 23, q = a->bound_q[b] >> 23;
    unit[0] = a->shift + 127 - (q + r) / 2;
    unit[1] = a->shift + 127 - q;
    unit[2] = a->shift + 127 - r;
}

FN void T(block_cg_dots_units)(double unit[3], const block_args *a, int b)
{
    int e[3];
    T(block_cg_exponents)(e, a, b);
    UNROLL for (int k = 0; k < 3; k++) unit[k] = T(power_of_two)(e[k]);
}

#ifndef __CUDACC__
/* A kernel of three sums a block. */
#define BLOCK_SUMS_SITE(name)                                                                                          \
    FN void T(name##_site)(const name##_args *a, long u)                                                               \
    {                                                                                                                  \
        vreal sum[3];                                                                                                  \
        T(name##_unit)(sum, a, u);                                                                                     \
        for (int lane = 0; lane < W; lane++) {                                                                         \
            const int b = T(block_of)(a, u, lane);                                                                     \
            double unit[3], part[3];                                                                                   \
            T(name##_units)(unit, a, b);                                                                               \
            for (int k = 0; k < 3; k++) part[k] = LANE(sum[k], lane) * unit[k];                                        \
            block_add(a->sums, a->blocks, b, part);                                                                    \
        }                                                                                                              \
    }
BLOCK_SUMS_SITE(block_dots)
BLOCK_SUMS_SITE(block_cg_dots)
#endif

FN void T(block_update_site)(const block_args *a, long u)
{
    vreal re = vset(0), im = vset(0);
    for (int lane = 0; lane < W; lane++) {
        const int b = T(block_of)(a, u, lane);
        const int64_t *s = a->sums + 3 * (long)b;
        if (s[2] <= 0 || (a->colour >= 0 && T(block_colour)(a, b) != a->colour)) continue;
        const real scale = (real)(a->relaxation * T(block_units_ratio)(a, b));
        LANE(re, lane) = scale * (real)s[0] / (real)s[2];
        LANE(im, lane) = scale * (real)s[1] / (real)s[2];
    }
    for (int g = 0; g < a->r.groups; g++) {
        vreal x[24], r[24], q[24];
        T(load)(x, &a->x, u, g, 24);
        T(load)(r, &a->r, u, g, 24);
        T(load)(q, &a->q, u, g, 24);
        UNROLL for (int i = 0; i < 24; i += 2)
        {
            x[i] = vfnma(im, r[i + 1], vfma(re, r[i], x[i]));
            x[i + 1] = vfma(im, r[i], vfma(re, r[i + 1], x[i + 1]));
            r[i] = vfma(im, q[i + 1], vfnma(re, q[i], r[i]));
            r[i + 1] = vfnma(im, q[i], vfnma(re, q[i + 1], r[i + 1]));
        }
        T(save)(x, &a->x, u, g, 24);
        T(save)(r, &a->r, u, g, 24);
    }
}

/* alpha = (r, r) / (p, q) of a block, and beta = |r - alpha q|^2 / |r|^2 with (r, q) = (p, q): that of the next r is
 * known before it is there. Where there is no step both are zero. */
FN void T(block_cg_coefficients)(double *alpha, double *beta, const block_args *a, int b)
{
    const int64_t *s = a->sums + 3 * (long)b;
    int e[3];
    *alpha = *beta = 0;
    if (s[0] <= 0 || s[2] <= 0) return;
    T(block_cg_exponents)(e, a, b);
    *alpha = (double)s[2] / (double)s[0] * T(power_of_two)(e[0] - e[2]);
    *beta = *alpha * ((double)s[1] / (double)s[0] * T(power_of_two)(e[0] - e[1])) - 1;
    if (*beta < 0) *beta = 0;
}

/* x += alpha p; r -= alpha q; p = r + beta p, and the bounds of the new r and p. */
FN void T(block_cg_update_site)(const block_args *a, long u)
{
    vreal alpha = vset(0), beta = vset(0);
    for (int lane = 0; lane < W; lane++) {
        double step, turn;
        T(block_cg_coefficients)(&step, &turn, a, T(block_of)(a, u, lane));
        LANE(alpha, lane) = (real)step;
        LANE(beta, lane) = (real)turn;
    }
    for (int g = 0; g < a->r.groups; g++) {
        vreal x[24], r[24], q[24], p[24];
        T(load)(x, &a->x, u, g, 24);
        T(load)(r, &a->r, u, g, 24);
        T(load)(q, &a->q, u, g, 24);
        T(load)(p, &a->p, u, g, 24);
        UNROLL for (int i = 0; i < 24; i++)
        {
            x[i] = vfma(alpha, p[i], x[i]);
            r[i] = vfnma(alpha, q[i], r[i]);
            p[i] = vfma(beta, p[i], r[i]);
        }
        T(save)(x, &a->x, u, g, 24);
        T(save)(r, &a->r, u, g, 24);
        T(save)(p, &a->p, u, g, 24);
        T(block_raise_all)(a->bound_next, a, u, T(site_norm2)(r, 24));
        T(block_raise_all)(a->bound_next, a, u, T(site_norm2)(p, 24));
    }
}
