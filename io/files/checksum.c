#include "io/files/checksum.h"

#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* ---- CRC32: eight bytes a step, table k being the CRC of a byte followed by k zero bytes ---- */

static uint32_t crc_table[8][256];
static int crc_ready; /* set once the tables are there, whichever thread makes them */

static void crc_make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t c = byte;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        crc_table[0][byte] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t c = crc_table[k - 1][byte];
            crc_table[k][byte] = c >> 8 ^ crc_table[0][c & 255];
        }
    __atomic_store_n(&crc_ready, 1, __ATOMIC_RELEASE);
}

uint32_t crc32_of(uint32_t crc, const void *data, size_t n)
{
    if (!__atomic_load_n(&crc_ready, __ATOMIC_ACQUIRE)) {
#pragma omp critical(crc_tables)
        if (!crc_ready) crc_make_tables();
    }
    const unsigned char *p = data;
    uint32_t c = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t next = 0;
        for (int i = 0; i < 4; i++) {
            next ^= crc_table[7 - i][(c >> 8 * i & 255) ^ p[i]];
            next ^= crc_table[3 - i][p[4 + i]];
        }
        c = next;
    }
    for (; n > 0; n--, p++) c = c >> 8 ^ crc_table[0][(c ^ *p) & 255];
    return ~c;
}

void scidac_add(uint32_t sums[2], uint64_t first_site, const void *data, size_t sites, size_t site_bytes)
{
    for (size_t i = 0; i < sites; i++) {
        const uint32_t crc = crc32_of(0, (const char *)data + i * site_bytes, site_bytes);
        sums[0] ^= rotate_left32(crc, (unsigned)((first_site + i) % 29));
        sums[1] ^= rotate_left32(crc, (unsigned)((first_site + i) % 31));
    }
}

/* ---- SHA-256 ---- */

static const uint32_t sha_round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, unsigned right)
{
    return x >> right | x << (32 - right);
}

static void sha_block(uint32_t state[8], const unsigned char *p)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof v);
    /* The eight variables turn by one place a round; here their names turn instead. */
    for (int start = 0; start < 64; start += 8)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
#define V(k) v[((k) + 8 - i) & 7]
            const uint32_t choice = (V(4) & V(5)) ^ (~V(4) & V(6));
            const uint32_t majority = (V(0) & V(1)) ^ (V(0) & V(2)) ^ (V(1) & V(2));
            const uint32_t t1 =
                V(7) + (turn(V(4), 6) ^ turn(V(4), 11) ^ turn(V(4), 25)) + choice + sha_round[start + i] + w[start + i];
            V(3) += t1;
            V(7) = t1 + (turn(V(0), 2) ^ turn(V(0), 13) ^ turn(V(0), 22)) + majority;
#undef V
        }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void sha_blocks_portable(uint32_t state[8], const unsigned char *p, size_t blocks)
{
    for (; blocks > 0; blocks--, p += 64) sha_block(state, p);
}

#ifdef __x86_64__
/* Bit 29 of EBX of leaf 7: the SHA extensions; bits 9 and 19 of ECX of leaf 1: SSSE3 and SSE4.1. */
static int sha_instructions(void)
{
    unsigned a, b, c, d, unused;
    if (!__get_cpuid(1, &a, &unused, &c, &d) || !(c >> 9 & 1) || !(c >> 19 & 1)) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &unused, &d) && (b >> 29 & 1);
}

/* The instructions take the state as (a b e f) and (c d g h), from the highest word down, and do two rounds each. Of
 * the message schedule four words are made at a time: w[i % 4] holds words 4 i to 4 i + 3. */
__attribute__((target("sha,sse4.1"))) static void sha_blocks_x86(uint32_t state[8], const unsigned char *p,
                                                                 size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    const __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks > 0; blocks--, p += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            const __m128i now = w[i % 4], before = w[(i + 3) % 4];
            const __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(sha_round + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            /* Words 4 i + 4 on replace those of 16 before; their first half was made there two turns ago, below. */
            if (i >= 3 && i < 15) {
                const __m128i part = _mm_add_epi32(w[(i + 1) % 4], _mm_alignr_epi8(now, before, 4));
                w[(i + 1) % 4] = _mm_sha256msg2_epu32(part, now);
            }
            if (i >= 1 && i < 13) w[(i + 3) % 4] = _mm_sha256msg1_epu32(before, now);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
static int sha_instructions(void)
{
    return 0;
}
#define sha_blocks_x86 sha_blocks_portable
#endif

static void (*sha_blocks)(uint32_t state[8], const unsigned char *p, size_t blocks);

int sha256_use(sha256_way way)
{
    const int able = sha_instructions();
    sha_blocks = able && way != SHA256_PORTABLE ? sha_blocks_x86 : sha_blocks_portable;
    return way != SHA256_INSTRUCTIONS || able;
}

void sha256_start(sha256 *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    if (!sha_blocks) sha256_use(SHA256_FASTEST);
    memcpy(s->state, start, sizeof start);
    s->bytes = 0;
}

void sha256_add(sha256 *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n > 0) {
        const size_t used = s->bytes % 64;
        if (used == 0 && n >= 64) {
            const size_t whole = n / 64 * 64;
            sha_blocks(s->state, p, n / 64);
            s->bytes += whole, p += whole, n -= whole;
            continue;
        }
        const size_t take = n < 64 - used ? n : 64 - used;
        memcpy(s->block + used, p, take);
        s->bytes += take, p += take, n -= take;
        if (s->bytes % 64 == 0) sha_blocks(s->state, s->block, 1);
    }
}

void sha256_end(sha256 *s, char hex[65])
{
    const uint64_t bits = 8 * s->bytes;
    unsigned char tail[72] = {0x80};
    const size_t pad = (s->bytes % 64 < 56 ? 56 : 120) - s->bytes % 64;
    for (int i = 0; i < 8; i++) tail[pad + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(s, tail, pad + 8);
    for (int i = 0; i < 64; i++) hex[i] = "0123456789abcdef"[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}
