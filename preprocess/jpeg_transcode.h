// Lossless transcode of a JPEG to a sequential one with restart markers: one call an image.
#ifndef DSCONV_JPEG_TRANSCODE_H
#define DSCONV_JPEG_TRANSCODE_H

#include <stddef.h>
#include <stdint.h>

// What dsconv_transcode returns.
enum {
  TRANSCODE_OK = 0,
  TRANSCODE_SOURCE = 1,  // libjpeg has an error or a warning about the source
  TRANSCODE_BEYOND = 2,  // tables or coefficients that the output cannot have
  TRANSCODE_DIFFERS = 3, // the output does not read as the source: never to be written
  TRANSCODE_MEMORY = 4,
};

typedef struct dsconv_transcoder dsconv_transcoder;

dsconv_transcoder *dsconv_transcoder_new(void);
void dsconv_transcoder_free(dsconv_transcoder *t);

// dsconv_transcode writes the coefficients of data[0:n] as one interleaved scan with a
// restart marker every interval MCUs, behind SOI and the marker segments meta. It reads
// that again and compares. *out and *out_n are in memory of t that the next call reuses.
int dsconv_transcode(dsconv_transcoder *t, const uint8_t *data, size_t n, const uint8_t *meta, size_t meta_n,
                     unsigned interval, uint8_t **out, size_t *out_n);

// The text of the last call's error or warning.
const char *dsconv_transcoder_text(dsconv_transcoder *t);

// The version of libjpeg-turbo that is built in, such as 2.1.5.
const char *dsconv_jpeg_version(void);

#endif
