// JPEG through libjpeg-turbo: one call an image, errors as codes and text.
#ifndef DSCONV_JPEG_TURBO_H
#define DSCONV_JPEG_TURBO_H

#include <stddef.h>
#include <stdint.h>

// What the functions return; DSCONV_WARNED may be added to DSCONV_OK.
enum {
  DSCONV_OK = 0,
  DSCONV_TRUNCATED = 1,
  DSCONV_CORRUPT = 2,
  DSCONV_MEMORY = 3,  // the machine has none, whatever the image
  DSCONV_LIBRARY = 4, // libjpeg is not the one that this was compiled for
  DSCONV_STOPPED = 5,
  DSCONV_SCANS = 6, // the image has too many
  DSCONV_WARNED = 16,
};

typedef struct dsconv_jpeg_decoder dsconv_jpeg_decoder;

dsconv_jpeg_decoder *dsconv_jpeg_decoder_new(void);
void dsconv_jpeg_decoder_free(dsconv_jpeg_decoder *d);

// What of an image is decoded, and how. The image must be w by h pixels. The part at (x, y) of
// part_w by part_h pixels is one of the image after it was made smaller by 1/scale (1, 2, 4 or
// 8); channels are 1 (grey) or 3 (RGB). fast 0 is Pillow's way; otherwise the DCT is the fast
// one and colours are not interpolated. plain leaves all to libjpeg, for tests.
typedef struct {
  uint32_t w, h, x, y, part_w, part_h;
  int channels, scale, fast, plain;
} dsconv_jpeg_request;

// dsconv_jpeg_decode decodes what r says of data[0:n] to dst, part_h rows of part_w pixels. What
// lies behind the part is not decoded and so not found to be damaged. It ends early once *stop is not
// 0; stop may be NULL.
int dsconv_jpeg_decode(dsconv_jpeg_decoder *d, const uint8_t *data, size_t n, uint8_t *dst,
                       const dsconv_jpeg_request *r, const uint32_t *stop);

// dsconv_jpeg_plain_because says why libjpeg has to do all by itself, and dsconv_jpeg_decode does not go to
// the restart markers before the part; NULL if it does.
const char *dsconv_jpeg_plain_because(void);

// The text of the last call's error or, after DSCONV_WARNED, of its first warning.
const char *dsconv_jpeg_decoder_error(dsconv_jpeg_decoder *d);
const char *dsconv_jpeg_decoder_warning(dsconv_jpeg_decoder *d);

typedef struct dsconv_jpeg_encoder dsconv_jpeg_encoder;

// dsconv_jpeg_encoder_new gives NULL where there is no memory, or, with *library not 0, where libjpeg is
// another than this was compiled for.
dsconv_jpeg_encoder *dsconv_jpeg_encoder_new(int *library);
void dsconv_jpeg_encoder_free(dsconv_jpeg_encoder *e);

// How a JPEG is written.
typedef struct {
  int quality;       // 1 to 100
  int h, v;          // sampling factors of luma where there are colours
  int optimize;      // optimal Huffman tables
  int progressive;   // and with it optimize
  unsigned interval; // MCUs between restart markers, 0 for none
} dsconv_jpeg_options;

// dsconv_jpeg_encode encodes h rows of w pixels of 1 (grey) or 3 (RGB) bytes. *out and *n
// are the file, in memory of e that the next call reuses. stop is that of dsconv_jpeg_decode.
int dsconv_jpeg_encode(dsconv_jpeg_encoder *e, const uint8_t *pix, uint32_t w, uint32_t h, int channels,
                       dsconv_jpeg_options o, const uint32_t *stop, uint8_t **out, size_t *n);
const char *dsconv_jpeg_encoder_error(dsconv_jpeg_encoder *e);

#endif
