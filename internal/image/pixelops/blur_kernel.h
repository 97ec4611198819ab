// Blurring and sharpening 8-bit pixels: one call an image.
#ifndef DSCONV_BLUR_KERNEL_H
#define DSCONV_BLUR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

// Sizes in pixels; stride is the distance of the source's rows in bytes. The result has no gaps.
typedef struct {
  size_t stride;
  int32_t w, h, channels;
  int32_t reach_x, reach_y; // half the kernel, without its centre
  int32_t level;            // the highest level to use
} dsconv_blurring;

// dsconv_blur_scratch is how many floats of scratch memory dsconv_blur needs.
size_t dsconv_blur_scratch(const dsconv_blurring *b);

// dsconv_blur convolves with a kernel that is the product of two symmetric ones, whose weights
// begin at the centre, and rounds to the nearest, ties to even. The image is mirrored at its
// outermost pixels; a reach must be less than the size.
void dsconv_blur(const dsconv_blurring *b, uint8_t *dst, const uint8_t *src, const float *weights_x,
                 const float *weights_y, float *scratch);

// dsconv_sharpen blends the image smoothed by ImageFilter.SMOOTH with the image by factor.
void dsconv_sharpen(const dsconv_blurring *b, uint8_t *dst, const uint8_t *src, float factor);

// The functions that each level has a version of.
typedef struct {
  // vertical adds 2 * reach + 1 rows of n bytes at those offsets of src, weighted.
  void (*vertical)(float *out, const uint8_t *src, const size_t *rows, size_t n, int reach,
                   const float *weights);
  // horizontal adds neighbours at distances of step, weighted; in begins reach * step before the first.
  void (*horizontal)(uint8_t *out, const float *in, size_t n, int reach, size_t step, const float *weights);
  // sharpen computes n bytes from the row and those above and below; the outermost pixels stay.
  void (*sharpen)(uint8_t *out, const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t n,
                  size_t step, float factor);
} dsconv_blur_kernels;

extern const dsconv_blur_kernels dsconv_blur_portable, dsconv_blur_avx2;

#endif
