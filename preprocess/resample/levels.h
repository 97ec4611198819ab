// What each level of processors has a version of.
#ifndef DSCONV_RESAMPLE_LEVELS_H
#define DSCONV_RESAMPLE_LEVELS_H

#include "kernel.h"

// Bytes that may be read after a row that scale gets, and that it writes after a row that it
// makes: loops read and write whole registers.
enum { DSCONV_SLACK = 32, DSCONV_MAX_ROWS = 4 };

// Pixels come in groups of so many; starts and weights go on to the end of the last group.
enum { DSCONV_GROUP = 4 };

// The fixed point of the weights. A weight w is high * 2^15 + low with 0 <= low < 2^15, so
// that 16-bit multiplications do. Weights lie in pairs of neighbouring taps, two words each:
// both low parts, then both high parts.
enum { DSCONV_PRECISION = 32 - 8 - 2, DSCONV_HALF = 1 << (DSCONV_PRECISION - 1) };

// A horizontal axis: what of in_w readable pixels makes each of out_w pixels. start counts
// from the pixel left on.
typedef struct {
  const int32_t *start, *weights;
  int taps, left, in_w, out_w, channels;
} dsconv_axis;

// Where rows of pixels go. masks are those of dsconv_arrange.
typedef struct {
  const dsconv_resampling *r;
  const dsconv_values *values;
  uint8_t *dst, *scratch; // scratch: one row
  uint8_t masks[4][4][16];
} dsconv_sink;

typedef struct {
  int rows; // that scale takes at once
  void (*scale)(uint8_t *const *out, const uint8_t *const *in, const dsconv_axis *a);
  // sum makes n bytes of the weighted sum of taps rows; weights has a whole number of pairs.
  void (*sum)(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps, const int32_t *weights);
  // store writes row y, which is not just bytes to copy.
  void (*store)(const dsconv_sink *s, int y, const uint8_t *row);
  // convert stores n values of period channels, which follow each other in turn.
  void (*convert)(int type, void *dst, const uint8_t *src, size_t n, int period, const dsconv_values *values,
                  int channel);
} dsconv_kernels;

extern const dsconv_kernels dsconv_portable, dsconv_avx2, dsconv_avx512;

// Where element (x, channel) of a row lies, in elements.
static inline size_t dsconv_place(const dsconv_resampling *r, int y, int x, int channel) {
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
