/* All kernels in half precision. */
#define PLAQ_PREC 2
#define PLAQ_SIMD 0
#include "kernels/gpu/instance.cuh"
