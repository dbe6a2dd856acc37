/* Storage of the linear layout under nvcc; part of kernels/site/lane_one.h. A pack is one access of 1 to 16 bytes,
 * handled as words of 32 bits.
 *
 *   T(load_raw)         cached: neighbours come back
 *   T(load_raw_stream)  past the first cache, for what a kernel reads once and nobody writes meanwhile: links, clover.
 *                       The instruction is volatile: else the compiler takes it out of loops, and out of the conditions
 *                       that keep it from fields that are not there
 *   T(save)             marked as not to be kept
 *
 * Fixed point, which is stored with an offset that makes it positive, becomes a float by putting it into the mantissa
 * of 2^23: exact, and cheaper than the conversion instruction, which has a quarter of the throughput. What was added
 * (BIAS, with the offset) is taken off by one more operation; where two such numbers are added or subtracted, one does
 * for both: T(load_encoded) leaves it on, and T(add_signed) and T(subtract_signed) take it off, exactly, as long as
 * their sign is a literal. */

template <int bytes>
static __device__ __forceinline__ void pack_read(uint32_t w[4], const void *p)
{
    if constexpr (bytes == 16) {
        const uint4 a = *(const uint4 *)p;
        w[0] = a.x;
        w[1] = a.y;
        w[2] = a.z;
        w[3] = a.w;
    } else if constexpr (bytes == 8) {
        const uint2 a = *(const uint2 *)p;
        w[0] = a.x;
        w[1] = a.y;
    } else if constexpr (bytes == 4) {
        w[0] = *(const uint32_t *)p;
    } else if constexpr (bytes == 2) {
        w[0] = *(const uint16_t *)p;
    } else {
        w[0] = *(const uint8_t *)p;
    }
}

template <int bytes>
static __device__ __forceinline__ void pack_read_once(uint32_t w[4], const void *p)
{
    const size_t at = __cvta_generic_to_global(p);
    if constexpr (bytes == 16) {
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                     : "l"(at));
    } else if constexpr (bytes == 8) {
        asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(at));
    } else if constexpr (bytes == 4) {
        asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(w[0]) : "l"(at));
    } else if constexpr (bytes == 2) {
        uint16_t a;
        asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(a) : "l"(at));
        w[0] = a;
    } else {
        pack_read<bytes>(w, p);
    }
}

template <int bytes>
static __device__ __forceinline__ void pack_write(void *p, const uint32_t w[4])
{
    if constexpr (bytes == 16) __stcs((uint4 *)p, make_uint4(w[0], w[1], w[2], w[3]));
    else if constexpr (bytes == 8) __stcs((uint2 *)p, make_uint2(w[0], w[1]));
    else if constexpr (bytes == 4) __stcs((unsigned *)p, w[0]);
    else if constexpr (bytes == 2) __stcs((unsigned short *)p, (unsigned short)w[0]);
    else __stcs((unsigned char *)p, (unsigned char)w[0]);
}

#if PLAQ_PREC >= 2
#define ADDS_ENCODED
#define BIAS (8388608.0f + FIXED_OFFSET)

FN vreal T(add_signed)(vreal s, vreal x, vreal c)
{
    return s > 0 ? c + (x - 2 * BIAS) : c - x;
}

FN vreal T(subtract_signed)(vreal s, vreal x, vreal c)
{
    return s > 0 ? c - x : c + (x - 2 * BIAS);
}

/* Approximations of the processor (2^-22) do for a link of eight reals where numbers have 16 bits. */
#define ROUGH_MATH
static __device__ __forceinline__ float rough_sqrt(float x)
{
    float r;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ float rough_inverse(float x)
{
    return x != 0 ? __fdividef(1, x) : 0;
}

static __device__ __forceinline__ void rough_cos_sin_pi(float *c, float *s, float x)
{
    __sincosf(3.14159265358979323846f * x, s, c);
}
#else
#define BIAS 0
#endif

/* Component i of a pack, with BIAS. */
FN real T(decode)(const uint32_t w[4], int i)
{
#if PLAQ_PREC == 0
    return __hiloint2double((int)w[2 * i + 1], (int)w[2 * i]);
#elif PLAQ_PREC == 1
    return __uint_as_float(w[i]);
#elif PLAQ_PREC == 2
    /* bytes 7 and 6 of the pair are 0x4B and 0 */
    return __uint_as_float(__byte_perm(w[i / 2], 0x4B000000u, i % 2 ? 0x7632 : 0x7610));
#else
    return __uint_as_float(__byte_perm(w[i / 4], 0x4B000000u, 0x7660 + i % 4));
#endif
}

/* The words of a pack. Adding 1.5 2^23 and the offset rounds to an integer and leaves it in the low bits of the float.
 */
template <int pack>
FN void T(encode)(uint32_t w[4], const real *x, real scale)
{
#if PLAQ_PREC <= 1
    (void)scale;
    UNROLL for (int i = 0; i < pack; i++)
    {
#if PLAQ_PREC == 0
        w[2 * i] = (uint32_t)__double2loint(x[i]);
        w[2 * i + 1] = (uint32_t)__double2hiint(x[i]);
#else
        w[i] = __float_as_uint(x[i]);
#endif
    }
#else
    uint32_t m[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    UNROLL for (int i = 0; i < pack; i++) m[i] = __float_as_uint(vfma(x[i], scale, 12582912.0f + FIXED_OFFSET));
#if PLAQ_PREC == 2
    UNROLL for (int i = 0; i < 4; i++) w[i] = __byte_perm(m[2 * i], m[2 * i + 1], 0x5410);
#else
    UNROLL for (int i = 0; i < 2; i++) w[i] = __byte_perm(__byte_perm(m[4 * i], m[4 * i + 1], 0x0040),
                                                          __byte_perm(m[4 * i + 2], m[4 * i + 3], 0x0040), 0x5410);
#endif
#endif
}

template <int pack, bool once>
FN void T(load_packs)(vreal *x, const view *v, long u, int group, int n)
{
    UNROLL for (int c = 0; c < n; c += pack)
    {
        uint32_t w[4];
        const stored *p = T(at)(v, u, group, n, c);
        if (once) pack_read_once<pack *(int)sizeof(stored)>(w, p);
        else pack_read<pack *(int)sizeof(stored)>(w, p);
        UNROLL for (int i = 0; i < pack; i++) x[c + i] = T(decode)(w, i);
    }
}

template <bool once>
FN void T(load_any)(vreal *x, const view *v, long u, int group, int n)
{
    /* A precision must not ask for packs that it does not have: they would be more than 16 bytes. */
    if (PACK(n) == 8) T(load_packs)<PLAQ_PREC >= 2 ? 8 : 2, once>(x, v, u, group, n);
    else if (PACK(n) == 4) T(load_packs)<PLAQ_PREC == 0 ? 2 : 4, once>(x, v, u, group, n);
    else if (PACK(n) == 2) T(load_packs)<2, once>(x, v, u, group, n);
    else T(load_packs)<1, once>(x, v, u, group, n);
}

FN void T(take_off_bias)(vreal *x, int n)
{
    if (PLAQ_PREC >= 2) UNROLL for (int i = 0; i < n; i++) x[i] -= BIAS;
}

#ifdef ADDS_ENCODED
FN void T(load_encoded)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_any)<false>(x, v, u, group, n);
}
#endif

FN void T(load_raw)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_any)<false>(x, v, u, group, n);
    T(take_off_bias)(x, n);
}

FN void T(load_raw_stream)(vreal *x, const view *v, long u, int group, int n)
{
    T(load_any)<true>(x, v, u, group, n);
    T(take_off_bias)(x, n);
}

FN void T(load_raw_part)(vreal *x, const view *v, long u, int group, int first, int m)
{
    UNROLL for (int c = 0; c < m; c += 2)
    {
        uint32_t w[4];
        pack_read<2 * (int)sizeof(stored)>(w, T(at)(v, u, group, 18, first + c));
        x[c] = T(decode)(w, 0);
        x[c + 1] = T(decode)(w, 1);
    }
    T(take_off_bias)(x, m);
}

template <int pack>
FN void T(save_packs)(const vreal *x, const view *v, long u, int group, int n, real scale)
{
    UNROLL for (int c = 0; c < n; c += pack)
    {
        uint32_t w[4];
        T(encode)<pack>(w, x + c, scale);
        pack_write<pack *(int)sizeof(stored)>(T(at)(v, u, group, n, c), w);
    }
}

FN void T(save)(const vreal *x, const view *v, long u, int group, int n)
{
    real scale = 1;
#if PLAQ_PREC >= 2
    scale = FIXED_RANGE;
    if (v->scale) {
        real m = fabs(x[0]);
        UNROLL for (int c = 1; c < n; c++) m = fmax(m, fabs(x[c])); /* fmax is one instruction, unlike vmax */
        *T(scale_at)(v, u, group) = m;
        scale = FIXED_RANGE * vinverse_or_zero(m);
    }
#endif
    if (PACK(n) == 8) T(save_packs)<PLAQ_PREC >= 2 ? 8 : 2>(x, v, u, group, n, scale);
    else if (PACK(n) == 4) T(save_packs)<PLAQ_PREC == 0 ? 2 : 4>(x, v, u, group, n, scale);
    else if (PACK(n) == 2) T(save_packs)<2>(x, v, u, group, n, scale);
    else T(save_packs)<1>(x, v, u, group, n, scale);
}
