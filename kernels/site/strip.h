/* Strips: STRIP numbers that stand behind each other in a row, as many as a register holds, for loops over rows on the CPU
 * whose sums have to stay in registers. Kernels of GPUs give rows to threads instead (kernels/family/coarse.cuh). */
#if defined(__AVX__)
#include <immintrin.h>
#define STRIP_BYTES 32
#else
#define STRIP_BYTES 16
#endif

#define STRIP ((int)(STRIP_BYTES / sizeof(real)))
typedef real T(strip) __attribute__((vector_size(STRIP_BYTES)));
typedef real T(strip_anywhere) __attribute__((vector_size(STRIP_BYTES), aligned(sizeof(real)), may_alias));

FN T(strip) T(strip_at)(const real *p)
{
    return *(const T(strip_anywhere) *)p;
}

/* Strip of integers. */
FN T(strip) T(strip_of_fixed)(const int16_t *p)
{
#if defined(__AVX2__) && PLAQ_PREC != 0
    return (T(strip))_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)));
#else
    typedef int16_t numbers
        __attribute__((vector_size(STRIP_BYTES / sizeof(real) * sizeof(int16_t)), aligned(2), may_alias));
    typedef int32_t longer __attribute__((vector_size(STRIP_BYTES / sizeof(real) * sizeof(int32_t))));
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

/* Sums of the 8 numbers in strips re and in im, each in pairs: number l and l + 4, then + 2, then + 1. */
#if !defined(__AVX__)
FN void T(strip_pair_sums)(real out[2], const T(strip) * re, const T(strip) * im)
{
    real r[8], i[8];
    UNROLL for (int l = 0; l < 8; l++)
    {
        r[l] = re[l / STRIP][l % STRIP];
        i[l] = im[l / STRIP][l % STRIP];
    }
    UNROLL for (int step = 4; step > 0; step /= 2) UNROLL for (int l = 0; l < step; l++)
    {
        r[l] += r[l + step];
        i[l] += i[l + step];
    }
    out[0] = r[0];
    out[1] = i[0];
}
#elif PLAQ_PREC == 0
FN void T(strip_pair_sums)(real out[2], const T(strip) * re, const T(strip) * im)
{
    typedef int64_t index __attribute__((vector_size(32)));
    const T(strip) r = re[0] + re[1], i = im[0] + im[1];
    const T(strip) h = __builtin_shuffle(r, i, (index){0, 1, 4, 5}) + __builtin_shuffle(r, i, (index){2, 3, 6, 7});
    out[0] = h[0] + h[1];
    out[1] = h[2] + h[3];
}
#else
FN void T(strip_pair_sums)(real out[2], const T(strip) * re, const T(strip) * im)
{
    typedef int32_t index __attribute__((vector_size(32)));
    const T(strip) f = __builtin_shuffle(*re, *im, (index){0, 1, 2, 3, 8, 9, 10, 11}) +
                       __builtin_shuffle(*re, *im, (index){4, 5, 6, 7, 12, 13, 14, 15});
    const T(strip) h = f + __builtin_shuffle(f, (index){2, 3, 2, 3, 6, 7, 6, 7});
    out[0] = h[0] + h[1];
    out[1] = h[4] + h[5];
}
#endif
