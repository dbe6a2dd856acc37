/* All kernels in quarter precision. */
#define PLAQ_PREC 3
#define PLAQ_SIMD 0
#include "kernels/gpu/instance.cuh"
