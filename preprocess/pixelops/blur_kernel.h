// Blurring and sharpening 8-bit pixels: one call an image.
#ifndef DSCONV_BLUR_KERNEL_H
#define DSCONV_BLUR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

// Sizes in pixels; stride is from row to row of the source, in bytes. The result has no gaps.
typedef struct {
  size_t stride;
  int32_t w, h, channels;
  int32_t reach_x, reach_y; // of the kernel on each side
  int32_t level;            // the highest to use
} dsconv_blurring;

// dsconv_blur_scratch is how many floats of memory dsconv_blur needs besides.
size_t dsconv_blur_scratch(const dsconv_blurring *b);

// dsconv_blur convolves with a kernel that is the product of two symmetric ones, whose weights
// are given from the middle on, and rounds to the nearest, ties to even. Outside, the image is
// mirrored at its outermost pixels; a reach must be less than the size.
void dsconv_blur(const dsconv_blurring *b, uint8_t *dst, const uint8_t *src, const float *weights_x,
                 const float *weights_y, float *scratch);

// dsconv_sharpen blends the image smoothed by ImageFilter.SMOOTH with the image by factor.
void dsconv_sharpen(const dsconv_blurring *b, uint8_t *dst, const uint8_t *src, float factor);

// What each level of processors has a version of.
typedef struct {
  // vertical adds up 2 * reach + 1 rows of n bytes, which begin at those places of src.
  void (*vertical)(float *out, const uint8_t *src, const size_t *rows, size_t n, int reach,
                   const float *weights);
  // horizontal adds up neighbours step apart; in begins reach * step before the first.
  void (*horizontal)(uint8_t *out, const float *in, size_t n, int reach, size_t step, const float *weights);
  // sharpen makes n bytes of the row and those above and below; the outermost pixels stay.
  void (*sharpen)(uint8_t *out, const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t n,
                  size_t step, float factor);
} dsconv_blur_kernels;

extern const dsconv_blur_kernels dsconv_blur_portable, dsconv_blur_avx2;

#endif
