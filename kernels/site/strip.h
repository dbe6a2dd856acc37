/* Strips: STRIP numbers that stand behind each other in a row, 32 bytes of them, for loops over rows on the CPU whose sums
 * have to stay in registers. Kernels of GPUs give rows to threads instead (kernels/family/coarse.cuh). */
#if defined(__FMA__)
#include <immintrin.h>
#endif

#define STRIP ((int)(32 / sizeof(real)))
typedef real T(strip) __attribute__((vector_size(32)));
typedef real T(strip_anywhere) __attribute__((vector_size(32), aligned(sizeof(real))));

FN T(strip) T(strip_at)(const real *p)
{
    return *(const T(strip_anywhere) *)p;
}

/* Of integers. */
FN T(strip) T(strip_of_fixed)(const int16_t *p)
{
#if defined(__AVX2__) && PLAQ_PREC != 0
    return (T(strip))_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)));
#else
    typedef int16_t numbers __attribute__((vector_size(32 / sizeof(real) * sizeof(int16_t)), aligned(2)));
    typedef int32_t longer __attribute__((vector_size(32 / sizeof(real) * sizeof(int32_t))));
    return __builtin_convertvector(__builtin_convertvector(*(const numbers *)p, longer), T(strip));
#endif
}

FN void T(strip_keep)(real *p, T(strip) x)
{
    *(T(strip_anywhere) *)p = x;
}

FN T(strip) T(strip_of)(real x)
{
    return x - (T(strip)){0};
}

#if defined(__FMA__) && PLAQ_PREC == 0
#define STRIP_FMA(a, b, c) ((T(strip))_mm256_fmadd_pd(a, b, c))
#define STRIP_FNMA(a, b, c) ((T(strip))_mm256_fnmadd_pd(a, b, c))
#elif defined(__FMA__)
#define STRIP_FMA(a, b, c) ((T(strip))_mm256_fmadd_ps(a, b, c))
#define STRIP_FNMA(a, b, c) ((T(strip))_mm256_fnmadd_ps(a, b, c))
#else
FN T(strip) T(strip_fma)(T(strip) a, T(strip) b, T(strip) c)
{
    T(strip) r;
    for (int l = 0; l < STRIP; l++) r[l] = T(real_fma)(a[l], b[l], c[l]);
    return r;
}
#define STRIP_FMA(a, b, c) T(strip_fma)(a, b, c)
#define STRIP_FNMA(a, b, c) T(strip_fma)(-(a), b, c)
#endif

/* (re, im) += (vr, vi) x and conj(vr, vi) x, for a number x whose parts fill strips. */
FN void T(strip_add)(T(strip) * re, T(strip) * im, T(strip) vr, T(strip) vi, T(strip) xr, T(strip) xi)
{
    *re = STRIP_FNMA(vi, xi, STRIP_FMA(vr, xr, *re));
    *im = STRIP_FMA(vi, xr, STRIP_FMA(vr, xi, *im));
}
FN void T(strip_add_conj)(T(strip) * re, T(strip) * im, T(strip) vr, T(strip) vi, T(strip) xr, T(strip) xi)
{
    *re = STRIP_FMA(vi, xi, STRIP_FMA(vr, xr, *re));
    *im = STRIP_FNMA(vi, xr, STRIP_FMA(vr, xi, *im));
}

/* Sums of the 8 numbers of re and of im, each in pairs: number l and l + 4, then + 2, then + 1. */
#define WITH(x, y, ...) __builtin_shuffle(x, y, (T(strip_index))__VA_ARGS__)
#if PLAQ_PREC == 0
typedef int64_t T(strip_index) __attribute__((vector_size(32)));
FN void T(strip_pair_sums)(real out[2], const T(strip) re[2], const T(strip) im[2])
{
    const T(strip) r = re[0] + re[1], i = im[0] + im[1];
    const T(strip) h = WITH(r, i, {0, 1, 4, 5}) + WITH(r, i, {2, 3, 6, 7});
    out[0] = h[0] + h[1];
    out[1] = h[2] + h[3];
}
#else
typedef int32_t T(strip_index) __attribute__((vector_size(32)));
FN void T(strip_pair_sums)(real out[2], const T(strip) re[1], const T(strip) im[1])
{
    const T(strip) r = re[0], i = im[0];
    const T(strip) f = WITH(r, i, {0, 1, 2, 3, 8, 9, 10, 11}) + WITH(r, i, {4, 5, 6, 7, 12, 13, 14, 15});
    const T(strip) h = f + WITH(f, f, {2, 3, 2, 3, 6, 7, 6, 7});
    out[0] = h[0] + h[1];
    out[1] = h[4] + h[5];
}
#endif
#undef WITH
