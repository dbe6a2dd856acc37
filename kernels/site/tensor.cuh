/* Tensor cores: products of small tiles of real matrices in TF32 (11 bits of a number's 24, the exponent of single precision),
 * added up in single precision. Kernels that use them have bits of their own (KERNEL_DEVICE_BITS). */
#ifndef PLAQ_TENSOR_CUH
#define PLAQ_TENSOR_CUH

#include <stdint.h>

/* A number rounded to TF32, to the nearest and away from zero in between. */
static __device__ __forceinline__ uint32_t tensor_number(float x)
{
    uint32_t y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}

/* The number times -1. */
static __device__ __forceinline__ uint32_t tensor_negative(uint32_t x)
{
    return x ^ 0x80000000u;
}

/* sum += a b over 8 columns of a, of a warp; with g = lane / 4 and t = lane % 4 a thread has (PTX ISA, m16n8k8)
 *   a[0] = a(g, t), a[1] = a(g + 8, t), a[2] = a(g, t + 4), a[3] = a(g + 8, t + 4);  b[0] = b(t, g), b[1] = b(t + 4, g)
 *   sum[0] = sum(g, 2 t), sum[1] = sum(g, 2 t + 1), sum[2] = sum(g + 8, 2 t), sum[3] = sum(g + 8, 2 t + 1). */
static __device__ __forceinline__ void tensor_add(float sum[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
