#include "webp_decode.h"

#include <stdlib.h>

#include <webp/decode.h>
#include <webp/demux.h>

static int status(VP8StatusCode s) {
  switch (s) {
  case VP8_STATUS_OK:
    return DSCONV_WEBP_OK;
  case VP8_STATUS_NOT_ENOUGH_DATA:
  case VP8_STATUS_SUSPENDED:
    return DSCONV_WEBP_TRUNCATED;
  case VP8_STATUS_OUT_OF_MEMORY:
    return DSCONV_WEBP_MEMORY;
  default:
    return DSCONV_WEBP_CORRUPT;
  }
}

static int decode_frame(const WebPIterator *f, uint8_t *dst, uint32_t w, uint32_t h, int channels) {
  WebPDecoderConfig c;
  uint64_t right = (uint64_t)f->x_offset + (uint64_t)f->width;
  uint64_t bottom = (uint64_t)f->y_offset + (uint64_t)f->height;
  if (right > w || bottom > h || !WebPInitDecoderConfig(&c))
    return DSCONV_WEBP_CORRUPT;
  size_t stride = (size_t)w * (size_t)channels;
  size_t at = (size_t)f->y_offset * stride + (size_t)f->x_offset * (size_t)channels;
  c.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
  c.output.is_external_memory = 1;
  c.output.u.RGBA.rgba = dst + at;
  c.output.u.RGBA.stride = (int)stride;
  c.output.u.RGBA.size = stride * h - at;
  int s = status(WebPDecode(f->fragment.bytes, f->fragment.size, &c));
  WebPFreeDecBuffer(&c.output);
  return s;
}

static int decode(const uint8_t *data, size_t n, uint8_t *dst, uint32_t w, uint32_t h, int channels) {
  WebPData file = {data, n};
  WebPDemuxer *m = WebPDemux(&file);
  if (m == NULL)
    return DSCONV_WEBP_CORRUPT;
  int s = DSCONV_WEBP_CORRUPT;
  WebPIterator f;
  if (WebPDemuxGetI(m, WEBP_FF_CANVAS_WIDTH) == w && WebPDemuxGetI(m, WEBP_FF_CANVAS_HEIGHT) == h &&
      WebPDemuxGetFrame(m, 1, &f)) {
    s = decode_frame(&f, dst, w, h, channels);
    WebPDemuxReleaseIterator(&f);
  }
  WebPDemuxDelete(m);
  return s;
}

static int has_memory(size_t n) {
  void *volatile p = malloc(n);
  free(p);
  return p != NULL;
}

// libwebp reports some images as damaged when it had no memory. To tell the two apart, decode again, and
// check whether memory for the alpha channel can be allocated.
int dsconv_webp_decode(const uint8_t *data, size_t n, uint8_t *dst, uint32_t w, uint32_t h, int channels) {
  int s = decode(data, n, dst, w, h, channels);
  if (s == DSCONV_WEBP_CORRUPT)
    s = decode(data, n, dst, w, h, channels);
  if (s == DSCONV_WEBP_CORRUPT && !has_memory(((size_t)1 << 20) + (size_t)w * h))
    s = DSCONV_WEBP_MEMORY;
  return s;
}
