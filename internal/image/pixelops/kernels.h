// Changing pixels: one call an image.
#ifndef DSCONV_PIXELOPS_KERNELS_H
#define DSCONV_PIXELOPS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

// Changing the colours of 8-bit RGB pixels in place.

// The changes of Go's Enhancement that mix channels or use float arithmetic.
enum { DSCONV_BRIGHTNESS = 0, DSCONV_CONTRAST = 1, DSCONV_SATURATION = 2, DSCONV_HUE = 3, DSCONV_GRAY = 4 };

// grey is the mean that a contrast blends with, filled in by dsconv_enhance; shift is for DSCONV_HUE.
typedef struct {
  int32_t kind, grey, shift;
  float factor;
} dsconv_change;

// dsconv_enhance applies n changes in order, in one pass plus one for each contrast, which needs the
// mean of the image before it.
void dsconv_enhance(uint8_t *pixels, size_t count, dsconv_change *changes, int n, int level);

// dsconv_count counts the values of each of 1 or 3 channels.
void dsconv_count(const uint8_t *pixels, size_t count, int channels, uint32_t (*counts)[256]);

// dsconv_look_up replaces each value by its channel's table.
void dsconv_look_up(uint8_t *pixels, size_t count, int channels, const uint8_t (*tables)[256]);

// The function that each level has a version of: it applies all changes to each pixel. If sum is set,
// it returns the sum of the greys of the changed pixels.
typedef uint64_t dsconv_enhancer(uint8_t *pixels, size_t count, const dsconv_change *changes, int n, int sum);

dsconv_enhancer dsconv_enhance_portable, dsconv_enhance_avx2;

// Blurring and sharpening 8-bit pixels.

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

// Blending elements of batches.

enum { DSCONV_BLEND_FLOAT32, DSCONV_BLEND_FLOAT16, DSCONV_BLEND_BFLOAT16 };

// dsconv_blend sets the first elements of dst to dst * weight + other * other_weight, rounded to their
// type after each product and after the sum. It returns their number: all except up to 7, or 0 if the
// processor lacks AVX2 or F16C.
size_t dsconv_blend(int type, void *dst, const void *other, size_t n, float weight, float other_weight);

#endif
