// JPEG through libjpeg-turbo: one call an image, errors as codes and text.
#ifndef DSCONV_JPEG_TURBO_H
#define DSCONV_JPEG_TURBO_H

#include <stddef.h>
#include <stdint.h>

// What the functions return; DSCONV_WARNED may be added to DSCONV_OK.
enum { DSCONV_OK = 0, DSCONV_TRUNCATED = 1, DSCONV_CORRUPT = 2, DSCONV_WARNED = 16 };

typedef struct dsconv_jpeg_decoder dsconv_jpeg_decoder;

dsconv_jpeg_decoder *dsconv_jpeg_decoder_new(void);
void dsconv_jpeg_decoder_free(dsconv_jpeg_decoder *d);

// dsconv_jpeg_decode decodes data[0:n] to dst, h rows of w pixels of 1 (grey) or 3 (RGB)
// bytes. An image of another size than w by h is DSCONV_CORRUPT.
int dsconv_jpeg_decode(dsconv_jpeg_decoder *d, const uint8_t *data, size_t n, uint8_t *dst, uint32_t w,
                       uint32_t h, int channels);

// The text of the last call's error or, after DSCONV_WARNED, of its first warning.
const char *dsconv_jpeg_decoder_error(dsconv_jpeg_decoder *d);
const char *dsconv_jpeg_decoder_warning(dsconv_jpeg_decoder *d);

typedef struct dsconv_jpeg_encoder dsconv_jpeg_encoder;

dsconv_jpeg_encoder *dsconv_jpeg_encoder_new(void);
void dsconv_jpeg_encoder_free(dsconv_jpeg_encoder *e);

// dsconv_jpeg_encode encodes h rows of w pixels of 1 (grey) or 3 (RGB) bytes. *out and *n
// are the file, in memory of e that the next call reuses.
int dsconv_jpeg_encode(dsconv_jpeg_encoder *e, const uint8_t *pix, uint32_t w, uint32_t h, int channels,
                       int quality, uint8_t **out, size_t *n);
const char *dsconv_jpeg_encoder_error(dsconv_jpeg_encoder *e);

#endif
