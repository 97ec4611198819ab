//go:build libtiff_static

// Where libtiff.a is linked in, these stand in for its decoders of JBIG and LERC, and so for the libraries
// that they need. Pillow's libtiff has neither, and no TIFF of these compressions comes this far.

#include <tiffio.h>

int TIFFInitJBIG(TIFF *t, int scheme);
int TIFFInitLERC(TIFF *t, int scheme);

int TIFFInitJBIG(TIFF *t, int scheme) {
  (void)t, (void)scheme;
  return 0;
}

int TIFFInitLERC(TIFF *t, int scheme) {
  (void)t, (void)scheme;
  return 0;
}
