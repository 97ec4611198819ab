// The two passes of resampling, for any width of registers: resample_avx2.c and
// resample_avx512.c define the operations. All of them work in lanes of 16 bytes.
//
// The sums are exact: a pair of 16-bit products fits into 32 bits. Adding the low and high parts may
// overflow in between, but is right modulo 2^32 because the true sum fits.
#include <string.h>

#include "levels.h"

// unpack_mask picks two pixels, from the one at first on, out of four: each channel's pair as
// 16 bits, c0 c0' c1 c1' c2 c2' c3 c3'.
INLINE ints unpack_mask(int channels, int first) {
  int8_t m[16];
  for (int i = 0; i < 16; i++) {
    int c = i / 4, p = first + (i / 2) % 2;
    m[i] = (int8_t)(i % 2 == 0 && c < channels ? p * channels + c : -1);
  }
  return v_lanes(_mm_loadu_si128((const __m128i *)m));
}

// pack_mask packs the channels of four pixels of four bytes.
INLINE ints pack_mask(int channels) {
  int8_t m[16];
  for (int i = 0; i < 16; i++)
    m[i] = (int8_t)(i < 4 * channels ? i / channels * 4 + i % channels : -1);
  return v_lanes(_mm_loadu_si128((const __m128i *)m));
}

// rounded is the byte of a sum: low and high parts added, without the fixed point.
INLINE ints rounded(ints low, ints high) {
  return v_right32(v_add32(low, v_left32(high, 15)), DSCONV_PRECISION);
}

// scale_pixels computes a group of pixels of ROWS rows at a time, one row in each lane, so that the
// weights are read once for all of them. It reads up to 14 bytes past the end of a row and writes up to
// 28 past the end of out.
INLINE void scale_pixels(uint8_t *const *out, const uint8_t *const *in, const dsconv_axis *a, int channels,
                         int taps) {
  const ints first = unpack_mask(channels, 0), second = unpack_mask(channels, 2),
             packed = pack_mask(channels);
  const int32_t *start = a->start, *w = a->weights;
  for (int x = 0; x < a->out_w; x += DSCONV_GROUP, start += DSCONV_GROUP) {
    ints sums[VECTORS][DSCONV_GROUP];
    for (int i = 0; i < DSCONV_GROUP; i++) {
      size_t at = (size_t)(start[i] - a->left) * (size_t)channels;
      ints low[VECTORS], high[VECTORS];
      for (int j = 0; j < VECTORS; j++)
        low[j] = v_set32(DSCONV_HALF), high[j] = v_zero();
      for (int k = 0; k < taps; k += 2, w += 2) {
        const ints w0 = v_set32(w[0]), w1 = v_set32(w[1]);
        for (int j = 0; j < VECTORS; j++) {
          const ints p = v_shuffle(v_rows(in + j * LANES, at), k & 2 ? second : first);
          low[j] = v_add32(low[j], v_madd(p, w0));
          high[j] = v_add32(high[j], v_madd(p, w1));
        }
        at += k & 2 ? 4 * (size_t)channels : 0;
      }
      for (int j = 0; j < VECTORS; j++)
        sums[j][i] = rounded(low[j], high[j]);
    }
    for (int j = 0; j < VECTORS; j++) {
      const ints *s = sums[j], r = v_packus16(v_packs32(s[0], s[1]), v_packs32(s[2], s[3]));
      v_store_rows(out + j * LANES, (size_t)x * (size_t)channels, v_shuffle(r, packed));
    }
  }
}

// scale gives the compiler constants for the common cases.
TARGET static void scale(uint8_t *const *out, const uint8_t *const *in, const dsconv_axis *a) {
  switch (a->channels == 3 ? a->taps : 0) {
  case 2:
    scale_pixels(out, in, a, 3, 2);
    break;
  case 4:
    scale_pixels(out, in, a, 3, 4);
    break;
  case 6:
    scale_pixels(out, in, a, 3, 6);
    break;
  case 8:
    scale_pixels(out, in, a, 3, 8);
    break;
  default:
    scale_pixels(out, in, a, a->channels, a->taps);
  }
}

// sum_block computes BYTES bytes from taps rows, in pairs.
INLINE void sum_block(uint8_t *out, const uint8_t *rows, size_t stride, int taps, int pairs,
                      const int32_t *w) {
  const ints zero = v_zero(), half = v_set32(DSCONV_HALF);
  ints low[4] = {half, half, half, half}, high[4] = {zero, zero, zero, zero};
  for (int i = 0; i < pairs; i++, w += 2) {
    // The weight of a missing last row is 0.
    const uint8_t *in = rows + 2 * (size_t)i * stride, *next = 2 * i + 1 < taps ? in + stride : in;
    const ints a = v_load(in), b = v_load(next), w0 = v_set32(w[0]), w1 = v_set32(w[1]);
    const ints ab[2] = {v_low8(a, b), v_high8(a, b)};
    for (int j = 0; j < 4; j++) {
      ints v = j & 1 ? v_high8(ab[j / 2], zero) : v_low8(ab[j / 2], zero);
      low[j] = v_add32(low[j], v_madd(v, w0));
      high[j] = v_add32(high[j], v_madd(v, w1));
    }
  }
  for (int j = 0; j < 4; j++)
    low[j] = rounded(low[j], high[j]);
  v_store(out, v_packus16(v_packs32(low[0], low[1]), v_packs32(low[2], low[3])));
}

// sum_blocks computes n >= BYTES bytes; the last block overlaps the one before.
INLINE void sum_blocks(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps, int pairs,
                       const int32_t *w) {
  for (size_t x = 0; x + BYTES <= n; x += BYTES)
    sum_block(out + x, rows + x, stride, taps, pairs, w);
  if (n % BYTES != 0)
    sum_block(out + n - BYTES, rows + n - BYTES, stride, taps, pairs, w);
}

TARGET static void sum(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps,
                       const int32_t *weights) {
  if (n < BYTES) {
    dsconv_portable.sum(out, rows, stride, n, taps, weights);
    return;
  }
  // Weights at the ends are often 0.
  for (; taps > 2 && (weights[0] | weights[1]) == 0; taps -= 2, weights += 2)
    rows += 2 * stride;
  int pairs = (taps + 1) / 2;
  for (; pairs > 1 && (weights[2 * pairs - 2] | weights[2 * pairs - 1]) == 0; pairs--)
    taps = 2 * pairs - 2;
  switch (pairs) {
  case 1:
    sum_blocks(out, rows, stride, n, taps, 1, weights);
    break;
  case 2:
    sum_blocks(out, rows, stride, n, taps, 2, weights);
    break;
  case 3:
    sum_blocks(out, rows, stride, n, taps, 3, weights);
    break;
  default:
    sum_blocks(out, rows, stride, n, taps, pairs, weights);
  }
}
