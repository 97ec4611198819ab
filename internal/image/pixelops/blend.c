#include "kernels.h"

#include "../resample/level.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <stdint.h>

// Without fma: products are rounded before they are added.
#define TARGET __attribute__((target("avx2,f16c")))
#define INLINE TARGET __attribute__((always_inline)) static inline

enum { STEP = 8 };

INLINE __m128i to_half(__m256 x) { return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }

// from_bfloat converts 8 bfloat16.
INLINE __m256 from_bfloat(const uint16_t *p) {
  const __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
}

// to_bfloat rounds x to bfloat16, to the nearest, ties to even, in the upper halves.
INLINE __m256 to_bfloat(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x), one = _mm256_set1_epi32(1);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
  const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
  const __m256 cut = _mm256_castsi256_ps(_mm256_and_si256(up, _mm256_set1_epi32((int)0xFFFF0000)));
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  return _mm256_blendv_ps(cut, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

TARGET static void blend32(float *dst, const float *other, size_t n, __m256 weight, __m256 other_weight) {
  for (size_t i = 0; i < n; i += STEP) {
    const __m256 a = _mm256_mul_ps(_mm256_loadu_ps(dst + i), weight);
    const __m256 b = _mm256_mul_ps(_mm256_loadu_ps(other + i), other_weight);
    _mm256_storeu_ps(dst + i, _mm256_add_ps(b, a));
  }
}

TARGET static void blend16(uint16_t *dst, const uint16_t *other, size_t n, __m256 weight,
                           __m256 other_weight) {
  for (size_t i = 0; i < n; i += STEP) {
    const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(dst + i)));
    const __m256 y = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(other + i)));
    const __m256 a = _mm256_cvtph_ps(to_half(_mm256_mul_ps(x, weight)));
    const __m256 b = _mm256_cvtph_ps(to_half(_mm256_mul_ps(y, other_weight)));
    _mm_storeu_si128((__m128i *)(dst + i), to_half(_mm256_add_ps(a, b)));
  }
}

TARGET static void blend_b16(uint16_t *dst, const uint16_t *other, size_t n, __m256 weight,
                             __m256 other_weight) {
  for (size_t i = 0; i < n; i += STEP) {
    const __m256 a = to_bfloat(_mm256_mul_ps(from_bfloat(dst + i), weight));
    const __m256 b = to_bfloat(_mm256_mul_ps(from_bfloat(other + i), other_weight));
    const __m256i sum = _mm256_srli_epi32(_mm256_castps_si256(to_bfloat(_mm256_add_ps(a, b))), 16);
    const __m128i low = _mm256_castsi256_si128(sum), high = _mm256_extracti128_si256(sum, 1);
    _mm_storeu_si128((__m128i *)(dst + i), _mm_packus_epi32(low, high));
  }
}

TARGET static void blend(int type, void *dst, const void *other, size_t n, float weight, float other_weight) {
  const __m256 s = _mm256_set1_ps(weight), r = _mm256_set1_ps(other_weight);
  switch (type) {
  case DSCONV_BLEND_FLOAT32:
    blend32(dst, other, n, s, r);
    break;
  case DSCONV_BLEND_FLOAT16:
    blend16(dst, other, n, s, r);
    break;
  default:
    blend_b16(dst, other, n, s, r);
  }
}

size_t dsconv_blend(int type, void *dst, const void *other, size_t n, float weight, float other_weight) {
  if (dsconv_level() < DSCONV_AVX2)
    return 0;
  n -= n % STEP;
  blend(type, dst, other, n, weight, other_weight);
  return n;
}

#else

size_t dsconv_blend(int type, void *dst, const void *other, size_t n, float weight, float other_weight) {
  (void)type, (void)dst, (void)other, (void)n, (void)weight, (void)other_weight;
  return 0;
}

#endif
