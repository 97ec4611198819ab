#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#ifdef DSCONV_EMULATE_AVX512
#include "testdata/avx512_by_simde.h"

#define TARGET
#else
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,f16c,avx512f,avx512bw")))
#endif
#define INLINE TARGET __attribute__((always_inline)) static inline

enum { BYTES = 64, LANES = 4, FLOATS = 16, VECTORS = 1, ROWS = LANES * VECTORS };
typedef __m512i ints;
typedef __m512 floats;

#define v_zero() _mm512_setzero_si512()
#define v_set32(x) _mm512_set1_epi32(x)
#define v_lanes(m) _mm512_broadcast_i32x4(m)
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, v) _mm512_storeu_si512(p, v)
#define v_add32(a, b) _mm512_add_epi32(a, b)
#define v_madd(a, b) _mm512_madd_epi16(a, b)
#define v_shuffle(a, m) _mm512_shuffle_epi8(a, m)
#define v_left32(a, n) _mm512_slli_epi32(a, n)
#define v_right32(a, n) _mm512_srai_epi32(a, n)
#define v_packs32(a, b) _mm512_packs_epi32(a, b)
#define v_packus16(a, b) _mm512_packus_epi16(a, b)
#define v_low8(a, b) _mm512_unpacklo_epi8(a, b)
#define v_high8(a, b) _mm512_unpackhi_epi8(a, b)

#define f_set(x) _mm512_set1_ps(x)
#define f_load(p) _mm512_loadu_ps(p)
#define f_mul(a, b) _mm512_mul_ps(a, b)
#define f_sub(a, b) _mm512_sub_ps(a, b)
#define f_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#define f_bytes(p) _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p))))
#define f_store32(p, v) _mm512_storeu_ps(p, v)
#define f_store16(p, v) _mm256_storeu_si256((__m256i *)(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))

// v_rows loads 16 bytes of each row, a row in each lane.
INLINE ints v_rows(const uint8_t *const *rows, size_t at) {
  ints v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(rows[0] + at)));
  v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(rows[1] + at)), 1);
  v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(rows[2] + at)), 2);
  return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(rows[3] + at)), 3);
}

INLINE void v_store_rows(uint8_t *const *rows, size_t at, ints v) {
  _mm_storeu_si128((__m128i *)(rows[0] + at), _mm512_castsi512_si128(v));
  _mm_storeu_si128((__m128i *)(rows[1] + at), _mm512_extracti32x4_epi32(v, 1));
  _mm_storeu_si128((__m128i *)(rows[2] + at), _mm512_extracti32x4_epi32(v, 2));
  _mm_storeu_si128((__m128i *)(rows[3] + at), _mm512_extracti32x4_epi32(v, 3));
}

// f_store_bfloat rounds to the nearest, ties to even.
INLINE void f_store_bfloat(uint16_t *p, floats v) {
  ints x = _mm512_castps_si512(v);
  ints odd = _mm512_and_si512(_mm512_srli_epi32(x, 16), v_set32(1));
  x = _mm512_srli_epi32(v_add32(v_add32(x, v_set32(0x7fff)), odd), 16);
  _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(x));
}

#include "kernel_simd.h"
#include "tensor_simd.h"

const dsconv_kernels dsconv_avx512 = {ROWS, scale, sum, store, convert};
#endif
