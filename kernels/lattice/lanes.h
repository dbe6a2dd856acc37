/* SIMD lanes of the CPU for double and for single precision; the scalar build has one. */
#ifndef PLAQ_LANES_H
#define PLAQ_LANES_H

#if defined(PLAQ_SCALAR)
#define LANES_DOUBLE 1
#elif defined(__AVX512F__)
#define LANES_DOUBLE 8
#elif defined(__AVX__)
#define LANES_DOUBLE 4
#else
#define LANES_DOUBLE 2
#endif

#ifdef PLAQ_SCALAR
#define LANES_SINGLE 1
#else
#define LANES_SINGLE (2 * LANES_DOUBLE)
#endif

#endif
