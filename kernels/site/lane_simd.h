/* lane.h for gcc with several sites a work item. */
#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

#define W (LANES_FULL / PLAQ_SIMD)
typedef real vreal __attribute__((vector_size(W * sizeof(real))));
/* W doubles, in the longest vectors that there are. */
#if W < LANES_DOUBLE
#define PART W
#else
#define PART LANES_DOUBLE
#endif
typedef double vpart __attribute__((vector_size(PART * sizeof(double))));
#define PARTS (W / PART)
typedef struct {
    vpart part[PARTS];
} vdouble;
#if PLAQ_PREC == 0
typedef int64_t vindex __attribute__((vector_size(W * sizeof(int64_t))));
#define TURN_TABLE(g) ((const vindex *)(g)->turn64)
#define EDGE_TABLE(g) ((const vreal *)(g)->edge_double)
#else
typedef int32_t vindex __attribute__((vector_size(W * sizeof(int32_t))));
#define TURN_TABLE(g) ((const vindex *)(g)->turn32)
#define EDGE_TABLE(g) ((const vreal *)(g)->edge_single)
#endif

FN vreal vset(real a)
{
    return a - (vreal){0};
}

/* Instructions for vectors of so many bytes. */
#if defined(__AVX512F__) && W * REAL_BYTES == 64
#define BY_WIDTH(name) PASTE(_mm512_, name)
#elif defined(__FMA__) && W * REAL_BYTES == 32
#define BY_WIDTH(name) PASTE(_mm256_, name)
#elif defined(__FMA__) && W * REAL_BYTES == 16
#define BY_WIDTH(name) PASTE(_mm_, name)
#endif
#if defined(BY_WIDTH) && PLAQ_PREC == 0
#define vfma(a, b, c) ((vreal)BY_WIDTH(fmadd_pd)((a), (b), (c)))
#define vfnma(a, b, c) ((vreal)BY_WIDTH(fnmadd_pd)((a), (b), (c)))
#elif defined(BY_WIDTH)
#define vfma(a, b, c) ((vreal)BY_WIDTH(fmadd_ps)((a), (b), (c)))
#define vfnma(a, b, c) ((vreal)BY_WIDTH(fnmadd_ps)((a), (b), (c)))
#else
FN vreal vfma(vreal a, vreal b, vreal c)
{
    vreal r;
    for (int l = 0; l < W; l++)
        r[l] = sizeof(real) == 8 ? (real)__builtin_fma(a[l], b[l], c[l])
                                 : (real)__builtin_fmaf((float)a[l], (float)b[l], (float)c[l]);
    return r;
}
#define vfnma(a, b, c) vfma(-(a), (b), (c))
#endif

FN vreal vsqrt(vreal a)
{
    vreal r = a;
    for (int l = 0; l < W; l++)
        r[l] = sizeof(real) == 8 ? (real)__builtin_sqrt(a[l]) : (real)__builtin_sqrtf((float)a[l]);
    return r;
}

/* Lane by lane: a where the comparison mask is set, else b. */
FN vreal vselect(vindex mask, vreal a, vreal b)
{
    return (vreal)((mask & (vindex)a) | (~mask & (vindex)b));
}

FN vreal vmax(vreal a, vreal b)
{
    return vselect(a > b, a, b);
}

FN vreal vabs(vreal a)
{
    return vselect(a < 0, -a, a);
}

/* 1 / a where a is not zero, else 0. */
FN vreal vinverse_or_zero(vreal a)
{
    const vreal one = vset(1);
    return vselect(a != 0, one / vselect(a != 0, a, one), vset(0));
}

#define LANE(x, l) ((x)[l])

/* ---- storage ---- */

#if PLAQ_PREC <= 1
FN void T(load)(vreal *x, const view *v, long u, int group, int n)
{
    const vreal *p = (const vreal *)v->data + u * v->stride + group * v->group_stride;
    UNROLL for (int c = 0; c < n; c++) x[c] = p[c];
}

FN void T(save)(const vreal *x, const view *v, long u, int group, int n)
{
    vreal *p = (vreal *)v->data + u * v->stride + group * v->group_stride;
    UNROLL for (int c = 0; c < n; c++) p[c] = x[c];
}
#else
typedef stored vstored __attribute__((vector_size(W * sizeof(stored))));
typedef int32_t vint __attribute__((vector_size(W * sizeof(int32_t))));

FN void T(load)(vreal *x, const view *v, long u, int group, int n)
{
    const vstored *p = (const vstored *)v->data + u * v->stride + group * v->group_stride;
    vreal s = vset(1 / FIXED_RANGE);
    if (v->scale) s *= ((const vreal *)v->scale)[u * v->scale_groups + group];
    UNROLL for (int c = 0; c < n; c++) x[c] = __builtin_convertvector(__builtin_convertvector(p[c], vint), vreal) * s;
}

FN void T(save)(const vreal *x, const view *v, long u, int group, int n)
{
    vstored *p = (vstored *)v->data + u * v->stride + group * v->group_stride;
    const vreal magic = vset(12582912.0f); /* 1.5 2^23: adding it rounds to an integer */
    vreal s = vset(FIXED_RANGE);
    if (v->scale) {
        vreal m = vabs(x[0]);
        UNROLL for (int c = 1; c < n; c++) m = vmax(m, vabs(x[c]));
        ((vreal *)v->scale)[u * v->scale_groups + group] = m;
        s = FIXED_RANGE * vinverse_or_zero(m);
    }
    UNROLL for (int c = 0; c < n; c++)
    {
        const vreal r = vfma(x[c], s, magic) - magic;
        p[c] = __builtin_convertvector(__builtin_convertvector(r, vint), vstored);
    }
}
#endif

#if PLAQ_PREC <= 1
typedef vreal T(stored_vector);
#else
typedef vstored T(stored_vector);
#endif
/* Asks the second cache for n components that a later unit will load. A hop walks along more streams than the hardware
 * foresees; links of the next unit are in time. */
#define UNITS_AHEAD 1
FN void T(fetch)(const view *v, long u, int group, int n)
{
    const char *p = (const char *)((const T(stored_vector) *)v->data + u * v->stride + group * v->group_stride);
    UNROLL for (int i = 0; i < n * (int)sizeof(T(stored_vector)); i += 64) __builtin_prefetch(p + i, 0, 2);
}

/* A save past the caches, where storage type and instruction set allow, of vectors that are lines of these. */
FN void T(save_stream)(const vreal *x, const view *v, long u, int group, int n)
{
#if defined(__AVX512F__) && PLAQ_PREC <= 1 && PLAQ_SIMD == 1
    vreal *p = (vreal *)v->data + u * v->stride + group * v->group_stride;
    UNROLL for (int c = 0; c < n; c++) _mm512_stream_si512((__m512i *)(p + c), (__m512i)x[c]);
#else
    T(save)(x, v, u, group, n);
#endif
}

/* m components from number `first` on of a group; in fixed point the integers that are stored. */
#define LOADS_BY_ROW 1
FN void T(load_raw_part)(vreal *x, const view *v, long u, int group, int first, int m)
{
#if PLAQ_PREC <= 1
    const vreal *p = (const vreal *)v->data + u * v->stride + group * v->group_stride + first;
    UNROLL for (int c = 0; c < m; c++) x[c] = p[c];
#else
    const vstored *p = (const vstored *)v->data + u * v->stride + group * v->group_stride + first;
    UNROLL for (int c = 0; c < m; c++) x[c] = __builtin_convertvector(__builtin_convertvector(p[c], vint), vreal);
#endif
}

FN void T(load_raw)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw_part)(x, v, u, group, 0, n);
}

FN void T(load_encoded)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw_part)(x, v, u, group, 0, n);
}

FN void T(load_raw_stream)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_raw_part)(x, v, u, group, 0, n);
}

#if PLAQ_PREC >= 2
FN vreal T(load_scale)(const view *v, long u, int group)
{
    return ((const vreal *)v->scale)[u * v->scale_groups + group];
}
#endif

/* Streaming load of what a kernel reads once: a hint that only nvcc takes. */
FN void T(load_stream)(vreal *x, const view *v, long u, int group, int n)
{
    T(load)(x, v, u, group, n);
}

/* Loads and saves in arithmetic precision whatever the storage: ghosts of fixed-point fields are not rounded again. */
FN void T(load_real)(vreal *x, const view *v, long u, int group, int n)
{
    const vreal *p = (const vreal *)v->data + u * v->stride + group * v->group_stride;
    UNROLL for (int c = 0; c < n; c++) x[c] = p[c];
}

FN void T(save_real)(const vreal *x, const view *v, long u, int group, int n)
{
    vreal *p = (vreal *)v->data + u * v->stride + group * v->group_stride;
    UNROLL for (int c = 0; c < n; c++) p[c] = x[c];
}

FN vreal T(turn)(vreal x, const geom *g, int code)
{
    return __builtin_shuffle(x, TURN_TABLE(g)[code]);
}

FN vreal T(edge)(const geom *g, int down)
{
    return EDGE_TABLE(g)[down];
}

/* ---- sums ---- */

typedef struct {
    vdouble fold[3];
    double limit;
    int bin, broken, count;
    exact_sum whole;
} vexact;

FN vdouble vdouble_zero(void)
{
    vdouble z;
    for (int i = 0; i < PARTS; i++) z.part[i] = (vpart){0};
    return z;
}

#if PARTS == 1
#define WIDEN(x, i) __builtin_convertvector(x, vpart)
#elif defined(__AVX512F__)
#define WIDEN(x, i)                                                                                                    \
    ((vpart)_mm512_cvtps_pd(                                                                                           \
        _mm512_castps512_ps256((i) ? _mm512_shuffle_f32x4((__m512)(x), (__m512)(x), 0xEE) : (__m512)(x))))
#else
FN vpart widen_part(vreal x, int i)
{
    vpart r;
    for (int l = 0; l < PART; l++) r[l] = (double)x[i * PART + l];
    return r;
}
#define WIDEN(x, i) widen_part(x, i)
#endif

#if defined(__AVX512F__) && PART == 8
#define PART_FMA(a, b, c) ((vpart)_mm512_fmadd_pd((a), (b), (c)))
#define PART_FNMA(a, b, c) ((vpart)_mm512_fnmadd_pd((a), (b), (c)))
#elif defined(__FMA__) && PART == 4
#define PART_FMA(a, b, c) ((vpart)_mm256_fmadd_pd((a), (b), (c)))
#define PART_FNMA(a, b, c) ((vpart)_mm256_fnmadd_pd((a), (b), (c)))
#elif defined(__FMA__) && PART == 2
#define PART_FMA(a, b, c) ((vpart)_mm_fmadd_pd((a), (b), (c)))
#define PART_FNMA(a, b, c) ((vpart)_mm_fnmadd_pd((a), (b), (c)))
#else
FN vpart part_fma(vpart a, vpart b, vpart c)
{
    vpart r;
    for (int l = 0; l < PART; l++) r[l] = __builtin_fma(a[l], b[l], c[l]);
    return r;
}
#define PART_FMA(a, b, c) part_fma(a, b, c)
#define PART_FNMA(a, b, c) part_fma(-(a), b, c)
#endif

/* s + x y and s - x y in double. */
FN vdouble vdouble_fma(vreal x, vreal y, vdouble s)
{
    UNROLL for (int i = 0; i < PARTS; i++) s.part[i] = PART_FMA(WIDEN(x, i), WIDEN(y, i), s.part[i]);
    return s;
}

FN vdouble vdouble_fnma(vreal x, vreal y, vdouble s)
{
    UNROLL for (int i = 0; i < PARTS; i++) s.part[i] = PART_FNMA(WIDEN(x, i), WIDEN(y, i), s.part[i]);
    return s;
}

#define VDOUBLE_LANE(d, l) ((d).part[(l) / PART][(l) % PART])

FN void T(exact_flush)(vexact *s)
{
    if (s->count == 0) return;
    for (int l = 0; l < W; l++) {
        exact_sum lane = {s->bin, s->broken, {0, 0, 0}};
        for (int i = 0; i < 3; i++) lane.fold[i] = (int64_t)(VDOUBLE_LANE(s->fold[i], l) / exact_unit(s->bin - 1 - i));
        exact_merge(&s->whole, &lane);
    }
    for (int i = 0; i < 3; i++) s->fold[i] = vdouble_zero();
    s->count = 0;
}

static __attribute__((noinline, unused)) int T(exact_make_room)(vexact *s, vdouble x)
{
    T(exact_flush)(s);
    for (int l = 0; l < W; l++) {
        const double a = __builtin_fabs(VDOUBLE_LANE(x, l));
        if (!(a < exact_limit(EXACT_BIN_MAX))) {
            s->broken = 1;
            return 0;
        }
        const int bin = exact_bin(a);
        if (bin > s->bin) s->bin = bin;
    }
    s->limit = exact_limit(s->bin);
    return 1;
}

FN int vdouble_within(vdouble x, double limit)
{
    int ok = 1;
    UNROLL for (int i = 0; i < PARTS; i++)
    {
#if defined(__AVX512F__) && PART == 8
        ok &= _mm512_cmp_pd_mask(_mm512_abs_pd(x.part[i]), _mm512_set1_pd(limit), _CMP_LT_OQ) == 0xFF;
#else
        for (int l = 0; l < PART; l++) ok &= __builtin_fabs(x.part[i][l]) < limit;
#endif
    }
    return ok;
}

FN void T(exact_deposit)(vexact *s, vdouble x)
{
    /* 2^20 addends of 32 bits fill the 53 bits of a fold. */
    if (s->count == 1 << 20) T(exact_flush)(s);
    if (!vdouble_within(x, s->limit) && !T(exact_make_room)(s, x)) return;
    s->count++;
    UNROLL for (int i = 0; i < 3; i++)
    {
        const double magic = 6755399441055744.0 * exact_unit(s->bin - 1 - i);
        UNROLL for (int h = 0; h < PARTS; h++)
        {
            const vpart t = (x.part[h] + magic) - magic;
            s->fold[i].part[h] += t;
            x.part[h] -= t;
        }
    }
}
