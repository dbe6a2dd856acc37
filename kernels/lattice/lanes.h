/* Lanes of the CPU's SIMD vectors for double and for single precision. A rank's box that so many do not divide takes a
 * half or a quarter of them, in shorter vectors, but of 16 bytes at least. */
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

/* True if there are kernels for these lanes divided by `parts`, parts = 1, 2, 4, ... */
#define LANES_HAVE(parts) ((parts) <= 4 && LANES_DOUBLE / (parts) >= 2)

#endif
