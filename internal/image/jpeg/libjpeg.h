// JPEG through libjpeg-turbo: one call an image, errors as codes and text.
#ifndef DSCONV_JPEG_TURBO_H
#define DSCONV_JPEG_TURBO_H

#include <stddef.h>
#include <stdint.h>

// The return codes; DSCONV_WARNED may be added to DSCONV_OK.
enum {
  DSCONV_OK = 0,
  DSCONV_TRUNCATED = 1,
  DSCONV_CORRUPT = 2,
  DSCONV_MEMORY = 3,  // out of memory
  DSCONV_LIBRARY = 4, // libjpeg is not the one this was compiled for
  DSCONV_STOPPED = 5,
  DSCONV_SCANS = 6, // the image has too many
  DSCONV_WARNED = 16,
};

typedef struct dsconv_jpeg_decoder dsconv_jpeg_decoder;

dsconv_jpeg_decoder *dsconv_jpeg_decoder_new(void);
void dsconv_jpeg_decoder_free(dsconv_jpeg_decoder *d);

// The region of an image to decode, and how. The image must be w by h pixels. It is scaled down by scale
// (1, 2, 4 or 8); the region is region_w by region_h pixels at (x, y) of the scaled image. channels is 1
// (grey) or 3 (RGB). With fast 0 the pixels are Pillow's; otherwise the DCT is the fast one and colours
// are not interpolated. libjpeg_only disables our Huffman decoder, for tests.
typedef struct {
  uint32_t w, h, x, y, region_w, region_h;
  int channels, scale, fast, libjpeg_only;
} dsconv_jpeg_request;

// dsconv_jpeg_decode decodes the region r of data[0:n] to dst, region_h rows of region_w pixels. Data after
// the region are not decoded, so that damage there is not found. It ends early once *stop is not 0; stop
// may be NULL.
int dsconv_jpeg_decode(dsconv_jpeg_decoder *d, const uint8_t *data, size_t n, uint8_t *dst,
                       const dsconv_jpeg_request *r, const uint32_t *stop);

// dsconv_jpeg_slow_reason returns the reason why libjpeg's Huffman decoder cannot be replaced, so that
// dsconv_jpeg_decode does not use restart markers; NULL if it can.
const char *dsconv_jpeg_slow_reason(void);

// The text of the last call's error or, after DSCONV_WARNED, of its first warning.
const char *dsconv_jpeg_decoder_error(dsconv_jpeg_decoder *d);
const char *dsconv_jpeg_decoder_warning(dsconv_jpeg_decoder *d);

typedef struct dsconv_jpeg_encoder dsconv_jpeg_encoder;

// dsconv_jpeg_encoder_new returns NULL if there is no memory or, with *wrong_library not 0, if libjpeg is not
// the one this was compiled for.
dsconv_jpeg_encoder *dsconv_jpeg_encoder_new(int *wrong_library);
void dsconv_jpeg_encoder_free(dsconv_jpeg_encoder *e);

// How a JPEG is written.
typedef struct {
  int quality;       // 1 to 100
  int h, v;          // sampling factors of luma where there are colours
  int optimize;      // optimal Huffman tables
  int progressive;   // implies optimize
  unsigned interval; // MCUs between restart markers, 0 for none
} dsconv_jpeg_options;

// dsconv_jpeg_encode encodes h rows of w pixels of 1 (grey) or 3 (RGB) bytes. *out is the file, in memory of
// e that the next call reuses, *n its length. stop is as in dsconv_jpeg_decode.
int dsconv_jpeg_encode(dsconv_jpeg_encoder *e, const uint8_t *pix, uint32_t w, uint32_t h, int channels,
                       dsconv_jpeg_options o, const uint32_t *stop, uint8_t **out, size_t *n);
const char *dsconv_jpeg_encoder_error(dsconv_jpeg_encoder *e);

#endif
