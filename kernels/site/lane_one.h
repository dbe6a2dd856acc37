/* lane.h for one site a work item: nvcc, and gcc's one-lane code that stands in for it. */
#define W 1
typedef real vreal;
typedef double vdouble;

FN vreal vset(real a)
{
    return a;
}

FN vreal vfma(vreal a, vreal b, vreal c)
{
#if PLAQ_PREC == 0
    return fma(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

FN vreal vfnma(vreal a, vreal b, vreal c)
{
    return vfma(-a, b, c);
}

FN vreal vsqrt(vreal a)
{
#if PLAQ_PREC == 0
    return sqrt(a);
#else
    return sqrtf(a);
#endif
}

FN vreal vmax(vreal a, vreal b)
{
    return a > b ? a : b;
}

FN vreal vabs(vreal a)
{
    return a < 0 ? -a : a;
}

FN vreal vinverse_or_zero(vreal a)
{
    return a != 0 ? 1 / a : 0;
}

#define LANE(x, l) (x)

/* ---- storage ---- */

/* start + count * bytes: one operation of a GPU, which would make three of it by itself. */
FN char *T(behind)(const void *start, uint32_t count, uint32_t bytes)
{
#ifdef __CUDA_ARCH__
    char *p;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(p) : "r"(count), "r"(bytes), "l"(start));
    __builtin_assume(__isGlobal(p));
    return p;
#else
    return (char *)start + (uint64_t)count * bytes;
#endif
}

/* Address where unit u has `pack` numbers of `bytes` bytes, in blocks of so many numbers a unit. Units of a rank fit 32 bits,
 * and so do the bytes of a block. */
FN char *T(unit_at)(const void *start, long u, long numbers, int pack, int bytes)
{
    const uint32_t unit = (uint32_t)u;
    const char *block = T(behind)(start, unit / LINEAR_BLOCK, (uint32_t)numbers * (uint32_t)(LINEAR_BLOCK * bytes));
    return T(behind)(block, unit % LINEAR_BLOCK, (uint32_t)(pack * bytes));
}

FN stored *T(at)(const view *v, long u, int group, int n, int c)
{
    const int pack = PACK(n);
    stored *start = (stored *)T(unit_at)(v->data, u, v->stride, pack, (int)sizeof(stored));
    return start + (group * n + c / pack * pack) * LINEAR_BLOCK + c % pack;
}

FN float *T(scale_at)(const view *v, long u, int group)
{
    return (float *)T(unit_at)(v->scale, u, v->scale_groups, 1, (int)sizeof(float)) + group * LINEAR_BLOCK;
}

#ifdef __CUDACC__
#include "kernels/site/storage.cuh"
#else
/* A pack moves as one vector access. */
#define MOVE_PACK(to, from, pack) __builtin_memcpy(to, from, sizeof(stored) * (pack))

FN stored T(encode)(real x, real scale)
{
#if PLAQ_PREC <= 1
    (void)scale;
    return x;
#else
    /* adding 1.5 2^23 rounds to an integer */
    return (stored)((int)(vfma(x, scale, 12582912.0f) - 12582912.0f) + FIXED_OFFSET);
#endif
}

FN real T(decode)(stored x)
{
#if PLAQ_PREC <= 1
    return x;
#else
    return (real)((int)x - FIXED_OFFSET);
#endif
}

FN void T(load_raw)(vreal *x, const view *v, long u, int group, int n)
{
#define LOAD_PACKS(pack)                                                                                               \
    UNROLL for (int c = 0; c < n; c += pack)                                                                           \
    {                                                                                                                  \
        stored word[pack] __attribute__((aligned(sizeof(stored) * pack)));                                             \
        MOVE_PACK(word, T(at)(v, u, group, n, c), pack);                                                               \
        UNROLL for (int i = 0; i < pack; i++) x[c + i] = T(decode)(word[i]);                                           \
    }
    if (PACK(n) == 8) {
        LOAD_PACKS(8)
    } else if (PACK(n) == 4) {
        LOAD_PACKS(4)
    } else if (PACK(n) == 2) {
        LOAD_PACKS(2)
    } else {
        LOAD_PACKS(1)
    }
#undef LOAD_PACKS
}

FN void T(save)(const vreal *x, const view *v, long u, int group, int n)
{
    real scale = 1;
#if PLAQ_PREC >= 2
    scale = FIXED_RANGE;
    if (v->scale) {
        real m = vabs(x[0]);
        UNROLL for (int c = 1; c < n; c++) m = vmax(m, vabs(x[c]));
        *T(scale_at)(v, u, group) = m;
        scale = FIXED_RANGE * vinverse_or_zero(m);
    }
#endif
#define SAVE_PACKS(pack)                                                                                               \
    UNROLL for (int c = 0; c < n; c += pack)                                                                           \
    {                                                                                                                  \
        stored word[pack] __attribute__((aligned(sizeof(stored) * pack)));                                             \
        UNROLL for (int i = 0; i < pack; i++) word[i] = T(encode)(x[c + i], scale);                                    \
        MOVE_PACK(T(at)(v, u, group, n, c), word, pack);                                                               \
    }
    if (PACK(n) == 8) {
        SAVE_PACKS(8)
    } else if (PACK(n) == 4) {
        SAVE_PACKS(4)
    } else if (PACK(n) == 2) {
        SAVE_PACKS(2)
    } else {
        SAVE_PACKS(1)
    }
#undef SAVE_PACKS
}

/* Streaming load of what a kernel reads once: a hint that only nvcc takes. */
FN void T(load_raw_stream)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw)(x, v, u, group, n);
}

/* m components from number `first` on, both even, of a group of 18. */
FN void T(load_raw_part)(vreal *x, const view *v, long u, int group, int first, int m)
{
    UNROLL for (int c = 0; c < m; c += 2)
    {
        const stored *p = T(at)(v, u, group, 18, first + c);
        x[c] = T(decode)(p[0]);
        x[c + 1] = T(decode)(p[1]);
    }
}
#endif

#ifndef ADDS_ENCODED
FN void T(load_encoded)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw)(x, v, u, group, n);
}
#endif

#if PLAQ_PREC >= 2
FN real T(load_scale)(const view *v, long u, int group)
{
    return *T(scale_at)(v, u, group);
}
#endif

/* Scales the stored integers of a group to what they stand for. */
FN void T(scale_raw)(vreal *x, const view *v, long u, int group, int n)
{
#if PLAQ_PREC >= 2
    real scale = 1 / FIXED_RANGE;
    if (v->scale) scale *= T(load_scale)(v, u, group);
    UNROLL for (int c = 0; c < n; c++) x[c] *= scale;
#else
    (void)x, (void)v, (void)u, (void)group, (void)n;
#endif
}

FN void T(load)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw)(x, v, u, group, n);
    T(scale_raw)(x, v, u, group, n);
}

FN void T(load_stream)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw_stream)(x, v, u, group, n);
    T(scale_raw)(x, v, u, group, n);
}

/* Registers of one lane hold whole links, so a hop never loads them by rows. */
#define LOADS_BY_ROW 0

/* Loads and saves in arithmetic precision whatever the storage: ghosts of fixed-point fields are not rounded again. */
FN void T(load_real)(vreal *x, const view *v, long u, int group, int n)
{
    const real *p =
        (const real *)v->data + (u / LINEAR_BLOCK * v->stride + group * n) * LINEAR_BLOCK + u % LINEAR_BLOCK;
    UNROLL for (int c = 0; c < n; c++) x[c] = p[c * LINEAR_BLOCK];
}

FN void T(save_real)(const vreal *x, const view *v, long u, int group, int n)
{
    real *p = (real *)v->data + (u / LINEAR_BLOCK * v->stride + group * n) * LINEAR_BLOCK + u % LINEAR_BLOCK;
    UNROLL for (int c = 0; c < n; c++) p[c * LINEAR_BLOCK] = x[c];
}

FN vreal T(turn)(vreal x, const geom *g, int code)
{
    (void)g;
    (void)code;
    return x;
}

FN vreal T(edge)(const geom *g, int down)
{
    return (real)(down ? g->edge_sign_down : g->edge_sign_up);
}

/* ---- sums ---- */

typedef struct {
    double fold[3], limit;
    int bin, broken, count;
    exact_sum whole;
} vexact;

FN vdouble vdouble_zero(void)
{
    return 0;
}

FN vdouble vdouble_fma(vreal x, vreal y, vdouble s)
{
    return fma((double)x, (double)y, s);
}

FN vdouble vdouble_fnma(vreal x, vreal y, vdouble s)
{
    return fma(-(double)x, (double)y, s);
}

#define VDOUBLE_LANE(d, l) (d)

FN void T(exact_flush)(vexact *s)
{
    exact_sum mine = {s->bin, s->broken, {0, 0, 0}};
    UNROLL for (int i = 0; i < 3; i++)
    {
        mine.fold[i] = (int64_t)(s->fold[i] * exact_unit(1 + i - s->bin)); /* a power of two: exact */
        s->fold[i] = 0;
    }
    exact_merge(&s->whole, &mine);
    s->count = 0;
}

FN int T(exact_make_room)(vexact *s, vdouble x)
{
    T(exact_flush)(s);
    if (!(fabs(x) < exact_limit(EXACT_BIN_MAX))) {
        s->broken = 1;
        return 0;
    }
    s->bin = exact_bin(x);
    s->limit = exact_limit(s->bin);
    return 1;
}

FN void T(exact_deposit)(vexact *s, vdouble x)
{
    /* 2^20 addends of 32 bits fill the 53 bits of a fold. */
    if (s->count++ == 1 << 20) T(exact_flush)(s);
    if (!(fabs(x) < s->limit) && !T(exact_make_room)(s, x)) return;
    UNROLL for (int i = 0; i < 3; i++)
    {
        const double magic = 6755399441055744.0 * exact_unit(s->bin - 1 - i);
        const double t = (x + magic) - magic;
        s->fold[i] += t;
        x -= t;
    }
}

#ifdef __CUDACC__
/* Deposits four addends, side by side where the bin has room for all of them. */
FN void T(exact_deposit_four)(vexact *s, const vdouble x[4])
{
    s->count += 4;
    int fit = s->count <= 1 << 20;
    UNROLL for (int k = 0; k < 4; k++) fit = fit && fabs(x[k]) < s->limit;
    if (!fit) {
        s->count -= 4;
#pragma unroll 1
        for (int k = 0; k < 4; k++) T(exact_deposit)(s, k < 2 ? k ? x[1] : x[0] : k > 2 ? x[3] : x[2]);
        return;
    }
    const double magic[3] = {6755399441055744.0 * exact_unit(s->bin - 1), 6755399441055744.0 * exact_unit(s->bin - 2),
                             6755399441055744.0 * exact_unit(s->bin - 3)};
    double rest[4] = {x[0], x[1], x[2], x[3]};
    UNROLL for (int i = 0; i < 3; i++)
    {
        double t[4];
        UNROLL for (int k = 0; k < 4; k++)
        {
            t[k] = (rest[k] + magic[i]) - magic[i];
            rest[k] -= t[k];
        }
        s->fold[i] += (t[0] + t[1]) + (t[2] + t[3]); /* integers in units of the fold: exact in any order */
    }
}
#endif
