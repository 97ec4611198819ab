#include "levels.h"

static uint8_t clip8(int32_t sum) {
  sum >>= DSCONV_PRECISION;
  return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

// weight is number k of a pixel's weights.
static int32_t weight(const int32_t *weights, int k) {
  const int32_t *pair = weights + (k & ~1);
  int16_t low = (int16_t)(pair[0] >> 16 * (k & 1)), high = (int16_t)(pair[1] >> 16 * (k & 1));
  return (int32_t)high * 32768 + low;
}

static void scale(uint8_t *const *out, const uint8_t *const *in, const dsconv_axis *a) {
  const int32_t *weights = a->weights;
  uint8_t *to = *out;
  for (int x = 0; x < a->out_w; x++, weights += a->taps) {
    const int first = a->start[x] - a->left, left = a->in_w - first;
    const uint8_t *from = *in + (size_t)first * (size_t)a->channels;
    for (int c = 0; c < a->channels; c++) {
      int32_t sum = DSCONV_HALF;
      for (int k = 0; k < a->taps && k < left; k++)
        sum += from[k * a->channels + c] * weight(weights, k);
      *to++ = clip8(sum);
    }
  }
}

static void sum(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps,
                const int32_t *weights) {
  for (size_t x = 0; x < n; x++) {
    int32_t sum = DSCONV_HALF;
    for (int k = 0; k < taps; k++)
      sum += rows[x + (size_t)k * stride] * weight(weights, k);
    out[x] = clip8(sum);
  }
}

static void put(void *dst, size_t at, int type, uint8_t v, const uint32_t *table) {
  switch (type) {
  case DSCONV_UINT8:
    ((uint8_t *)dst)[at] = v;
    break;
  case DSCONV_FLOAT32:
    ((uint32_t *)dst)[at] = table[v];
    break;
  default:
    ((uint16_t *)dst)[at] = (uint16_t)table[v];
  }
}

static void store(const dsconv_sink *s, int y, const uint8_t *row) {
  const dsconv_resampling *r = s->r;
  for (int c = 0; c < r->channels; c++) {
    const uint32_t *table = s->values ? s->values->table[c] : NULL;
    for (int x = 0; x < r->out_w; x++)
      put(s->dst, dsconv_element_offset(r, y, x, c), r->type, row[x * r->channels + c], table);
  }
}

static void convert(int type, void *dst, const uint8_t *src, size_t n, int period,
                    const dsconv_values *values, int channel) {
  for (size_t i = 0; i < n; i++)
    put(dst, i, type, src[i], values->table[channel + (int)(i % (size_t)period)]);
}

const dsconv_kernels dsconv_portable = {1, scale, sum, store, convert};
