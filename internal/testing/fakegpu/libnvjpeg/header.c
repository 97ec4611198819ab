// Reading a JPEG's markers.
#include <string.h>

#include "fakenv.h"

static unsigned word(const unsigned char *p) { return (unsigned)p[0] << 8 | p[1]; }

static int subsampling(const struct header *h) {
  if (h->components == 1)
    return NV_CSS_GRAY;
  if (h->components != 3 || h->factors[1].h != 1 || h->factors[1].v != 1 || h->factors[2].h != 1 ||
      h->factors[2].v != 1)
    return NV_CSS_UNKNOWN;
  static const struct {
    unsigned h, v;
    int css;
  } all[] = {{1, 1, NV_CSS_444}, {2, 1, NV_CSS_422}, {2, 2, NV_CSS_420}, {1, 2, NV_CSS_440},
             {4, 1, NV_CSS_411}, {4, 2, NV_CSS_410}, {2, 4, NV_CSS_410V}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].h == h->factors[0].h && all[i].v == h->factors[0].v)
      return all[i].css;
  return NV_CSS_UNKNOWN;
}

static int frame(struct header *h, int marker, const unsigned char *p, size_t n) {
  if (n < 6)
    return NV_BAD_JPEG;
  h->encoding = marker;
  h->precision = p[0];
  h->height = word(p + 1);
  h->width = word(p + 3);
  h->components = p[5];
  if (!h->width || !h->height || !h->components || h->components > 4 || n < 6 + 3 * (size_t)h->components)
    return NV_BAD_JPEG;
  for (unsigned i = 0; i < h->components; i++) {
    h->factors[i].h = p[6 + 3 * i + 1] >> 4;
    h->factors[i].v = p[6 + 3 * i + 1] & 15;
    if (!h->factors[i].h || !h->factors[i].v || h->factors[i].h > 4 || h->factors[i].v > 4)
      return NV_BAD_JPEG;
  }
  h->css = subsampling(h);
  return NV_OK;
}

// The EXIF orientation in the bytes of a TIFF structure; 0 if there is none.
static int orientation(const unsigned char *p, size_t n) {
  if (n < 14)
    return 0;
  bool little = p[0] == 'I';
#define W(at) ((unsigned)(little ? p[at] | p[(at) + 1] << 8 : p[at] << 8 | p[(at) + 1]))
  size_t at = little ? W(4) : W(6);
  if (at + 2 > n)
    return 0;
  for (unsigned i = 0, entries = W(at); i < entries && at + 2 + 12 * (i + 1) <= n; i++)
    if (W(at + 2 + 12 * i) == 0x112)
      return (int)W(at + 2 + 12 * i + 8);
#undef W
  return 0;
}

static bool is_frame(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// The markers up to the first scan.
int fake_header(const unsigned char *data, size_t size, struct header *h) {
  memset(h, 0, sizeof *h);
  h->css = NV_CSS_UNKNOWN;
  if (size < 4)
    return NV_INCOMPLETE_BITSTREAM;
  if (data[0] != 0xFF || data[1] != 0xD8)
    return NV_BAD_JPEG;
  for (size_t at = 2;;) {
    while (at < size && data[at] == 0xFF && at + 1 < size && data[at + 1] == 0xFF)
      at++;
    if (at + 4 > size)
      return NV_INCOMPLETE_BITSTREAM;
    if (data[at] != 0xFF)
      return NV_BAD_JPEG;
    int marker = data[at + 1], status = NV_OK;
    size_t n = word(data + at + 2);
    if (marker == 0xD9 || n < 2)
      return NV_BAD_JPEG;
    if (at + 2 + n > size)
      return NV_INCOMPLETE_BITSTREAM;
    const unsigned char *p = data + at + 4;
    n -= 2;
    if (marker == 0xDA) {
      h->scan_components = n ? p[0] : 0;
      return h->encoding ? NV_OK : NV_BAD_JPEG;
    }
    if (is_frame(marker))
      status = h->encoding ? NV_BAD_JPEG : frame(h, marker, p, n);
    else if (marker == 0xE1 && n > 6 && !memcmp(p, "Exif\0\0", 6))
      h->orientation = orientation(p + 6, n - 6);
    if (status)
      return status;
    at += 4 + n;
  }
}
