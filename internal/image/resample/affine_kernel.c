#include "affine_kernel.h"

#include <string.h>

#include "level.h"

// A sum must not be fused with a product, or C and Go would differ.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define INLINE static inline __attribute__((always_inline))

// fetch copies pixel (x, y) of the image if it is in memory.
INLINE void fetch(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, int32_t x, int32_t y,
                  const size_t size) {
  const uint32_t column = (uint32_t)(x - q->left), row = (uint32_t)(y - q->top);
  if (column < (uint32_t)q->src_w && row < (uint32_t)q->src_h)
    memcpy(dst, src + row * q->src_stride + column * size, size);
}

// fetch_at is fetch for the pixel that contains a point.
INLINE void fetch_at(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, double x, double y,
                     const size_t size) {
  if (0 <= x && x < q->image_w && 0 <= y && y < q->image_h)
    fetch(q, dst, src, (int32_t)x, (int32_t)y, size);
}

INLINE void scaled(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const int32_t *columns,
                   const size_t size) {
  double y = q->matrix[5] + q->matrix[4] * 0.5;
  for (int32_t i = 0; i < q->y; i++)
    y += q->matrix[4]; // one by one, as Pillow rounds
  for (int32_t i = 0; i < q->h; i++, y += q->matrix[4], dst += (size_t)q->w * size) {
    if (!(0 <= y && y < q->image_h))
      continue;
    for (int32_t k = 0; k < q->w; k++)
      fetch(q, dst + (size_t)k * size, src, columns[k], (int32_t)y, size);
  }
}

INLINE void fixed(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const size_t size) {
  for (int32_t i = 0; i < q->h; i++) {
    uint32_t x = (uint32_t)q->start[0] + (uint32_t)i * (uint32_t)q->down[0];
    uint32_t y = (uint32_t)q->start[1] + (uint32_t)i * (uint32_t)q->down[1];
    for (int32_t k = 0; k < q->w; k++, dst += size) {
      fetch(q, dst, src, (int32_t)x >> 16, (int32_t)y >> 16, size);
      x += (uint32_t)q->right[0], y += (uint32_t)q->right[1];
    }
  }
}

INLINE void added(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const size_t size) {
  const double *m = q->matrix;
  double left = m[2] + m[1] * 0.5 + m[0] * 0.5, top = m[5] + m[4] * 0.5 + m[3] * 0.5;
  for (int32_t i = 0; i < q->y + q->h; i++, left += m[1], top += m[4]) {
    if (i < q->y)
      continue;
    double x = left, y = top;
    for (int32_t k = 0; k < q->x + q->w; k++, x += m[0], y += m[3])
      if (k >= q->x)
        fetch_at(q, dst, src, x, y, size), dst += size;
  }
}

INLINE void mapped(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const size_t size) {
  const double *m = q->matrix;
  for (int32_t i = 0; i < q->h; i++)
    for (int32_t k = 0; k < q->w; k++, dst += size) {
      const double x = q->x + k + 0.5, y = q->y + i + 0.5;
      fetch_at(q, dst, src, (m[0] * x + m[1] * y) + m[2], (m[3] * x + m[4] * y) + m[5], size);
    }
}

INLINE void nearest(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const int32_t *columns,
                    const size_t size) {
  switch (q->way) {
  case DSCONV_WARP_SCALED:
    scaled(q, dst, src, columns, size);
    break;
  case DSCONV_WARP_FIXED:
    fixed(q, dst, src, size);
    break;
  case DSCONV_WARP_ADDED:
    added(q, dst, src, size);
    break;
  default:
    mapped(q, dst, src, size);
  }
}

static void warp_nearest(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const int32_t *columns) {
  switch (q->pixel) {
  case 1:
    nearest(q, dst, src, columns, 1);
    break;
  case 2:
    nearest(q, dst, src, columns, 2);
    break;
  case 3:
    nearest(q, dst, src, columns, 3);
    break;
  case 4:
    nearest(q, dst, src, columns, 4);
    break;
  case 6:
    nearest(q, dst, src, columns, 6);
    break;
  default:
    nearest(q, dst, src, columns, 8);
  }
}

static dsconv_smooth_warp *smooth_warp(int level) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (level >= DSCONV_AVX2 && dsconv_level() >= DSCONV_AVX2)
    return dsconv_warp_smooth_avx2;
#endif
  (void)level;
  return dsconv_warp_smooth_portable;
}

void dsconv_warp(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const int32_t *columns) {
  if (q->way < DSCONV_WARP_BILINEAR)
    warp_nearest(q, dst, src, columns);
  else
    smooth_warp(q->level)(q, dst, src);
}
