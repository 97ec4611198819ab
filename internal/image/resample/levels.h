// The functions that each level has a version of.
#ifndef DSCONV_RESAMPLE_LEVELS_H
#define DSCONV_RESAMPLE_LEVELS_H

#include "kernel.h"

// Bytes that scale may read after a source row and write after a result row: loops read and write whole
// registers.
enum { DSCONV_SLACK = 32, DSCONV_MAX_ROWS = 4 };

// Pixels are processed in groups; starts and weights are padded to the end of the last group.
enum { DSCONV_GROUP = 4 };

// The fixed point of the weights. A weight w is high * 2^15 + low with 0 <= low < 2^15, so that 16-bit
// multiplications suffice. Weights lie in pairs of neighbouring taps, two int32 a pair: both low parts,
// then both high parts.
enum { DSCONV_PRECISION = 32 - 8 - 2, DSCONV_HALF = 1 << (DSCONV_PRECISION - 1) };

// A horizontal axis: the source pixels, of in_w readable ones, and weights of each of out_w pixels. start
// counts from pixel left.
typedef struct {
  const int32_t *start, *weights;
  int taps, left, in_w, out_w, channels;
} dsconv_axis;

// Where rows of pixels are written. masks are those of arrange in store_simd.h.
typedef struct {
  const dsconv_resampling *r;
  const dsconv_values *values;
  uint8_t *dst, *scratch; // scratch: one row
  uint8_t masks[4][4][16];
} dsconv_sink;

typedef struct {
  int rows; // that scale processes at once
  void (*scale)(uint8_t *const *out, const uint8_t *const *in, const dsconv_axis *a);
  // sum computes n bytes of the weighted sum of taps rows; weights has a whole number of pairs.
  void (*sum)(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps, const int32_t *weights);
  // store writes row y if its bytes cannot just be copied.
  void (*store)(const dsconv_sink *s, int y, const uint8_t *row);
  // convert writes n values of period alternating channels.
  void (*convert)(int type, void *dst, const uint8_t *src, size_t n, int period, const dsconv_values *values,
                  int channel);
} dsconv_kernels;

extern const dsconv_kernels dsconv_portable, dsconv_avx2, dsconv_avx512;

// The position of element (x, channel) of a row, in elements.
static inline size_t dsconv_element_offset(const dsconv_resampling *r, int y, int x, int channel) {
  const size_t w = (size_t)r->out_w, c = (size_t)r->channels;
  const size_t at = (size_t)(r->flip ? r->out_w - 1 - x : x);
  if (r->planar)
    return ((size_t)channel * (size_t)r->out_h + (size_t)y) * w + at;
  return ((size_t)y * w + at) * c + (size_t)channel;
}

static inline size_t dsconv_type_size(int type) {
  return type == DSCONV_UINT8 ? 1 : type == DSCONV_FLOAT32 ? 4 : 2;
}

#endif
