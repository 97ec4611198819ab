// Two-pass resampling of 8-bit pixels: one call an image.
#ifndef DSCONV_RESAMPLE_KERNEL_H
#define DSCONV_RESAMPLE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

// Bytes that the kernel may read after a row, and that the temporary rows have between them
// because it writes there.
enum { DSCONV_SLACK = 32 };

// dsconv_resample8 scales rows [top, bottom) of src, which begins at the first pixel of the
// crop and has src_len readable bytes in rows of src_stride, to out_h rows of out_w pixels.
// hor_taps == 0 or ver_taps == 0 keeps that size; not both. start, low and high are those
// of Go's coefficients. tmp has room for bottom-top rows of out_w pixels and the slack each,
// pad for two rows of in_w pixels and the slack each. simd 0 forces portable code.
void dsconv_resample8(uint8_t *dst, const uint8_t *src, size_t src_len, size_t src_stride,
                      int channels, int in_w, int top, int bottom, int out_w, int out_h,
                      int hor_taps, const int32_t *hor_start, const int16_t *hor_low, const int16_t *hor_high,
                      int ver_taps, const int32_t *ver_start, const int16_t *ver_low, const int16_t *ver_high,
                      uint8_t *tmp, uint8_t *pad, int simd);

#endif
