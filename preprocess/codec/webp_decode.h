// WebP through libwebp: one call an image, no state between calls.
#ifndef DSCONV_WEBP_DECODE_H
#define DSCONV_WEBP_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum { DSCONV_WEBP_OK = 0, DSCONV_WEBP_TRUNCATED = 1, DSCONV_WEBP_CORRUPT = 2, DSCONV_WEBP_MEMORY = 3 };

// dsconv_webp_decode decodes the first frame of data[0:n] to its place in dst, h rows of w
// pixels of 3 (RGB) or 4 (RGBA) bytes, and leaves alone what is around it. A canvas of another
// size than w by h is DSCONV_WEBP_CORRUPT.
int dsconv_webp_decode(const uint8_t *data, size_t n, uint8_t *dst, uint32_t w, uint32_t h, int channels);

#endif
