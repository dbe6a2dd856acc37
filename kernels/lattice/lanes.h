/* Lanes of the CPU's SIMD vectors for double and for single precision. */
#ifndef PLAQ_LANES_H
#define PLAQ_LANES_H

#if defined(__AVX512F__)
#define LANES_DOUBLE 8
#elif defined(__AVX__)
#define LANES_DOUBLE 4
#else
#define LANES_DOUBLE 2
#endif

#define LANES_SINGLE (2 * LANES_DOUBLE)

#endif
