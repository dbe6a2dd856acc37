/* All kernels in single precision. */
#define PLAQ_PREC 1
#define PLAQ_SIMD 0
#include "kernels/gpu/instance.cuh"
