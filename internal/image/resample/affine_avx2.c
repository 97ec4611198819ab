#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

// Without fma: a sum must not be fused with a product, or levels and Go would differ.
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m256d lanes;

#define l_set(x) _mm256_set1_pd(x)
#define l_add(a, b) _mm256_add_pd(a, b)
#define l_sub(a, b) _mm256_sub_pd(a, b)
#define l_mul(a, b) _mm256_mul_pd(a, b)

// load16, load32 and load64 read little-endian numbers.
INLINE uint64_t load16(const uint8_t *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

INLINE uint64_t load32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

INLINE uint64_t load64(const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

// load reads n bytes, by no copy through memory: a processor waits for parts that were just written.
INLINE uint64_t load(const uint8_t *p, const int n) {
  switch (n) {
  case 1:
    return *p;
  case 2:
    return load16(p);
  case 3:
    return load16(p) | (uint64_t)p[2] << 16;
  case 4:
    return load32(p);
  case 6:
    return load32(p) | load16(p + 4) << 32;
  default:
    return load64(p);
  }
}

INLINE lanes l_load(const uint8_t *p, const int channels, const int deep) {
  const __m128i v = _mm_cvtsi64_si128((long long)load(p, channels << deep));
  return _mm256_cvtepi32_pd(deep ? _mm_cvtepu16_epi32(v) : _mm_cvtepu8_epi32(v));
}

INLINE void l_store(uint8_t *p, lanes a, const int channels, const int deep) {
  const __m128i v = _mm256_cvttpd_epi32(a), shorts = _mm_packs_epi32(v, v);
  const int64_t bits = _mm_cvtsi128_si64(deep ? _mm_packus_epi32(v, v) : _mm_packus_epi16(shorts, shorts));
  memcpy(p, &bits, (size_t)channels << deep);
}

#include "affine_smooth.h"

void dsconv_warp_smooth_avx2(const dsconv_warping *q, uint8_t *dst, const uint8_t *src) {
  smooth(q, dst, src);
}
#endif
