#include "resample_kernel.h"

#include <string.h>

enum { PRECISION = 32 - 8 - 2, HALF = 1 << (PRECISION - 1) };

static inline uint8_t clip8(int32_t sum) {
  sum >>= PRECISION;
  return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static inline int32_t weight(int16_t low, int16_t high) { return (int32_t)high * 32768 + low; }

// scale_row_c scales one row of in_w pixels.
static void scale_row_c(uint8_t *out, const uint8_t *row, int channels, int in_w, int out_w, int taps,
                        const int32_t *start, const int16_t *low, const int16_t *high) {
  for (int x = 0; x < out_w; x++, low += taps, high += taps) {
    const uint8_t *in = row + (size_t)start[x] * (size_t)channels;
    int n = in_w - start[x] < taps ? in_w - start[x] : taps;
    for (int c = 0; c < channels; c++) {
      int32_t sum = HALF;
      for (int k = 0; k < n; k++)
        sum += in[k * channels + c] * weight(low[k], high[k]);
      *out++ = clip8(sum);
    }
  }
}

// sum_rows_c makes bytes [from, n) of out the weighted sum of taps rows.
static void sum_rows_c(uint8_t *out, const uint8_t *rows, size_t stride, size_t from, size_t n, int taps,
                       const int16_t *low, const int16_t *high) {
  for (size_t x = from; x < n; x++) {
    int32_t sum = HALF;
    for (int k = 0; k < taps; k++)
      sum += rows[x + (size_t)k * stride] * weight(low[k], high[k]);
    out[x] = clip8(sum);
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE __attribute__((target("avx2"), always_inline)) static inline

// The sums are exact: a weight is high*2^15 + low, and a pair of 16-bit products fits into
// 32 bits; what may wrap around is the sum of the two parts, which comes out right modulo
// 2^32 because the true sum fits.

AVX2_INLINE __m256i pair(const int16_t *p) {
  int32_t v;
  memcpy(&v, p, sizeof v);
  return _mm256_set1_epi32(v);
}

AVX2_INLINE __m256i both(__m128i m) { return _mm256_broadcastsi128_si256(m); }

// unpack_mask picks two pixels, from the one at first on, out of four: each channel's pair as
// 16 bits, c0 c0' c1 c1' c2 c2' c3 c3'.
AVX2_INLINE __m256i unpack_mask(int channels, int first) {
  int8_t m[16];
  for (int i = 0; i < 16; i++) {
    int c = i / 4, p = first + (i / 2) % 2;
    m[i] = (int8_t)(i % 2 == 0 && c < channels ? p * channels + c : -1);
  }
  return both(_mm_loadu_si128((const __m128i *)m));
}

// pack_mask takes the channels of four pixels of four bytes together.
AVX2_INLINE __m256i pack_mask(int channels) {
  int8_t m[16];
  for (int i = 0; i < 16; i++)
    m[i] = (int8_t)(i < 4 * channels ? i / channels * 4 + i % channels : -1);
  return both(_mm_loadu_si128((const __m128i *)m));
}

// masks sort the channels of pixels into pairs, and back.
typedef struct {
  __m256i first, second, packed;
} masks;

// four_pixels_avx2 makes four pixels of two rows, one row in each half of the registers. It
// reads at most 28 bytes past a row's end.
AVX2_INLINE __m256i four_pixels_avx2(const uint8_t *row0, const uint8_t *row1, int channels, int taps,
                                     const int32_t *start, const int16_t *low, const int16_t *high, masks m) {
  __m256i sums[4];
  for (int i = 0; i < 4; i++, low += taps, high += taps) {
    size_t at = (size_t)start[i] * (size_t)channels;
    __m256i lo = _mm256_set1_epi32(HALF), hi = _mm256_setzero_si256();
    for (int k = 0; k < taps; k += 4, at += 4 * (size_t)channels) {
      __m256i v =
          _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(row0 + at))),
                                  _mm_loadu_si128((const __m128i *)(row1 + at)), 1);
      __m256i a = _mm256_shuffle_epi8(v, m.first), b = _mm256_shuffle_epi8(v, m.second);
      lo = _mm256_add_epi32(lo, _mm256_madd_epi16(a, pair(low + k)));
      hi = _mm256_add_epi32(hi, _mm256_madd_epi16(a, pair(high + k)));
      lo = _mm256_add_epi32(lo, _mm256_madd_epi16(b, pair(low + k + 2)));
      hi = _mm256_add_epi32(hi, _mm256_madd_epi16(b, pair(high + k + 2)));
    }
    sums[i] = _mm256_srai_epi32(_mm256_add_epi32(lo, _mm256_slli_epi32(hi, 15)), PRECISION);
  }
  __m256i r = _mm256_packus_epi16(_mm256_packs_epi32(sums[0], sums[1]), _mm256_packs_epi32(sums[2], sums[3]));
  return _mm256_shuffle_epi8(r, m.packed);
}

// scale_pixels_avx2 scales two rows at once, four pixels at a time: start and the weights go
// on to a multiple of that, and it writes up to 28 bytes past out's ends.
AVX2_INLINE void scale_pixels_avx2(uint8_t *out0, uint8_t *out1, const uint8_t *row0, const uint8_t *row1,
                                   int channels, int out_w, int taps, const int32_t *start,
                                   const int16_t *low, const int16_t *high) {
  const masks m = {unpack_mask(channels, 0), unpack_mask(channels, 2), pack_mask(channels)};
  for (int x = 0; x < out_w; x += 4, start += 4, low += 4 * taps, high += 4 * taps) {
    size_t at = (size_t)x * (size_t)channels;
    __m256i r = four_pixels_avx2(row0, row1, channels, taps, start, low, high, m);
    _mm_storeu_si128((__m128i *)(out0 + at), _mm256_castsi256_si128(r));
    _mm_storeu_si128((__m128i *)(out1 + at), _mm256_extracti128_si256(r, 1));
  }
}

// scale_two_rows_avx2 gives the compiler constants for the common cases.
AVX2 static void scale_two_rows_avx2(uint8_t *out0, uint8_t *out1, const uint8_t *row0, const uint8_t *row1,
                                     int channels, int out_w, int taps, const int32_t *start,
                                     const int16_t *low, const int16_t *high) {
  if (channels == 3 && taps == 4) {
    scale_pixels_avx2(out0, out1, row0, row1, 3, out_w, 4, start, low, high);
  } else if (channels == 3 && taps == 8) {
    scale_pixels_avx2(out0, out1, row0, row1, 3, out_w, 8, start, low, high);
  } else {
    scale_pixels_avx2(out0, out1, row0, row1, channels, out_w, taps, start, low, high);
  }
}

// sum_rows_avx2 does whole blocks of 32 bytes of sum_rows_c and says how far it came.
AVX2 static size_t sum_rows_avx2(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps,
                                 const int16_t *low, const int16_t *high) {
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(HALF);
  size_t x = 0;
  for (; x + 32 <= n; x += 32) {
    __m256i lo[4] = {half, half, half, half}, hi[4] = {zero, zero, zero, zero};
    for (int k = 0; k < taps; k += 2) {
      if ((low[k] | high[k] | low[k + 1] | high[k + 1]) == 0)
        continue;
      const uint8_t *in = rows + x + (size_t)k * stride;
      __m256i a = _mm256_loadu_si256((const __m256i *)in);
      __m256i b = k + 1 < taps ? _mm256_loadu_si256((const __m256i *)(in + stride)) : zero;
      __m256i w0 = pair(low + k), w1 = pair(high + k);
      __m256i ab[2] = {_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)};
      for (int i = 0; i < 4; i++) {
        __m256i v = i & 1 ? _mm256_unpackhi_epi8(ab[i / 2], zero) : _mm256_unpacklo_epi8(ab[i / 2], zero);
        lo[i] = _mm256_add_epi32(lo[i], _mm256_madd_epi16(v, w0));
        hi[i] = _mm256_add_epi32(hi[i], _mm256_madd_epi16(v, w1));
      }
    }
    for (int i = 0; i < 4; i++) {
      lo[i] = _mm256_srai_epi32(_mm256_add_epi32(lo[i], _mm256_slli_epi32(hi[i], 15)), PRECISION);
    }
    __m256i r = _mm256_packus_epi16(_mm256_packs_epi32(lo[0], lo[1]), _mm256_packs_epi32(lo[2], lo[3]));
    _mm256_storeu_si256((__m256i *)(out + x), r);
  }
  return x;
}

// readable gives a row that may be read DSCONV_SLACK bytes past its end: row itself or, near
// the end of the buffer, a copy.
static const uint8_t *readable(const uint8_t *row, size_t n, const uint8_t *end, uint8_t *copy) {
  if ((size_t)(end - row) >= n + DSCONV_SLACK)
    return row;
  memcpy(copy, row, n);
  return copy;
}

static void scale_rows_avx2(uint8_t *dst, size_t dst_stride, int out_w, int h, const uint8_t *src,
                            const uint8_t *end, size_t src_stride, int in_w, int channels, int taps,
                            const int32_t *start, const int16_t *low, const int16_t *high, uint8_t *pad) {
  const size_t in = (size_t)in_w * (size_t)channels, out = (size_t)out_w * (size_t)channels;
  uint8_t *const in_pad = pad + 2 * (out + DSCONV_SLACK);
  const int roomy = dst_stride >= out + DSCONV_SLACK;
  for (int y = 0; y < h; y += 2) {
    size_t row = (size_t)y, next = y + 1 < h ? row + 1 : row;
    uint8_t *out0 = roomy ? dst + row * dst_stride : pad;
    uint8_t *out1 = roomy ? dst + next * dst_stride : pad + out + DSCONV_SLACK;
    scale_two_rows_avx2(out0, out1, readable(src + row * src_stride, in, end, in_pad),
                        readable(src + next * src_stride, in, end, in_pad + in + DSCONV_SLACK), channels,
                        out_w, taps, start, low, high);
    if (!roomy) {
      memcpy(dst + row * dst_stride, out0, out);
      memcpy(dst + next * dst_stride, out1, out);
    }
  }
}

static int have_avx2(void) { return __builtin_cpu_supports("avx2"); }
#endif

void dsconv_scale_rows(uint8_t *dst, size_t dst_stride, int out_w, int h, const uint8_t *src, size_t src_len,
                       size_t src_stride, int in_w, int channels, int taps, const int32_t *start,
                       const int16_t *low, const int16_t *high, uint8_t *pad, int simd) {
#if HAVE_AVX2
  if (simd && have_avx2()) {
    scale_rows_avx2(dst, dst_stride, out_w, h, src, src + src_len, src_stride, in_w, channels, taps, start,
                    low, high, pad);
    return;
  }
#endif
  (void)src_len, (void)pad, (void)simd;
  for (int y = 0; y < h; y++, dst += dst_stride, src += src_stride) {
    scale_row_c(dst, src, channels, in_w, out_w, taps, start, low, high);
  }
}

void dsconv_sum_rows(uint8_t *dst, size_t dst_stride, size_t n, int out_h, const uint8_t *src,
                     size_t src_stride, int top, int in_h, int taps, const int32_t *start, const int16_t *low,
                     const int16_t *high, int simd) {
#if HAVE_AVX2
  simd = simd && have_avx2();
#endif
  for (int y = 0; y < out_h; y++, dst += dst_stride, low += taps, high += taps) {
    const uint8_t *rows = src + (size_t)(start[y] - top) * src_stride;
    int used = in_h - start[y] < taps ? in_h - start[y] : taps;
    size_t done = 0;
#if HAVE_AVX2
    if (simd)
      done = sum_rows_avx2(dst, rows, src_stride, n, used, low, high);
#endif
    sum_rows_c(dst, rows, src_stride, done, n, used, low, high);
  }
  (void)simd;
}
