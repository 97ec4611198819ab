// Resampling 8-bit pixels and writing them to a batch: one call an image.
#ifndef DSCONV_RESAMPLE_KERNEL_H
#define DSCONV_RESAMPLE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "level.h"

// The element types of a batch.
enum { DSCONV_UINT8 = 0, DSCONV_FLOAT32 = 1, DSCONV_FLOAT16 = 2, DSCONV_BFLOAT16 = 3 };

// How the values 0 to 255 of each channel are converted. table has the bits of the results, in the low
// half if the type has 16: ((v/255) - mean) / std in float32, then rounded to the type. inverse and rest
// are 1/std as a sum of two floats.
typedef struct {
  float mean[4], inverse[4], rest[4];
  uint32_t table[4][256];
} dsconv_values;

// One call: the source, the size of the result and how it is written.
typedef struct {
  size_t src_len, src_stride; // readable bytes from the first pixel on; distance of rows
  int32_t in_w, in_h;         // of the source
  int32_t out_w, out_h;       // of the result
  int32_t channels;           // 1 to 4
  int32_t hor_taps, ver_taps; // of the coefficients; 0 if that size stays
  int32_t vertical_first;
  int32_t type;       // element type
  int32_t planar;     // NCHW instead of NHWC
  int32_t flip;       // left to right
  int32_t flip_v;     // top to bottom
  int32_t arithmetic; // whether arithmetic gives exactly the values of the table
  int32_t level;      // the highest level to use
} dsconv_resampling;

// dsconv_scratch is how much scratch memory dsconv_resample needs.
size_t dsconv_scratch(const dsconv_resampling *r);

// dsconv_resample writes out_w * out_h * channels elements to dst. The starts and weights of
// both directions are those of Go's coefficients from the first needed pixel on; values may be NULL for
// DSCONV_UINT8.
void dsconv_resample(const dsconv_resampling *r, void *dst, const uint8_t *src, const int32_t *hor_start,
                     const int32_t *hor_weights, const int32_t *ver_start, const int32_t *ver_weights,
                     const dsconv_values *values, uint8_t *scratch);

// dsconv_arithmetic_is_exact reports whether the kernels' arithmetic gives the same as the table, in every
// bit.
int dsconv_arithmetic_is_exact(const dsconv_values *values, int channels, int type, int level);

#endif
