// Changing the colours of 8-bit RGB pixels in place: one call an image.
#ifndef DSCONV_ENHANCE_KERNEL_H
#define DSCONV_ENHANCE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

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

#endif
