// TIFF through libtiff: one call an image, no state between calls, nothing printed.
#ifndef DSCONV_TIFF_DECODE_H
#define DSCONV_TIFF_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum {
  DSCONV_TIFF_OK = 0,
  DSCONV_TIFF_TRUNCATED = 1,
  DSCONV_TIFF_CORRUPT = 2,
  DSCONV_TIFF_MEMORY = 3,
  DSCONV_TIFF_UNSUPPORTED = 4, // this libtiff has no such compression
  DSCONV_TIFF_STOPPED = 5,
};

// dsconv_tiff_request is what the caller has read in the first directory, and expects.
typedef struct {
  uint32_t w, h;      // of the image as stored
  uint64_t row;       // bytes of a row of a plane
  uint32_t planes;    // 1 if the samples of a pixel lie together
  int rgba;           // let libtiff convert the image to red, green, blue, alpha: 4 bytes a pixel
  int jpeg_rgb;       // let libjpeg convert YCbCr to red, green, blue
  uint64_t max_block; // the largest strip or tile in bytes
  uint64_t max_alloc; // what libtiff may allocate at once
} dsconv_tiff_request;

// dsconv_tiff_decode decodes the first image of data[0:n] to dst, which has room for h rows of each plane,
// one plane after the other: samples of 8 bits and more in the machine's byte order, others as they are
// packed in the file. stop, which may be NULL, ends the call between two strips or tiles once it is not 0.
// message gets what libtiff said first, "" if nothing.
int dsconv_tiff_decode(const uint8_t *data, size_t n, const dsconv_tiff_request *r, uint8_t *dst,
                       const uint32_t *stop, char message[256]);

// dsconv_tiff_has returns whether this libtiff has a compression.
int dsconv_tiff_has(int compression);

#endif
