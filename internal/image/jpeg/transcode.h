// Lossless transcoding of a JPEG to a sequential one with restart markers: one call an image.
#ifndef DSCONV_JPEG_TRANSCODE_H
#define DSCONV_JPEG_TRANSCODE_H

#include "libjpeg.h"

// The return codes of dsconv_transcode in addition to those of jpeg_turbo.h, of which DSCONV_CORRUPT is an
// error or a warning about the source.
enum {
  TRANSCODE_BEYOND = 32,  // tables or coefficients that the output cannot have
  TRANSCODE_DIFFERS = 33, // the output does not read back as the source: it must not be used
};

typedef struct dsconv_transcoder dsconv_transcoder;

dsconv_transcoder *dsconv_transcoder_new(void);
void dsconv_transcoder_free(dsconv_transcoder *t);

// dsconv_transcode writes the coefficients of data[0:n] as one interleaved scan with a restart marker every
// interval MCUs, after SOI and the marker segments meta. It reads the output again and compares. *out is
// memory of t that the next call reuses, *out_n its length. stop is as in dsconv_jpeg_decode.
int dsconv_transcode(dsconv_transcoder *t, const uint8_t *data, size_t n, const uint8_t *meta, size_t meta_n,
                     unsigned interval, const uint32_t *stop, uint8_t **out, size_t *out_n);

// The text of the last call's error or warning.
const char *dsconv_transcoder_text(dsconv_transcoder *t);

// The version of libjpeg-turbo that is built in, such as 2.1.5.
const char *dsconv_jpeg_version(void);

#endif
