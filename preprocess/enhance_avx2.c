#include "enhance_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

// Without fma: compilers would fuse products into sums, and round otherwise than Pillow.
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m256i ints;
typedef __m256 floats;

// Eight pixels. Values are whole and from 0 to 255, so that float arithmetic on them is exact
// wherever Pillow's is in integers.
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
  return (rgb){_mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, red)), _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, green)),
               _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, blue))};
}

INLINE void store(uint8_t *p, rgb v) {
  ints packed = _mm256_or_si256(_mm256_cvttps_epi32(v.r), _mm256_slli_epi32(_mm256_cvttps_epi32(v.g), 8));
  packed = _mm256_or_si256(packed, _mm256_slli_epi32(_mm256_cvttps_epi32(v.b), 16));
  packed = _mm256_shuffle_epi8(packed, LANES(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m128i high = _mm256_extracti128_si256(packed, 1);
  _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(packed));
  _mm_storel_epi64((__m128i *)(p + 12), high);
  _mm_storeu_si32(p + 20, _mm_shuffle_epi32(high, 2));
}

// luma's sums stay below 2^24, where floats are exact.
INLINE floats luma(rgb v) {
  floats sum = _mm256_add_ps(_mm256_mul_ps(v.r, F(19595.f / 65536)), _mm256_mul_ps(v.g, F(38470.f / 65536)));
  sum = _mm256_add_ps(sum, _mm256_add_ps(_mm256_mul_ps(v.b, F(7471.f / 65536)), F(.5f)));
  return truncate(sum);
}

INLINE floats blend(floats a, floats b, floats factor) {
  floats v = _mm256_add_ps(a, _mm256_mul_ps(factor, _mm256_sub_ps(b, a)));
  return truncate(_mm256_min_ps(_mm256_max_ps(v, F(0)), F(255)));
}

INLINE rgb blend_all(rgb v, floats grey, float factor) {
  return (rgb){blend(grey, v.r, F(factor)), blend(grey, v.g, F(factor)), blend(grey, v.b, F(factor))};
}

// times255 is x*255 rounded towards zero, the product being exact as Pillow's double is:
// where its rounding to float reached the next number, 256x - n is less than x.
INLINE ints times255(floats x) {
  const ints n = _mm256_cvttps_epi32(_mm256_mul_ps(x, F(255)));
  const floats rest = _mm256_sub_ps(_mm256_mul_ps(x, F(256)), _mm256_cvtepi32_ps(n));
  return _mm256_add_epi32(n, _mm256_castps_si256(_mm256_cmp_ps(rest, x, _CMP_LT_OQ)));
}

// hue is Pillow's 8-bit hue, anything for greys. Which channel is the largest and which the
// least gives the sixth of the circle and where in it the middle one counts from.
INLINE ints hue(rgb v, floats high, floats span) {
  const floats low = _mm256_sub_ps(high, span), all = _mm256_add_ps(_mm256_add_ps(v.r, v.g), v.b);
  const floats middle = _mm256_sub_ps(_mm256_sub_ps(all, high), low);
  const floats x = _mm256_div_ps(_mm256_sub_ps(high, middle), _mm256_max_ps(span, F(1)));
  const ints r_less_g = _mm256_castps_si256(_mm256_cmp_ps(v.r, v.g, _CMP_LT_OQ));
  const ints g_less_b = _mm256_castps_si256(_mm256_cmp_ps(v.g, v.b, _CMP_LT_OQ));
  const ints r_less_b = _mm256_castps_si256(_mm256_cmp_ps(v.r, v.b, _CMP_LT_OQ));
  const ints order = _mm256_or_si256(
      _mm256_or_si256(_mm256_and_si256(r_less_g, I(1)), _mm256_and_si256(g_less_b, I(2))), _mm256_and_si256(r_less_b, I(4)));
  const floats from = _mm256_permutevar8x32_ps(_mm256_setr_ps(1, 1, -1, 0, 0, 3, 5, 3), order);
  const floats sign = _mm256_permutevar8x32_ps(_mm256_setr_ps(-0.f, 0, 0, 0, 0, -0.f, -0.f, 0), order);
  const floats wrap = _mm256_permutevar8x32_ps(_mm256_setr_ps(0, 0, 1, 0, 0, 0, 0, 0), order);
  const floats sixth = _mm256_add_ps(from, _mm256_xor_ps(x, sign));
  return times255(_mm256_add_ps(_mm256_div_ps(sixth, F(6)), wrap));
}

// rounded is v * (1 - s * side) for four pixels, calculated in double as Pillow does.
INLINE __m128i rounded(__m128 v, __m128 s, __m128 part, __m128 odd) {
  const __m256d one = _mm256_set1_pd(1), inside = _mm256_cvtps_pd(part);
  const __m256d mask = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_castps_si128(odd)));
  const __m256d side = _mm256_blendv_pd(_mm256_sub_pd(one, inside), inside, mask);
  const __m256d share = _mm256_sub_pd(one, _mm256_mul_pd(_mm256_cvtps_pd(s), side));
  return _mm256_cvttpd_epi32(_mm256_add_pd(_mm256_mul_pd(_mm256_cvtps_pd(v), share), _mm256_set1_pd(.5)));
}

#define LOW(x) _mm256_castps256_ps128(x)
#define HIGH(x) _mm256_extractf128_ps(x, 1)

// colour is Pillow's hsv2rgb. Of the largest value, the least and the middle one, a byte
// each, sectors choose which is red, green and blue.
INLINE rgb colour(ints h, floats s, floats v) {
  const ints six = _mm256_mullo_epi16(h, I(6)), sector = _mm256_mulhi_epu16(_mm256_add_epi32(six, I(1)), I(257));
  const ints above = _mm256_sub_epi32(six, _mm256_sub_epi32(_mm256_slli_epi32(sector, 8), sector));
  const floats part = _mm256_div_ps(_mm256_cvtepi32_ps(above), F(255)), odd = _mm256_castsi256_ps(_mm256_slli_epi32(sector, 31));
  const floats signs = _mm256_castsi256_ps(_mm256_srai_epi32(_mm256_castps_si256(odd), 31));
  const floats fs = _mm256_div_ps(s, F(255));
  const ints middle = _mm256_inserti128_si256(
      _mm256_castsi128_si256(rounded(LOW(v), LOW(fs), LOW(part), LOW(signs))),
      rounded(HIGH(v), HIGH(fs), HIGH(part), HIGH(signs)), 1);
  const ints low = _mm256_cvttps_epi32(_mm256_add_ps(_mm256_mul_ps(v, _mm256_sub_ps(F(1), fs)), F(.5f)));
  ints made = _mm256_or_si256(_mm256_cvttps_epi32(v), _mm256_slli_epi32(middle, 8));
  made = _mm256_or_si256(made, _mm256_slli_epi32(low, 16));
  const ints orders = _mm256_setr_epi32(0x020100, 0x020001, 0x010002, 0x000102, 0x000201, 0x010200, 0x020100, 0);
  const ints pixels = LANES(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  made = _mm256_shuffle_epi8(made, _mm256_add_epi8(_mm256_permutevar8x32_epi32(orders, sector), pixels));
  return (rgb){byte(made, 0), byte(made, 1), byte(made, 2)};
}

INLINE rgb turn(rgb p, int shift) {
  const floats high = _mm256_max_ps(p.r, _mm256_max_ps(p.g, p.b));
  const floats span = _mm256_sub_ps(high, _mm256_min_ps(p.r, _mm256_min_ps(p.g, p.b)));
  const floats s = _mm256_cvtepi32_ps(times255(_mm256_div_ps(span, _mm256_max_ps(high, F(1)))));
  const ints h = _mm256_and_si256(_mm256_add_epi32(hue(p, high, span), I(shift)), I(255));
  return colour(h, s, high);
}

// CHUNK pixels are changed at a time, by one change after another: their channels stay in
// the innermost cache.
enum { CHUNK = 16 };

#define EACH(expression)                                                                                     \
  for (rgb *at = v; at < v + CHUNK; at++) {                                                                  \
    const rgb p = *at;                                                                                       \
    *at = expression;                                                                                        \
  }                                                                                                          \
  break

INLINE rgb grey(floats l) { return (rgb){l, l, l}; }

TARGET static void change(rgb *v, const dsconv_change *c) {
  const float factor = c->factor, mean = (float)c->grey;
  const int shift = c->shift;
  switch (c->kind) {
  case DSCONV_BRIGHTNESS:
    EACH(blend_all(p, F(0), factor));
  case DSCONV_CONTRAST:
    EACH(blend_all(p, F(mean), factor));
  case DSCONV_SATURATION:
    EACH(blend_all(p, luma(p), factor));
  case DSCONV_HUE:
    EACH(turn(p, shift));
  default:
    EACH(grey(luma(p)));
  }
}

TARGET uint64_t dsconv_enhance_avx2(uint8_t *pixels, size_t count, const dsconv_change *changes, int n, int sum) {
  ints sums = _mm256_setzero_si256();
  for (; count >= CHUNK * 8 + 2; count -= CHUNK * 8, pixels += CHUNK * 24) {
    rgb v[CHUNK];
    for (int i = 0; i < CHUNK; i++)
      v[i] = load(pixels + 24 * i);
    for (int k = 0; k < n; k++)
      change(v, &changes[k]);
    for (int i = 0; i < CHUNK && sum; i++)
      sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_cvttps_epi32(luma(v[i])), _mm256_setzero_si256()));
    for (int i = 0; i < CHUNK && n; i++)
      store(pixels + 24 * i, v[i]);
  }
  uint64_t parts[4];
  _mm256_storeu_si256((ints *)parts, sums);
  return parts[0] + parts[1] + parts[2] + parts[3] + dsconv_enhance_portable(pixels, count, changes, n, sum);
}
#endif
