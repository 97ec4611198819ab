// The bilinear and bicubic warps, for the lanes of a level: four doubles, one for each channel. Products are
// rounded before they are added, as in Go.
#include <string.h>

#include "affine_kernel.h"

// A point of the image that a pixel of the result is interpolated at: the pixels around it, and how far it
// lies past them.
typedef struct {
  size_t rows[4], columns[4]; // offsets
  double dx, dy;
} point;

static inline int32_t clamped(int32_t i, int32_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

// down is floor for numbers from -1 on.
static inline int32_t down(double v) {
  const int32_t i = (int32_t)v;
  return i - (v < (double)i);
}

// locate finds the taps x taps pixels around the point that pixel (x, y) maps to, and reports whether that
// lies in the image. Pixels outside are those at the edge.
INLINE int locate(const dsconv_warping *q, point *p, int32_t x, int32_t y, const int taps) {
  const double *m = q->matrix, fx = (double)x + 0.5, fy = (double)y + 0.5;
  const double mx = (m[0] * fx + m[1] * fy) + m[2], my = (m[3] * fx + m[4] * fy) + m[5];
  if (!(0 <= mx && mx < q->image_w && 0 <= my && my < q->image_h))
    return 0;
  const int32_t left = down(mx - 0.5), top = down(my - 0.5);
  p->dx = (mx - 0.5) - left, p->dy = (my - 0.5) - top;
  for (int i = 0; i < taps; i++) {
    p->rows[i] = (size_t)clamped(top - (taps / 2 - 1) + i - q->top, q->src_h) * q->src_stride;
    p->columns[i] = (size_t)clamped(left - (taps / 2 - 1) + i - q->left, q->src_w) * (size_t)q->pixel;
  }
  return 1;
}

INLINE lanes lerp(lanes a, lanes b, lanes d) { return l_add(a, l_mul(l_sub(b, a), d)); }

// cubic is Pillow's polynomial through four values at d past the second.
INLINE lanes cubic(lanes v1, lanes v2, lanes v3, lanes v4, lanes d) {
  const lanes p2 = l_sub(v3, v1), twice = l_mul(l_set(2), l_sub(v1, v2));
  const lanes p3 = l_sub(l_add(twice, v3), v4);
  const lanes p4 = l_add(l_sub(l_sub(v2, v1), v3), v4);
  return l_add(v2, l_mul(d, l_add(p2, l_mul(d, l_add(p3, l_mul(d, p4))))));
}

INLINE void bilinear(uint8_t *dst, const uint8_t *src, const point *p, const int channels, const int deep) {
  const uint8_t *upper = src + p->rows[0], *lower = src + p->rows[1];
  const lanes dx = l_set(p->dx);
  const lanes a =
      lerp(l_load(upper + p->columns[0], channels, deep), l_load(upper + p->columns[1], channels, deep), dx);
  const lanes b =
      lerp(l_load(lower + p->columns[0], channels, deep), l_load(lower + p->columns[1], channels, deep), dx);
  l_store(dst, lerp(a, b, l_set(p->dy)), channels, deep);
}

INLINE void bicubic(uint8_t *dst, const uint8_t *src, const point *p, const int channels, const int deep) {
  const lanes dx = l_set(p->dx);
  lanes v[4];
  for (int i = 0; i < 4; i++) {
    const uint8_t *row = src + p->rows[i];
    v[i] =
        cubic(l_load(row + p->columns[0], channels, deep), l_load(row + p->columns[1], channels, deep),
              l_load(row + p->columns[2], channels, deep), l_load(row + p->columns[3], channels, deep), dx);
  }
  l_store(dst, cubic(v[0], v[1], v[2], v[3], l_set(p->dy)), channels, deep);
}

INLINE void warp_by(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const int taps,
                    const int channels, const int deep) {
  point p;
  for (int32_t y = 0; y < q->h; y++)
    for (int32_t x = 0; x < q->w; x++, dst += channels << deep)
      if (locate(q, &p, q->x + x, q->y + y, taps))
        taps == 2 ? bilinear(dst, src, &p, channels, deep) : bicubic(dst, src, &p, channels, deep);
}

// SMOOTH compiles a loop for each number of channels.
#define SMOOTH(name, taps, deep)                                                                             \
  TARGET static void name(const dsconv_warping *q, uint8_t *dst, const uint8_t *src) {                       \
    switch (q->pixel >> (deep)) {                                                                            \
    case 1:                                                                                                  \
      warp_by(q, dst, src, taps, 1, deep);                                                                   \
      break;                                                                                                 \
    case 2:                                                                                                  \
      warp_by(q, dst, src, taps, 2, deep);                                                                   \
      break;                                                                                                 \
    case 3:                                                                                                  \
      warp_by(q, dst, src, taps, 3, deep);                                                                   \
      break;                                                                                                 \
    default:                                                                                                 \
      warp_by(q, dst, src, taps, 4, deep);                                                                   \
    }                                                                                                        \
  }

SMOOTH(bilinear8, 2, 0)
SMOOTH(bilinear16, 2, 1)
SMOOTH(bicubic8, 4, 0)
SMOOTH(bicubic16, 4, 1)

TARGET static void smooth(const dsconv_warping *q, uint8_t *dst, const uint8_t *src) {
  if (q->way == DSCONV_WARP_BILINEAR)
    (q->deep ? bilinear16 : bilinear8)(q, dst, src);
  else
    (q->deep ? bicubic16 : bicubic8)(q, dst, src);
}
