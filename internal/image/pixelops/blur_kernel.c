#include "kernels.h"

#include <string.h>

#include "../resample/level.h"

static const dsconv_blur_kernels *kernels(int level) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (level >= DSCONV_AVX2 && dsconv_level() >= DSCONV_AVX2)
    return &dsconv_blur_avx2;
#endif
  (void)level;
  return &dsconv_blur_portable;
}

static size_t row_size(const dsconv_blurring *b) { return (size_t)b->w * (size_t)b->channels; }

static size_t margin(const dsconv_blurring *b) { return (size_t)b->reach_x * (size_t)b->channels; }

// The scratch memory holds a row of floats, then the offsets of the rows of a sum.
static size_t row_floats(const dsconv_blurring *b) { return (row_size(b) + 2 * margin(b) + 1) / 2 * 2; }

size_t dsconv_blur_scratch(const dsconv_blurring *b) {
  const size_t rows = 2 * (size_t)b->reach_y + 1;
  return row_floats(b) + rows * (sizeof(size_t) / sizeof(float));
}

// mirrored returns the row or column i of n, mirrored at the edges.
static size_t mirrored(int i, int n) { return (size_t)(i < 0 ? -i : i < n ? i : 2 * (n - 1) - i); }

// mirror fills the margins of a row.
static void mirror(const dsconv_blurring *b, float *row) {
  const size_t c = (size_t)b->channels, pixel = c * sizeof(float);
  for (int i = 1; i <= b->reach_x; i++) {
    memcpy(row - (size_t)i * c, row + mirrored(-i, b->w) * c, pixel);
    memcpy(row + (size_t)(b->w - 1 + i) * c, row + mirrored(b->w - 1 + i, b->w) * c, pixel);
  }
}

void dsconv_blur(const dsconv_blurring *b, uint8_t *dst, const uint8_t *src, const float *weights_x,
                 const float *weights_y, float *scratch) {
  const dsconv_blur_kernels *k = kernels(b->level);
  size_t *rows = (size_t *)(scratch + row_floats(b));
  float *row = scratch + margin(b);
  for (int y = 0; y < b->h; y++, dst += row_size(b)) {
    for (int i = -b->reach_y; i <= b->reach_y; i++)
      rows[i + b->reach_y] = mirrored(y + i, b->h) * b->stride;
    k->vertical(row, src, rows, row_size(b), b->reach_y, weights_y);
    mirror(b, row);
    k->horizontal(dst, scratch, row_size(b), b->reach_x, (size_t)b->channels, weights_x);
  }
}

void dsconv_sharpen(const dsconv_blurring *b, uint8_t *dst, const uint8_t *src, float factor) {
  const dsconv_blur_kernels *k = kernels(b->level);
  for (int y = 0; y < b->h; y++, dst += row_size(b), src += b->stride)
    if (y == 0 || y == b->h - 1 || b->w < 3)
      memcpy(dst, src, row_size(b));
    else
      k->sharpen(dst, src - b->stride, src, src + b->stride, row_size(b), (size_t)b->channels, factor);
}
