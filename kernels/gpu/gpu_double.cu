/* All kernels in double precision. */
#define PLAQ_PREC 0
#define PLAQ_SIMD 0
#include "kernels/gpu/instance.cuh"
