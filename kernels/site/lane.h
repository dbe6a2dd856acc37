/* Lanes, in the one header that knows which compiler reads: gcc with vector extensions (several sites a work item), gcc with
 * one lane, or nvcc (one site a thread).
 *
 * Before including, define PLAQ_PREC (0 double, 1 single, 2 half, 3 quarter) and PLAQ_SIMD (1: virtual nodes, 2 and 4:
 * such with a half or a quarter of the lanes, 0: linear).
 *   FN           qualifiers of a site function
 *   T(name)      name with the suffix of this precision and layout
 *   real, vreal  arithmetic type (double, or single for all others) and its vector over the lanes
 *   vfma(a,b,c)  a b + c rounded once; vfnma(a,b,c) = c - a b. All site functions say where they fuse, and the build
 *                forbids the compiler to fuse elsewhere, so every lane count, compiler and device computes the same bits
 *   T(load), T(save)  components of one group of a unit, converted from or to storage
 *   vexact       an exact sum in the making, see kernels/lattice/exact.h */
#include <stdint.h>

#include "kernels/field/view.h"
#include "kernels/lattice/exact.h"
#include "kernels/lattice/geom.h"
#include "kernels/lattice/lanes.h"

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define DIRECTIONS UNROLL
#else
#define FN static inline __attribute__((always_inline, unused))
#define UNROLL _Pragma("GCC unroll 72")
/* A loop over directions: unrolled on a GPU alone, where indices of registers have to be known. On the CPU its body is
 * large, and compiling it once for each direction is most of what a build takes. */
#define DIRECTIONS _Pragma("GCC unroll 1")
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if PLAQ_PREC == 0
#define SUFFIX_PREC _d
#elif PLAQ_PREC == 1
#define SUFFIX_PREC _s
#elif PLAQ_PREC == 2
#define SUFFIX_PREC _h
#else
#define SUFFIX_PREC _q
#endif
#if defined(__CUDACC__)
#define SUFFIX PASTE(SUFFIX_PREC, g)
#elif PLAQ_SIMD
#define SUFFIX PASTE(PASTE(SUFFIX_PREC, v), PLAQ_SIMD)
#else
#define SUFFIX PASTE(SUFFIX_PREC, l)
#endif
#define T(name) PASTE(name, SUFFIX)

#if PLAQ_PREC == 0
typedef double real;
#define REAL_BYTES 8
#define LANES_FULL LANES_DOUBLE
#else
typedef float real;
#define REAL_BYTES 4
#define LANES_FULL LANES_SINGLE
#endif

#if PLAQ_PREC == 0
typedef double stored;
#elif PLAQ_PREC == 1
typedef float stored;
#elif PLAQ_PREC == 2
#define FIXED_RANGE 32767.0f
#if PLAQ_SIMD
typedef int16_t stored;
#else
typedef uint16_t stored;
#define FIXED_OFFSET 32768
#endif
#else
#define FIXED_RANGE 127.0f
#if PLAQ_SIMD
typedef int8_t stored;
#else
typedef uint8_t stored;
#define FIXED_OFFSET 128
#endif
#endif
#define PACK(n) VIEW_PACK(PLAQ_PREC, n)

#if PLAQ_SIMD
#include "kernels/site/lane_simd.h"
#else
#include "kernels/site/lane_one.h"
#endif

/* Sums of products made in double whatever the precision: a vdouble holds the lanes of a vreal, widened. */
FN void T(exact_open)(vexact *s)
{
    s->bin = EXACT_BIN_MIN;
    s->broken = 0;
    s->count = 0;
    s->limit = exact_limit(EXACT_BIN_MIN);
    UNROLL for (int i = 0; i < 3; i++) s->fold[i] = vdouble_zero();
    s->whole = exact_zero();
}

/* c + s x and c - s x for a sign s. In fixed point nvcc adds integers as they are stored (kernels/site/storage.cuh). */
#ifndef ADDS_ENCODED
FN vreal T(add_signed)(vreal s, vreal x, vreal c)
{
    return vfma(s, x, c);
}

FN vreal T(subtract_signed)(vreal s, vreal x, vreal c)
{
    return vfnma(s, x, c);
}
#endif
