#include "kernels/cpu/limits.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/base/error.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Pass length: so short that other programs leave some passes undisturbed. */
#define PASS_SECONDS 2e-3

/* ---- bandwidth ---- */

#define VECTOR 8 /* doubles, a cache line */
typedef double line __attribute__((vector_size(VECTOR * sizeof(double))));

typedef struct {
    line *a, *b, *c;
    long n; /* lines of each */
} stream;

#if defined(__AVX512F__)
#define STORE_STREAMING(p, x) _mm512_stream_pd((double *)(p), (__m512d)(x))
#elif defined(__AVX__)
#define STORE_STREAMING(p, x)                                                                                          \
    do {                                                                                                               \
        const line streamed = (x);                                                                                     \
        _mm256_stream_pd((double *)(p), *(const __m256d *)&streamed);                                                  \
        _mm256_stream_pd((double *)(p) + 4, *((const __m256d *)&streamed + 1));                                        \
    } while (0)
#else
#define STORE_STREAMING(p, x) (*(p) = (x))
#endif

/* Threads keep their parts from pass to pass, and do not wait for each other in between. */
static void passes(const stream *s, int triad, int streaming, long repeat)
{
#pragma omp parallel
    for (long r = 0; r < repeat; r++) {
        if (triad && streaming) {
#pragma omp for schedule(static) nowait
            for (long i = 0; i < s->n; i++) STORE_STREAMING(&s->a[i], s->b[i] + 0.5 * s->c[i]);
        } else if (triad) {
#pragma omp for schedule(static) nowait
            for (long i = 0; i < s->n; i++) s->a[i] = s->b[i] + 0.5 * s->c[i];
        } else if (streaming) {
#pragma omp for schedule(static) nowait
            for (long i = 0; i < s->n; i++) STORE_STREAMING(&s->a[i], s->b[i]);
        } else {
#pragma omp for schedule(static) nowait
            for (long i = 0; i < s->n; i++) s->a[i] = s->b[i];
        }
        /* The compiler may not merge passes. */
        __asm__ volatile("" ::: "memory");
    }
}

static double stream_rate(const stream *s, int triad, int streaming, double seconds)
{
    const double bytes = (double)s->n * sizeof(line) * (triad ? 3 : 2);
    long repeat = 1;
    double best = 0, spent = 0;
    while (spent < seconds) {
        const double start = now();
        passes(s, triad, streaming, repeat);
        const double took = now() - start;
        spent += took;
        if (took > 0) best = fmax(best, bytes * (double)repeat / took);
        if (took < PASS_SECONDS) repeat *= 2;
    }
    return best;
}

static line *touched(long n)
{
    line *p = aligned_alloc(64, (size_t)n * sizeof *p);
    REQUIRE_MEMORY(p, "out of memory for %ld lines", n);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) p[i] = (line){1, 1, 1, 1, 1, 1, 1, 1};
    return p;
}

double limits_bandwidth(size_t bytes, double seconds)
{
    double best = 0;
    for (int triad = 0; triad < 2; triad++) {
        long n = (long)(bytes / sizeof(line) / (triad ? 3 : 2));
        if (n < 16) n = 16;
        stream s = {touched(n), touched(n), triad ? touched(n) : NULL, n};
        for (int streaming = 0; streaming < 2; streaming++)
            best = fmax(best, stream_rate(&s, triad, streaming, seconds / 4));
        free(s.a);
        free(s.b);
        free(s.c);
    }
    return best;
}

/* ---- arithmetic ---- */

#define CHAINS 10 /* independent sums: enough to hide the latency of two pipes, few enough for 16 registers */

#if defined(__AVX512F__)
#define FMA_DOUBLE(a, b, c) ((vdouble)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define FMA_SINGLE(a, b, c) ((vsingle)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#elif defined(__FMA__)
#define FMA_DOUBLE(a, b, c) ((vdouble)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define FMA_SINGLE(a, b, c) ((vsingle)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#else
#define FMA_DOUBLE(a, b, c) ((a) * (b) + (c))
#define FMA_SINGLE(a, b, c) ((a) * (b) + (c))
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef double vdouble __attribute__((vector_size(VECTOR_BYTES)));
typedef float vsingle __attribute__((vector_size(VECTOR_BYTES)));

static void chains_double(long n, double x)
{
    vdouble s[CHAINS];
    const vdouble f = x - (vdouble){0};
    for (int k = 0; k < CHAINS; k++) s[k] = f * (1 + k);
    for (long i = 0; i < n; i++)
#pragma GCC unroll 16
        for (int k = 0; k < CHAINS; k++) s[k] = FMA_DOUBLE(s[k], f, f);
    for (int k = 0; k < CHAINS; k++) __asm__ volatile("" ::"m"(s[k]));
}

static void chains_single(long n, float x)
{
    vsingle s[CHAINS];
    const vsingle f = x - (vsingle){0};
    for (int k = 0; k < CHAINS; k++) s[k] = f * (float)(1 + k);
    for (long i = 0; i < n; i++)
#pragma GCC unroll 16
        for (int k = 0; k < CHAINS; k++) s[k] = FMA_SINGLE(s[k], f, f);
    for (int k = 0; k < CHAINS; k++) __asm__ volatile("" ::"m"(s[k]));
}

static double flops(int single, double seconds)
{
    double best = 0, spent = 0;
    long n = 1000;
    while (spent < seconds) {
        int threads = 1;
        const double start = now();
#pragma omp parallel
        {
#ifdef _OPENMP
#pragma omp single nowait
            threads = omp_get_num_threads();
#endif
            if (single) chains_single(n, 0.5f);
            else chains_double(n, 0.5);
        }
        const double took = now() - start;
        const double lanes = VECTOR_BYTES / (single ? sizeof(float) : sizeof(double));
        spent += took;
        if (took > 0) best = fmax(best, 2.0 * CHAINS * lanes * (double)n * threads / took);
        if (took < PASS_SECONDS) n *= 2;
    }
    return best;
}

double limits_flops_double(double seconds)
{
    return flops(0, seconds);
}

double limits_flops_single(double seconds)
{
    return flops(1, seconds);
}
