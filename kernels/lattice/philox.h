/* Philox 4x32-10, a counter-based generator (J. Salmon et al., SC'11): ten rounds turn a counter of four words under a
 * key of two into four random words. Shared by gcc and nvcc. */
#ifndef PLAQ_PHILOX_H
#define PLAQ_PHILOX_H

#include <stdint.h>

#ifdef __CUDACC__
#define PHILOX_FN static __host__ __device__ inline
#else
#define PHILOX_FN static inline
#endif

PHILOX_FN void philox(uint32_t counter[4], uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xD2511F53u * counter[0], q = (uint64_t)0xCD9E8D57u * counter[2];
        const uint32_t c1 = counter[1], c3 = counter[3];
        counter[0] = (uint32_t)(q >> 32) ^ c1 ^ key0;
        counter[1] = (uint32_t)q;
        counter[2] = (uint32_t)(p >> 32) ^ c3 ^ key1;
        counter[3] = (uint32_t)p;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* A double in (0, 1) from 53 bits of two words. */
PHILOX_FN double philox_uniform(uint32_t high, uint32_t low)
{
    const uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    return ((double)bits + 0.5) * (1.0 / 4503599627370496.0);
}

#endif
