// The two passes of resampling 8-bit pixels, each one call an image.
#ifndef DSCONV_RESAMPLE_KERNEL_H
#define DSCONV_RESAMPLE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

// Bytes that the kernel may read after a row that is not the last of its buffer, and that it
// writes after a row of dst where dst_stride leaves room for them, which is faster.
enum { DSCONV_SLACK = 32 };

// In both, rows begin a stride of bytes apart; taps, start, low and high are those of Go's
// coefficients; simd 0 forces portable code.

// dsconv_scale_rows scales h rows of in_w pixels to out_w pixels. src has src_len readable
// bytes; pad has room for two rows of in_w pixels, two of out_w, and the slack of each.
void dsconv_scale_rows(uint8_t *dst, size_t dst_stride, int out_w, int h, const uint8_t *src, size_t src_len,
                       size_t src_stride, int in_w, int channels, int taps, const int32_t *start,
                       const int16_t *low, const int16_t *high, uint8_t *pad, int simd);

// dsconv_sum_rows makes out_h rows of n bytes of the rows of an image of in_h rows, of which
// src begins at row top and ends no sooner than start and taps lead.
void dsconv_sum_rows(uint8_t *dst, size_t dst_stride, size_t n, int out_h, const uint8_t *src,
                     size_t src_stride, int top, int in_h, int taps, const int32_t *start, const int16_t *low,
                     const int16_t *high, int simd);

#endif
