//go:build linux

#include <stdlib.h>

#include "within.h"

int dsconv_nvjpeg_create(dsconv_nvjpeg_handle *h, int backend, unsigned int flags) {
  WITHIN(h->device, h->api->nvjpegCreateEx(backend, NULL, NULL, flags, &h->c));
}

int dsconv_nvjpeg_destroy(dsconv_nvjpeg_handle *h) { WITHIN(h->device, h->api->nvjpegDestroy(h->c)); }

int dsconv_nvjpeg_hardware(const dsconv_nvjpeg_handle *h, unsigned int *engines, unsigned int *cores) {
  WITHIN(h->device, h->api->nvjpegGetHardwareDecoderInfo(h->c, engines, cores));
}

static int free_image(dsconv_nvjpeg_image *i) {
  const dsconv_nvjpeg *api = i->handle->api;
  int params = i->params == NULL ? 0 : api->nvjpegDecodeParamsDestroy(i->params);
  int stream = i->stream == NULL ? 0 : api->nvjpegJpegStreamDestroy(i->stream);
  free(i);
  return params != 0 ? params : stream;
}

static int new_image(const dsconv_nvjpeg_handle *h, dsconv_nvjpeg_image **image) {
  dsconv_nvjpeg_image *i = calloc(1, sizeof *i);
  if (i == NULL)
    return DSCONV_NVJPEG_ALLOCATOR_FAILURE;
  i->handle = h;
  int status = h->api->nvjpegJpegStreamCreate(h->c, &i->stream);
  if (status == 0)
    status = h->api->nvjpegDecodeParamsCreate(h->c, &i->params);
  if (status == 0)
    *image = i;
  else
    free_image(i);
  return status;
}

int dsconv_nvjpeg_image_new(const dsconv_nvjpeg_handle *h, dsconv_nvjpeg_image **image) {
  WITHIN(h->device, new_image(h, image));
}

int dsconv_nvjpeg_image_free(dsconv_nvjpeg_image *i) { WITHIN(i->handle->device, free_image(i)); }

// parse_stream ends a stream that failed: until 13.2 it may not parse the next JPEG either.
static int parse_stream(dsconv_nvjpeg_image *i, int whole) {
  const dsconv_nvjpeg *api = i->handle->api;
  nvjpegHandle_t c = i->handle->c;
  int status = i->stream != NULL ? 0 : api->nvjpegJpegStreamCreate(c, &i->stream);
  if (status != 0)
    return status;
  status = whole ? api->nvjpegJpegStreamParse(c, i->data, i->length, 0, 0, i->stream)
                 : api->nvjpegJpegStreamParseHeader(c, i->data, i->length, i->stream);
  if (status != 0) {
    api->nvjpegJpegStreamDestroy(i->stream);
    i->stream = NULL;
  }
  return status;
}

static int parse(dsconv_nvjpeg_image *i, int whole, dsconv_nvjpeg_header *header) {
  int status = parse_stream(i, whole);
  // Some versions refuse headers of intact JPEGs with EXIF data, and take the whole JPEG.
  if (status != 0 && !whole)
    status = parse_stream(i, 1);
  return status != 0
             ? status
             : i->handle->api->nvjpegJpegStreamGetFrameDimensions(i->stream, &header->width, &header->height);
}

int dsconv_nvjpeg_image_parse(dsconv_nvjpeg_image *i, const unsigned char *data, size_t length, int whole,
                              dsconv_nvjpeg_header *header) {
  i->data = data;
  i->length = length;
  WITHIN(i->handle->device, parse(i, whole, header));
}

static int set(dsconv_nvjpeg_image *i, const dsconv_nvjpeg_request *r) {
  const dsconv_nvjpeg *api = i->handle->api;
  int status = api->nvjpegDecodeParamsSetOutputFormat(i->params, r->format);
  if (status == 0)
    status = api->nvjpegDecodeParamsSetROI(i->params, r->x, r->y, r->width, r->height);
  // Pixels stay as they are stored: versions before 12.2 confuse 90 and 270 degrees, and dsconv turns images
  // itself.
  if (status == 0)
    status = api->nvjpegDecodeParamsSetExifOrientation(i->params, DSCONV_NVJPEG_ORIENTATION_NORMAL);
  if (status == 0 && (r->scale != 0 || i->scaled)) { // only the hardware knows scales
    i->scaled = 1;
    status = api->nvjpegDecodeParamsSetScaleFactor(i->params, r->scale);
  }
  return status;
}

int dsconv_nvjpeg_image_set(dsconv_nvjpeg_image *i, const dsconv_nvjpeg_request *r) {
  WITHIN(i->handle->device, set(i, r));
}
