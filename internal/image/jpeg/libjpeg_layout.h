// Checks whether the loaded libjpeg has the layout of its header jpegint.h at compile time. That header
// is private: libraries with the same soname differ in it.
#ifndef DSCONV_JPEG_LAYOUT_H
#define DSCONV_JPEG_LAYOUT_H

#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#if defined(__has_include) && defined(LIBJPEG_TURBO_VERSION_NUMBER) &&                                       \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#if __has_include(<jpegint.h>) && LIBJPEG_TURBO_VERSION_NUMBER >= 2000000 && defined(__GNUC__)
#define CAN_ATTACH 1
#endif
#endif

// dsconv_jpeg_layout_differs returns the reason why libjpeg's Huffman decoder cannot be replaced, or NULL
// if it can. It tries it out once.
const char *dsconv_jpeg_layout_differs(void);

#endif
