#include <string.h>

#include "kernels.h"

// A sum must not be fused with a product, or levels and Go would differ.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

static void vertical(float *restrict out, const uint8_t *src, const size_t *rows, size_t n, int reach,
                     const float *weights) {
  for (size_t i = 0; i < n; i++)
    out[i] = weights[0] * (float)src[rows[reach] + i];
  for (int k = 1; k <= reach; k++) {
    const uint8_t *above = src + rows[reach - k], *below = src + rows[reach + k];
    for (size_t i = 0; i < n; i++)
      out[i] += weights[k] * (float)(above[i] + below[i]);
  }
}

// A float of this size has no bits for a fraction: adding it rounds.
#define WHOLE 0x1.8p23f

static void horizontal(uint8_t *out, const float *in, size_t n, int reach, size_t step,
                       const float *weights) {
  in += (size_t)reach * step;
  for (size_t i = 0; i < n; i++) {
    float sum = weights[0] * in[i];
    for (size_t k = 1; k <= (size_t)reach; k++)
      sum += weights[k] * (in[i - k * step] + in[i + k * step]);
    out[i] = (uint8_t)(sum + WHOLE - WHOLE);
  }
}

// The smooth value is the sum / 13, rounded: never a tie, because 13 is odd.
static void sharpen(uint8_t *restrict out, const uint8_t *above, const uint8_t *row, const uint8_t *below,
                    size_t n, size_t step, float factor) {
  memcpy(out, row, step);
  for (size_t i = step; i < n - step; i++) {
    const int left = above[i - step] + row[i - step] + below[i - step];
    const int right = above[i + step] + row[i + step] + below[i + step];
    const int smooth = (left + above[i] + 5 * row[i] + below[i] + right + 6) / 13;
    const float v = (float)smooth + factor * (float)(row[i] - smooth);
    out[i] = v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)v;
  }
  memcpy(out + n - step, row + n - step, step);
}

const dsconv_blur_kernels dsconv_blur_portable = {vertical, horizontal, sharpen};
