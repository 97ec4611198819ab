#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <string.h>

// Without fma: compilers would fuse products into sums and round differently from Pillow.
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m256i ints;
typedef __m256 floats;

// Eight pixels. Values are integers from 0 to 255, so that float arithmetic is exact wherever Pillow
// computes in integers.
typedef struct {
  floats r, g, b;
} rgb;

#define F(x) _mm256_set1_ps(x)
#define I(x) _mm256_set1_epi32(x)
#define LANES(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

INLINE floats truncate(floats x) { return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
INLINE floats byte(ints dwords, int k) {
  return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(dwords, 8 * k), I(255)));
}

// load reads 28 bytes.
INLINE rgb load(const uint8_t *p) {
  ints v = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)),
                                   _mm_loadu_si128((const __m128i *)(p + 12)), 1);
  const ints red = LANES(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1);
  const ints green = LANES(1, -1, -1, -1, 4, -1, -1, -1, 7, -1, -1, -1, 10, -1, -1, -1);
  const ints blue = LANES(2, -1, -1, -1, 5, -1, -1, -1, 8, -1, -1, -1, 11, -1, -1, -1);
  return (rgb){_mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, red)),
               _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, green)),
               _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, blue))};
}

INLINE void store(uint8_t *p, rgb v) {
  ints packed = _mm256_or_si256(_mm256_cvttps_epi32(v.r), _mm256_slli_epi32(_mm256_cvttps_epi32(v.g), 8));
  packed = _mm256_or_si256(packed, _mm256_slli_epi32(_mm256_cvttps_epi32(v.b), 16));
  packed = _mm256_shuffle_epi8(packed, LANES(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m128i high = _mm256_extracti128_si256(packed, 1);
  _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(packed));
  _mm_storel_epi64((__m128i *)(p + 12), high);
  const int last = _mm_extract_epi32(high, 2);
  memcpy(p + 20, &last, sizeof last);
}

// luma's sums stay below 2^24, where floats are exact.
INLINE floats luma(rgb v) {
  floats sum = _mm256_add_ps(_mm256_mul_ps(v.r, F(19595.f / 65536)), _mm256_mul_ps(v.g, F(38470.f / 65536)));
  sum = _mm256_add_ps(sum, _mm256_add_ps(_mm256_mul_ps(v.b, F(7471.f / 65536)), F(.5f)));
  return truncate(sum);
}

// mix is blend for factors of 0 to 1, which needs no clipping.
INLINE floats mix(floats a, floats b, floats factor) {
  return truncate(_mm256_add_ps(a, _mm256_mul_ps(factor, _mm256_sub_ps(b, a))));
}

INLINE floats blend(floats a, floats b, floats factor) {
  const floats v = _mm256_add_ps(a, _mm256_mul_ps(factor, _mm256_sub_ps(b, a)));
  return truncate(_mm256_min_ps(_mm256_max_ps(v, F(0)), F(255)));
}

INLINE floats shade(floats x, floats factor) {
  return truncate(_mm256_min_ps(_mm256_mul_ps(factor, x), F(255)));
}

INLINE rgb mixed(rgb v, floats grey, floats factor) {
  return (rgb){mix(grey, v.r, factor), mix(grey, v.g, factor), mix(grey, v.b, factor)};
}

INLINE rgb blended(rgb v, floats grey, floats factor) {
  return (rgb){blend(grey, v.r, factor), blend(grey, v.g, factor), blend(grey, v.b, factor)};
}

INLINE rgb shaded(rgb v, floats factor) {
  return (rgb){shade(v.r, factor), shade(v.g, factor), shade(v.b, factor)};
}

// times255 is x*255 rounded towards zero, as exact as Pillow's double: where rounding the product to
// float reached the next integer, 256x - n is less than x.
INLINE ints times255(floats x) {
  const ints n = _mm256_cvttps_epi32(_mm256_mul_ps(x, F(255)));
  const floats rest = _mm256_sub_ps(_mm256_mul_ps(x, F(256)), _mm256_cvtepi32_ps(n));
  return _mm256_add_epi32(n, _mm256_castps_si256(_mm256_cmp_ps(rest, x, _CMP_LT_OQ)));
}

// hue is Pillow's 8-bit hue, unspecified for greys. Which channels are the largest and the smallest
// decides the sixth of the circle and from where in it the middle one counts.
INLINE ints hue(rgb v, floats high, floats span) {
  const floats low = _mm256_sub_ps(high, span), all = _mm256_add_ps(_mm256_add_ps(v.r, v.g), v.b);
  const floats middle = _mm256_sub_ps(_mm256_sub_ps(all, high), low);
  const floats x = _mm256_div_ps(_mm256_sub_ps(high, middle), _mm256_max_ps(span, F(1)));
  const ints r_less_g = _mm256_castps_si256(_mm256_cmp_ps(v.r, v.g, _CMP_LT_OQ));
  const ints g_less_b = _mm256_castps_si256(_mm256_cmp_ps(v.g, v.b, _CMP_LT_OQ));
  const ints r_less_b = _mm256_castps_si256(_mm256_cmp_ps(v.r, v.b, _CMP_LT_OQ));
  const ints order =
      _mm256_or_si256(_mm256_or_si256(_mm256_and_si256(r_less_g, I(1)), _mm256_and_si256(g_less_b, I(2))),
                      _mm256_and_si256(r_less_b, I(4)));
  const floats from = _mm256_permutevar8x32_ps(_mm256_setr_ps(1, 1, -1, 0, 0, 3, 5, 3), order);
  const floats sign = _mm256_permutevar8x32_ps(_mm256_setr_ps(-0.f, 0, 0, 0, 0, -0.f, -0.f, 0), order);
  const floats wrap = _mm256_permutevar8x32_ps(_mm256_setr_ps(0, 0, 1, 0, 0, 0, 0, 0), order);
  const floats sixth = _mm256_add_ps(from, _mm256_xor_ps(x, sign));
  return times255(_mm256_add_ps(_mm256_div_ps(sixth, F(6)), wrap));
}

// colour is Pillow's hsv2rgb. The middle and the smallest value are rounded fractions of integers
// below 2^24; a test checks that floats give all of them. The sector decides which of the largest,
// middle and smallest value, a byte each, is red, green and blue.
INLINE rgb colour(ints h, floats s, floats v) {
  const ints six = _mm256_mullo_epi16(h, I(6)),
             sector = _mm256_mulhi_epu16(_mm256_add_epi32(six, I(1)), I(257));
  const ints part = _mm256_sub_epi32(six, _mm256_sub_epi32(_mm256_slli_epi32(sector, 8), sector));
  const ints even = _mm256_cmpeq_epi32(_mm256_and_si256(sector, I(1)), I(0));
  const floats side = _mm256_cvtepi32_ps(_mm256_xor_si256(part, _mm256_and_si256(even, I(255))));
  const floats share = _mm256_sub_ps(F(255 * 255), _mm256_mul_ps(s, side));
  const floats middle =
      _mm256_mul_ps(_mm256_add_ps(_mm256_mul_ps(v, share), F(255 * 255 / 2)), F(1.f / (255 * 255)));
  const floats low =
      _mm256_mul_ps(_mm256_add_ps(_mm256_mul_ps(v, _mm256_sub_ps(F(255), s)), F(127)), F(1.f / 255));
  ints bytes = _mm256_or_si256(_mm256_cvttps_epi32(v), _mm256_slli_epi32(_mm256_cvttps_epi32(middle), 8));
  bytes = _mm256_or_si256(bytes, _mm256_slli_epi32(_mm256_cvttps_epi32(low), 16));
  const ints orders =
      _mm256_setr_epi32(0x020100, 0x020001, 0x010002, 0x000102, 0x000201, 0x010200, 0x020100, 0);
  const ints pixels = LANES(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  bytes = _mm256_shuffle_epi8(bytes, _mm256_add_epi8(_mm256_permutevar8x32_epi32(orders, sector), pixels));
  return (rgb){byte(bytes, 0), byte(bytes, 1), byte(bytes, 2)};
}

INLINE rgb turn(rgb p, int shift) {
  const floats high = _mm256_max_ps(p.r, _mm256_max_ps(p.g, p.b));
  const floats span = _mm256_sub_ps(high, _mm256_min_ps(p.r, _mm256_min_ps(p.g, p.b)));
  const floats s = _mm256_cvtepi32_ps(times255(_mm256_div_ps(span, _mm256_max_ps(high, F(1)))));
  const ints h = _mm256_and_si256(_mm256_add_epi32(hue(p, high, span), I(shift)), I(255));
  return colour(h, s, high);
}

// CHUNK times eight pixels are processed at once, one change after another: their channels stay in
// the L1 cache.
enum { CHUNK = 16 };

#define EACH(expression)                                                                                     \
  {                                                                                                          \
    for (rgb *at = v; at < v + n; at++) {                                                                    \
      const rgb p = *at;                                                                                     \
      *at = expression;                                                                                      \
    }                                                                                                        \
    break;                                                                                                   \
  }

INLINE rgb grey(floats l) { return (rgb){l, l, l}; }

TARGET static void change(rgb *v, size_t n, const dsconv_change *c) {
  const floats factor = F(c->factor), mean = F((float)c->grey);
  const int shift = c->shift, within = c->factor >= 0 && c->factor <= 1;
  switch (c->kind) {
  case DSCONV_BRIGHTNESS:
    EACH(shaded(p, _mm256_max_ps(factor, F(0))))
  case DSCONV_CONTRAST:
    if (within)
      EACH(mixed(p, mean, factor))
    EACH(blended(p, mean, factor))
  case DSCONV_SATURATION:
    if (within)
      EACH(mixed(p, luma(p), factor))
    EACH(blended(p, luma(p), factor))
  case DSCONV_HUE:
    EACH(turn(p, shift))
  default:
    EACH(grey(luma(p)))
  }
}

TARGET uint64_t dsconv_enhance_avx2(uint8_t *pixels, size_t count, const dsconv_change *changes, int n,
                                    int sum) {
  ints sums = _mm256_setzero_si256();
  while (count >= 10) { // load reads past its eight
    rgb v[CHUNK];
    const size_t blocks = (count - 2) / 8 < CHUNK ? (count - 2) / 8 : CHUNK;
    for (size_t i = 0; i < blocks; i++)
      v[i] = load(pixels + 24 * i);
    for (int k = 0; k < n; k++)
      change(v, blocks, &changes[k]);
    for (size_t i = 0; i < blocks && sum; i++)
      sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_cvttps_epi32(luma(v[i])), _mm256_setzero_si256()));
    for (size_t i = 0; i < blocks && n > 0; i++)
      store(pixels + 24 * i, v[i]);
    count -= 8 * blocks;
    pixels += 24 * blocks;
  }
  uint64_t parts[4];
  _mm256_storeu_si256((ints *)parts, sums);
  return parts[0] + parts[1] + parts[2] + parts[3] + dsconv_enhance_portable(pixels, count, changes, n, sum);
}
#endif
