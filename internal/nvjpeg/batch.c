//go:build linux

#include <stdlib.h>

#include "within.h"

static int free_batch(dsconv_nvjpeg_batch *b) {
  int status = b->state == NULL ? 0 : b->handle->api->nvjpegJpegStateDestroy(b->state);
  free(b->data);
  free(b->lengths);
  free(b->outputs);
  free(b->params);
  free(b);
  return status;
}

static int new_batch(const dsconv_nvjpeg_handle *h, int size, dsconv_nvjpeg_batch **batch) {
  dsconv_nvjpeg_batch *b = calloc(1, sizeof *b);
  if (b == NULL)
    return DSCONV_NVJPEG_ALLOCATOR_FAILURE;
  b->handle = h;
  b->data = calloc(size, sizeof *b->data);
  b->lengths = calloc(size, sizeof *b->lengths);
  b->outputs = calloc(size, sizeof *b->outputs);
  b->params = calloc(size, sizeof *b->params);
  int status = DSCONV_NVJPEG_ALLOCATOR_FAILURE;
  if (b->data != NULL && b->lengths != NULL && b->outputs != NULL && b->params != NULL)
    status = h->api->nvjpegJpegStateCreate(h->c, &b->state);
  if (status == 0)
    *batch = b;
  else
    free_batch(b);
  return status;
}

int dsconv_nvjpeg_batch_new(const dsconv_nvjpeg_handle *h, int size, dsconv_nvjpeg_batch **batch) {
  WITHIN(h->device, new_batch(h, size, batch));
}

int dsconv_nvjpeg_batch_free(dsconv_nvjpeg_batch *b) { WITHIN(b->handle->device, free_batch(b)); }

int dsconv_nvjpeg_batch_allocate(dsconv_nvjpeg_batch *b, int count, int width, int height, int subsampling,
                                 int format) {
  WITHIN(b->handle->device, b->handle->api->nvjpegDecodeBatchedPreAllocate(
                                b->handle->c, b->state, count, width, height, subsampling, format));
}

static int supports(const dsconv_nvjpeg_image *i, int *supported) {
  int unsupported = 1;
  int status =
      i->handle->api->nvjpegDecodeBatchedSupportedEx(i->handle->c, i->stream, i->params, &unsupported);
  *supported = unsupported == 0; // nvJPEG says 0 for yes
  return status;
}

int dsconv_nvjpeg_batch_supports(const dsconv_nvjpeg_image *i, int *supported) {
  WITHIN(i->handle->device, supports(i, supported));
}

int dsconv_nvjpeg_batch_start(dsconv_nvjpeg_batch *b, int count, int format) {
  WITHIN(b->handle->device,
         b->handle->api->nvjpegDecodeBatchedInitialize(b->handle->c, b->state, count, 1, format));
}

int dsconv_nvjpeg_batch_decode(dsconv_nvjpeg_batch *b, const dsconv_nvjpeg_job *jobs, int count,
                               uintptr_t stream) {
  for (int k = 0; k < count; k++) {
    b->data[k] = jobs[k].image->data;
    b->lengths[k] = jobs[k].image->length;
    b->params[k] = jobs[k].image->params;
    b->outputs[k] =
        (nvjpegImage_t){.channel = {(unsigned char *)(uintptr_t)jobs[k].address}, .pitch = {jobs[k].pitch}};
  }
  WITHIN(b->handle->device,
         b->handle->api->nvjpegDecodeBatchedEx(b->handle->c, b->state, b->data, b->lengths, b->outputs,
                                               b->params, (cudaStream_t)stream));
}
