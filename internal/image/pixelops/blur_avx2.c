#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <string.h>

// Without fma, for the same sums as at the other levels.
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m256i ints;
typedef __m256 floats;

enum { BLOCK = 32, VECTORS = BLOCK / 8 };

INLINE floats product(float weight, floats x) { return _mm256_mul_ps(_mm256_set1_ps(weight), x); }

INLINE ints widen(const uint8_t *p) { return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p)); }

// low and high convert halves of 16 uint16 to floats.
INLINE floats low(ints v) { return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(v))); }
INLINE floats high(ints v) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1)));
}

TARGET static void vertical(float *out, const uint8_t *src, const size_t *rows, size_t n, int reach,
                            const float *weights) {
  size_t at = 0;
  for (; at + BLOCK <= n; at += BLOCK) {
    floats sum[VECTORS];
    for (int i = 0; i < VECTORS; i += 2) {
      const ints v = widen(src + rows[reach] + at + 8 * i);
      sum[i] = product(weights[0], low(v));
      sum[i + 1] = product(weights[0], high(v));
    }
    for (int k = 1; k <= reach; k++)
      for (int i = 0; i < VECTORS; i += 2) {
        const ints v = _mm256_add_epi16(widen(src + rows[reach - k] + at + 8 * i),
                                        widen(src + rows[reach + k] + at + 8 * i));
        sum[i] = _mm256_add_ps(sum[i], product(weights[k], low(v)));
        sum[i + 1] = _mm256_add_ps(sum[i + 1], product(weights[k], high(v)));
      }
    for (int i = 0; i < VECTORS; i++)
      _mm256_storeu_ps(out + at + 8 * i, sum[i]);
  }
  dsconv_blur_portable.vertical(out + at, src + at, rows, n - at, reach, weights);
}

// pack converts four times 8 numbers to bytes, saturated.
INLINE ints pack(ints a, ints b, ints c, ints d) {
  const ints bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

TARGET static void horizontal(uint8_t *out, const float *in, size_t n, int reach, size_t step,
                              const float *weights) {
  const float *middle = in + (size_t)reach * step;
  size_t at = 0;
  for (; at + BLOCK <= n; at += BLOCK) {
    floats sum[VECTORS];
    for (int i = 0; i < VECTORS; i++)
      sum[i] = product(weights[0], _mm256_loadu_ps(middle + at + 8 * i));
    for (int k = 1; k <= reach; k++) {
      const float *left = middle + at - (size_t)k * step, *right = middle + at + (size_t)k * step;
      for (int i = 0; i < VECTORS; i++) {
        const floats pair = _mm256_add_ps(_mm256_loadu_ps(left + 8 * i), _mm256_loadu_ps(right + 8 * i));
        sum[i] = _mm256_add_ps(sum[i], product(weights[k], pair));
      }
    }
    _mm256_storeu_si256((ints *)(out + at), pack(_mm256_cvtps_epi32(sum[0]), _mm256_cvtps_epi32(sum[1]),
                                                 _mm256_cvtps_epi32(sum[2]), _mm256_cvtps_epi32(sum[3])));
  }
  dsconv_blur_portable.horizontal(out + at, in + at, n - at, reach, step, weights);
}

// column adds three rows.
INLINE ints column(const uint8_t *above, const uint8_t *row, const uint8_t *below) {
  return _mm256_add_epi16(_mm256_add_epi16(widen(above), widen(row)), widen(below));
}

INLINE ints blend(floats smooth, floats x, float factor) {
  return _mm256_cvttps_epi32(_mm256_add_ps(smooth, product(factor, _mm256_sub_ps(x, smooth))));
}

TARGET static void sharpen(uint8_t *out, const uint8_t *above, const uint8_t *row, const uint8_t *below,
                           size_t n, size_t step, float factor) {
  size_t at = step;
  ints result[4];
  memcpy(out, row, step);
  for (; at + BLOCK + step <= n; at += BLOCK) {
    for (size_t i = 0; i < 2; i++) {
      const size_t k = at + 16 * i;
      const ints middle = widen(row + k);
      ints sum = _mm256_add_epi16(column(above + k, row + k, below + k), _mm256_slli_epi16(middle, 2));
      sum = _mm256_add_epi16(sum, column(above + k - step, row + k - step, below + k - step));
      sum = _mm256_add_epi16(sum, column(above + k + step, row + k + step, below + k + step));
      // Division by 13, by a factor that is exact for such sums.
      const ints smooth =
          _mm256_mulhi_epu16(_mm256_add_epi16(sum, _mm256_set1_epi16(6)), _mm256_set1_epi16(5042));
      result[2 * i] = blend(low(smooth), low(middle), factor);
      result[2 * i + 1] = blend(high(smooth), high(middle), factor);
    }
    _mm256_storeu_si256((ints *)(out + at), pack(result[0], result[1], result[2], result[3]));
  }
  // The remaining bytes, from the pixel before them, which that call treats as an outermost one.
  const size_t rest = at - step;
  uint8_t before[4];
  memcpy(before, out + rest, step);
  dsconv_blur_portable.sharpen(out + rest, above + rest, row + rest, below + rest, n - rest, step, factor);
  memcpy(out + rest, before, step);
}

const dsconv_blur_kernels dsconv_blur_avx2 = {vertical, horizontal, sharpen};
#endif
