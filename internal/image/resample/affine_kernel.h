// Affine transforms of pixels: one call an image.
#ifndef DSCONV_AFFINE_KERNEL_H
#define DSCONV_AFFINE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

// How a pixel of the result is found; see affine.go.
enum {
  DSCONV_WARP_SCALED,
  DSCONV_WARP_FIXED,
  DSCONV_WARP_ADDED,
  DSCONV_WARP_MAPPED,
  DSCONV_WARP_BILINEAR,
  DSCONV_WARP_BICUBIC,
};

// One call. The source is the part of the image that is in memory: src_w by src_h pixels, of which the
// first is (left, top) of the image. The result is the part of w by h pixels from (x, y) on.
typedef struct {
  double matrix[6];
  size_t src_stride;        // distance of rows in bytes; those of the result have no gaps
  int32_t image_w, image_h; // of the whole image
  int32_t left, top, src_w, src_h;
  int32_t x, y, w, h;
  int32_t pixel; // its size in bytes
  int32_t deep;  // 16 bits a value
  int32_t way;
  int32_t level; // the highest level to use
  int32_t start[2], right[2],
      down[2]; // of DSCONV_WARP_FIXED: x and y of the first pixel, and steps, in 16.16
} dsconv_warping;

// dsconv_warp writes the pixels that map into the image; the others keep their value. columns are the
// source columns of a row, -1 outside: of DSCONV_WARP_SCALED.
void dsconv_warp(const dsconv_warping *q, uint8_t *dst, const uint8_t *src, const int32_t *columns);

// The version of each level, for the ways that compute with real numbers.
typedef void dsconv_smooth_warp(const dsconv_warping *q, uint8_t *dst, const uint8_t *src);

extern dsconv_smooth_warp dsconv_warp_smooth_portable, dsconv_warp_smooth_avx2;

#endif
