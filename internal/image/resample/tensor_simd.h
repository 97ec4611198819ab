// The last pass over a row, for any width of registers; see resample_simd.h.
#include "levels.h"

// arrange_block permutes 16 pixels to the order of the result: register i is written to out + i*step.
INLINE void arrange_block(uint8_t *out, size_t step, const uint8_t *in, int channels,
                          const uint8_t masks[4][4][16]) {
  __m128i v[4];
  for (int i = 0; i < channels; i++)
    v[i] = _mm_loadu_si128((const __m128i *)(in + 16 * i));
  for (int i = 0; i < channels; i++) {
    __m128i r = _mm_setzero_si128();
    for (int j = 0; j < channels; j++)
      r = _mm_or_si128(r, _mm_shuffle_epi8(v[j], _mm_loadu_si128((const __m128i *)masks[i][j])));
    _mm_storeu_si128((__m128i *)(out + (size_t)i * step), r);
  }
}

// arrange_row permutes a row of w >= 16 pixels to the order of the result: plane i at out + i*plane or, if
// plane is 0, pixel after pixel. The last block overlaps the one before.
INLINE void arrange_row(uint8_t *out, size_t plane, const uint8_t *row, size_t w, int channels, int flip,
                        const uint8_t masks[4][4][16]) {
  const size_t pixel = plane ? 1 : (size_t)channels, step = plane ? plane : 16;
  for (size_t x = 0; x < w; x += 16) {
    const size_t at = x + 16 <= w ? x : w - 16, to = flip ? w - 16 - at : at;
    arrange_block(out + to * pixel, step, row + at * (size_t)channels, channels, masks);
  }
}

// arrange gives the compiler constants for the common case.
TARGET static void arrange(uint8_t *out, size_t plane, const uint8_t *row, size_t w, int channels, int flip,
                           const uint8_t masks[4][4][16]) {
  if (channels == 3)
    arrange_row(out, plane, row, w, 3, flip, masks);
  else
    arrange_row(out, plane, row, w, channels, flip, masks);
}

// calculate is (x/255 - mean) / std. The product with an inverse in two parts is rounded as the division
// is, except for rare values, which dsconv_arithmetic_is_exact searches for.
INLINE floats calculate(floats x, floats mean, floats inverse, floats rest) {
  const float part = 1.0F / 255, more = (float)(1.0 / 255 - part);
  floats v = f_sub(f_fma(x, f_set(part), f_mul(x, f_set(more))), mean);
  return f_fma(v, inverse, f_mul(v, rest));
}

// convert_values is convert with compile-time constants; n is a multiple of period and at least
// FLOATS*period. The last block overlaps the one before.
INLINE void convert_values(int type, void *dst, const uint8_t *src, size_t n, int period,
                           const dsconv_values *values, int channel) {
  float constants[3][4 * FLOATS];
  for (int i = 0; i < FLOATS * period; i++) {
    constants[0][i] = values->mean[channel + i % period];
    constants[1][i] = values->inverse[channel + i % period];
    constants[2][i] = values->rest[channel + i % period];
  }
  floats mean[4], inverse[4], rest[4];
  for (int i = 0; i < period; i++) {
    mean[i] = f_load(constants[0] + FLOATS * i);
    inverse[i] = f_load(constants[1] + FLOATS * i);
    rest[i] = f_load(constants[2] + FLOATS * i);
  }
  const size_t block = FLOATS * (size_t)period;
  for (size_t x = 0; x < n; x += block) {
    size_t at = x + block <= n ? x : n - block;
    for (int i = 0; i < period; i++, at += FLOATS) {
      floats v = calculate(f_bytes(src + at), mean[i], inverse[i], rest[i]);
      if (type == DSCONV_FLOAT32)
        f_store32((float *)dst + at, v);
      else if (type == DSCONV_FLOAT16)
        f_store16((uint16_t *)dst + at, v);
      else
        f_store_bfloat((uint16_t *)dst + at, v);
    }
  }
}

INLINE void convert_type(int type, void *dst, const uint8_t *src, size_t n, int period,
                         const dsconv_values *values, int channel) {
  switch (period) {
  case 1:
    convert_values(type, dst, src, n, 1, values, channel);
    break;
  case 2:
    convert_values(type, dst, src, n, 2, values, channel);
    break;
  case 3:
    convert_values(type, dst, src, n, 3, values, channel);
    break;
  default:
    convert_values(type, dst, src, n, 4, values, channel);
  }
}

TARGET static void convert(int type, void *dst, const uint8_t *src, size_t n, int period,
                           const dsconv_values *values, int channel) {
  switch (type) {
  case DSCONV_FLOAT32:
    convert_type(DSCONV_FLOAT32, dst, src, n, period, values, channel);
    break;
  case DSCONV_FLOAT16:
    convert_type(DSCONV_FLOAT16, dst, src, n, period, values, channel);
    break;
  default:
    convert_type(DSCONV_BFLOAT16, dst, src, n, period, values, channel);
  }
}

// store arranges the row, if needed, and converts it.
TARGET static void store(const dsconv_sink *s, int y, const uint8_t *row) {
  const dsconv_resampling *r = s->r;
  const size_t w = (size_t)r->out_w, h = (size_t)r->out_h, c = (size_t)r->channels;
  const int bytes = r->type == DSCONV_UINT8, planes = r->planar ? r->channels : 1;
  if (w < 16 || (!bytes && !r->arithmetic)) {
    dsconv_portable.store(s, y, row);
    return;
  }
  const size_t line = w * c / (size_t)planes, plane = line * h;
  const size_t at = (size_t)y * line;
  if (r->flip || planes > 1) {
    uint8_t *out = bytes ? s->dst + at : s->scratch;
    arrange(out, !r->planar ? 0 : bytes ? plane : line, row, w, r->channels, r->flip, s->masks);
    row = out;
  }
  if (bytes)
    return;
  const size_t size = dsconv_type_size(r->type);
  for (int i = 0; i < planes; i++)
    convert(r->type, s->dst + (at + (size_t)i * plane) * size, row + (size_t)i * line, line,
            r->channels / planes, s->values, i);
}
