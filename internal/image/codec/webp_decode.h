// WebP through libwebp: one call an image, no state between calls.
#ifndef DSCONV_WEBP_DECODE_H
#define DSCONV_WEBP_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum { DSCONV_WEBP_OK = 0, DSCONV_WEBP_TRUNCATED = 1, DSCONV_WEBP_CORRUPT = 2, DSCONV_WEBP_MEMORY = 3 };

// dsconv_webp_decode decodes the first frame of data[0:n] to its position in dst, h rows of w pixels of 3
// (RGB) or 4 (RGBA) bytes. It does not change the pixels around the frame. It returns
// DSCONV_WEBP_CORRUPT if the canvas is not w by h.
int dsconv_webp_decode(const uint8_t *data, size_t n, uint8_t *dst, uint32_t w, uint32_t h, int channels);

#endif
