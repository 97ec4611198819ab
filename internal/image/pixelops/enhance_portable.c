#include "kernels.h"

// luma is Pillow's L of an RGB pixel.
static int luma(const uint8_t *p) { return (p[0] * 19595 + p[1] * 38470 + p[2] * 7471 + 0x8000) >> 16; }

// blend is Pillow's ImagingBlend. The cast of the product keeps compilers from fusing it into
// the sum, and rounds as a product of floats does.
static uint8_t blend(int a, int b, float factor) {
  float v = (float)a + (float)((double)factor * (b - a));
  return v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)v;
}

static void blend_all(uint8_t *p, int grey, float factor) {
  for (int c = 0; c < 3; c++)
    p[c] = blend(grey, p[c], factor);
}

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

// turn is Pillow's hsv2rgb of rgb2hsv with a hue that is shift more.
static void turn(uint8_t *pixel, int shift) {
  const int r = pixel[0], g = pixel[1], b = pixel[2];
  const int high = larger(r, larger(g, b)), low = smaller(r, smaller(g, b));
  if (high == low)
    return;
  const float span = (float)(high - low);
  const float rc = (float)(high - r) / span, gc = (float)(high - g) / span, bc = (float)(high - b) / span;
  float sixth = (float)(4.0 + gc - rc);
  if (r == high)
    sixth = bc - gc;
  else if (g == high)
    sixth = (float)(2.0 + rc - bc);
  const double turns = sixth / 6.0 + 1.0;
  const float h = (float)(turns < 1 ? turns : turns - 1);
  const int hue = ((int)(h * 255.0) + shift) & 255, s = (int)((double)(span / (float)high) * 255.0);
  const double at = hue * 6.0 / 255.0, fs = (float)(s / 255.0), v = high;
  const int sector = (int)at;
  const double part = (float)(at - sector), side = sector & 1 ? part : 1.0 - part;
  if (s == 0) {
    pixel[0] = pixel[1] = pixel[2] = (uint8_t)high;
    return;
  }
  const uint8_t values[3] = {(uint8_t)high, (uint8_t)(v * (1.0 - fs * side) + 0.5),
                             (uint8_t)(v * (1.0 - fs) + 0.5)};
  static const uint8_t order[7][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0},
                                      {1, 2, 0}, {0, 2, 1}, {0, 1, 2}};
  for (int c = 0; c < 3; c++)
    pixel[c] = values[order[sector][c]];
}

static void change(uint8_t *pixel, const dsconv_change *c) {
  switch (c->kind) {
  case DSCONV_BRIGHTNESS:
    blend_all(pixel, 0, c->factor);
    break;
  case DSCONV_CONTRAST:
    blend_all(pixel, c->grey, c->factor);
    break;
  case DSCONV_SATURATION:
    blend_all(pixel, luma(pixel), c->factor);
    break;
  case DSCONV_HUE:
    turn(pixel, c->shift);
    break;
  default:
    pixel[0] = pixel[1] = pixel[2] = (uint8_t)luma(pixel);
  }
}

uint64_t dsconv_enhance_portable(uint8_t *pixels, size_t count, const dsconv_change *changes, int n,
                                 int sum) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++, pixels += 3) {
    for (int k = 0; k < n; k++)
      change(pixels, &changes[k]);
    if (sum)
      total += (uint64_t)luma(pixels);
  }
  return total;
}
