#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
#define INLINE TARGET __attribute__((always_inline)) static inline

enum { BYTES = 32, LANES = 2, FLOATS = 8, VECTORS = 2, ROWS = LANES * VECTORS };
typedef __m256i ints;
typedef __m256 floats;

#define v_zero() _mm256_setzero_si256()
#define v_set32(x) _mm256_set1_epi32(x)
#define v_lanes(m) _mm256_broadcastsi128_si256(m)
#define v_load(p) _mm256_loadu_si256((const __m256i *)(p))
#define v_store(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_madd(a, b) _mm256_madd_epi16(a, b)
#define v_shuffle(a, m) _mm256_shuffle_epi8(a, m)
#define v_left32(a, n) _mm256_slli_epi32(a, n)
#define v_right32(a, n) _mm256_srai_epi32(a, n)
#define v_packs32(a, b) _mm256_packs_epi32(a, b)
#define v_packus16(a, b) _mm256_packus_epi16(a, b)
#define v_low8(a, b) _mm256_unpacklo_epi8(a, b)
#define v_high8(a, b) _mm256_unpackhi_epi8(a, b)

#define f_set(x) _mm256_set1_ps(x)
#define f_load(p) _mm256_loadu_ps(p)
#define f_mul(a, b) _mm256_mul_ps(a, b)
#define f_sub(a, b) _mm256_sub_ps(a, b)
#define f_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#define f_bytes(p) _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p))))
#define f_store32(p, v) _mm256_storeu_ps(p, v)
#define f_store16(p, v) _mm_storeu_si128((__m128i *)(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))

// v_rows loads 16 bytes of each row, a row in each lane.
INLINE ints v_rows(const uint8_t *const *rows, size_t at) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(rows[0] + at))),
                                 _mm_loadu_si128((const __m128i *)(rows[1] + at)), 1);
}

INLINE void v_store_rows(uint8_t *const *rows, size_t at, ints v) {
  _mm_storeu_si128((__m128i *)(rows[0] + at), _mm256_castsi256_si128(v));
  _mm_storeu_si128((__m128i *)(rows[1] + at), _mm256_extracti128_si256(v, 1));
}

// f_store_bfloat rounds to the nearest, ties to even.
INLINE void f_store_bfloat(uint16_t *p, floats v) {
  ints x = _mm256_castps_si256(v);
  ints odd = _mm256_and_si256(_mm256_srli_epi32(x, 16), v_set32(1));
  x = _mm256_srli_epi32(v_add32(v_add32(x, v_set32(0x7fff)), odd), 16);
  _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}

#include "kernel_simd.h"
#include "tensor_simd.h"

const dsconv_kernels dsconv_avx2 = {ROWS, scale, sum, store, convert};
#endif
