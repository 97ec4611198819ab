//go:build linux

#include <stdlib.h>

#include "within.h"

int dsconv_nvjpeg_decoder_new(dsconv_nvjpeg_decoder *d, int backend) {
  WITHIN(d->handle->device, d->handle->api->nvjpegDecoderCreate(d->handle->c, backend, &d->c));
}

int dsconv_nvjpeg_decoder_free(dsconv_nvjpeg_decoder *d) {
  WITHIN(d->handle->device, d->handle->api->nvjpegDecoderDestroy(d->c));
}

static int supports(const dsconv_nvjpeg_decoder *d, const dsconv_nvjpeg_image *i, int *supported) {
  int unsupported = 1;
  int status = d->handle->api->nvjpegDecoderJpegSupported(d->c, i->stream, i->params, &unsupported);
  *supported = unsupported == 0; // nvJPEG says 0 for yes
  return status;
}

int dsconv_nvjpeg_decoder_supports(const dsconv_nvjpeg_decoder *d, const dsconv_nvjpeg_image *i,
                                   int *supported) {
  WITHIN(d->handle->device, supports(d, i, supported));
}

static int free_state(dsconv_nvjpeg_state *s) {
  const dsconv_nvjpeg *api = s->handle->api;
  int status = s->c == NULL ? 0 : api->nvjpegJpegStateDestroy(s->c);
  int pinned = 0;
  for (int i = 0; i < 2; i++)
    if (s->pinned[i] != NULL && pinned == 0)
      pinned = api->nvjpegBufferPinnedDestroy(s->pinned[i]);
  int device = s->device == NULL ? 0 : api->nvjpegBufferDeviceDestroy(s->device);
  free(s);
  return status != 0 ? status : pinned != 0 ? pinned : device;
}

static int new_state(const dsconv_nvjpeg_decoder *d, dsconv_nvjpeg_state **state) {
  const dsconv_nvjpeg *api = d->handle->api;
  dsconv_nvjpeg_state *s = calloc(1, sizeof *s);
  if (s == NULL)
    return DSCONV_NVJPEG_ALLOCATOR_FAILURE;
  s->handle = d->handle;
  s->decoder = d->c;
  int status = api->nvjpegDecoderStateCreate(s->handle->c, s->decoder, &s->c);
  if (status == 0)
    status = api->nvjpegBufferPinnedCreate(s->handle->c, NULL, &s->pinned[0]);
  if (status == 0)
    status = api->nvjpegBufferPinnedCreate(s->handle->c, NULL, &s->pinned[1]);
  if (status == 0)
    status = api->nvjpegBufferDeviceCreate(s->handle->c, NULL, &s->device);
  if (status == 0)
    status = api->nvjpegStateAttachDeviceBuffer(s->c, s->device);
  if (status == 0)
    *state = s;
  else
    free_state(s);
  return status;
}

int dsconv_nvjpeg_state_new(const dsconv_nvjpeg_decoder *d, dsconv_nvjpeg_state **state) {
  WITHIN(d->handle->device, new_state(d, state));
}

int dsconv_nvjpeg_state_free(dsconv_nvjpeg_state *s) { WITHIN(s->handle->device, free_state(s)); }

static int host(dsconv_nvjpeg_state *s, dsconv_nvjpeg_image *i) {
  const dsconv_nvjpeg *api = s->handle->api;
  int status = api->nvjpegStateAttachPinnedBuffer(s->c, s->pinned[s->turn]);
  return status != 0 ? status
                     : api->nvjpegDecodeJpegHost(s->handle->c, s->decoder, s->c, i->params, i->stream);
}

int dsconv_nvjpeg_state_host(dsconv_nvjpeg_state *s, dsconv_nvjpeg_image *i) {
  WITHIN(s->handle->device, host(s, i));
}

static int device(dsconv_nvjpeg_state *s, const dsconv_nvjpeg_job *job, cudaStream_t stream) {
  const dsconv_nvjpeg *api = s->handle->api;
  s->turn = !s->turn;
  nvjpegImage_t output = {.channel = {(unsigned char *)(uintptr_t)job->address}, .pitch = {job->pitch}};
  int status =
      api->nvjpegDecodeJpegTransferToDevice(s->handle->c, s->decoder, s->c, job->image->stream, stream);
  return status != 0 ? status : api->nvjpegDecodeJpegDevice(s->handle->c, s->decoder, s->c, &output, stream);
}

int dsconv_nvjpeg_state_device(dsconv_nvjpeg_state *s, const dsconv_nvjpeg_job *job, uintptr_t stream) {
  WITHIN(s->handle->device, device(s, job, (cudaStream_t)stream));
}
