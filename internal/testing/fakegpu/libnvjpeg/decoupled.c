// Decoding an image in stages: the host fills pinned memory, a copy brings that to the GPU, and the GPU
// writes the pixels. Here the pinned memory holds the pixels already, so whoever uses a buffer too early gets
// another image's.
#include <stdlib.h>
#include <string.h>

#include "fakenv.h"

struct decoder {
  int backend;
};

bool fake_buffer_busy(const struct buffer *b) { return b->stream && !fake_done(b->stream, b->ticket); }

static int create_buffer(nvjpegHandle_t handle, bool device, enum fake_kind kind, void **out) {
  if (!fake_body(FAKE_NVJPEG, handle) || !out)
    return NV_INVALID_PARAMETER;
  struct buffer *b = calloc(1, sizeof *b);
  b->device = device;
  *out = fake_handle(kind, b);
  return NV_OK;
}

int fake_buffer_resize(struct buffer *b, size_t size) {
  if (size <= b->size)
    return NV_OK;
  if (fake_buffer_busy(b))
    fake_violation("a buffer of nvJPEG grew while a stream still used it");
  if (b->at && b->device)
    fake_free((uint64_t)b->at);
  else if (b->at)
    fake_unpin(b->at);
  b->at = NULL;
  b->size = 0;
  uint64_t at = 0;
  if (b->device && fake_allocate(&at, size))
    return NV_ALLOCATOR_FAILURE;
  b->at = b->device ? (char *)at : fake_strike("pinned") ? NULL : fake_pin(size);
  if (!b->at)
    return NV_ALLOCATOR_FAILURE;
  b->size = size;
  return NV_OK;
}

static int destroy_buffer(struct buffer *b) {
  if (!b)
    return NV_INVALID_PARAMETER;
  if (fake_buffer_busy(b))
    fake_violation("a buffer of nvJPEG was destroyed while a stream still used it");
  if (b->at && b->device)
    fake_free((uint64_t)b->at);
  else if (b->at)
    fake_unpin(b->at);
  free(b);
  return NV_OK;
}

nvjpegStatus_t nvjpegBufferPinnedCreate(nvjpegHandle_t handle, nvjpegPinnedAllocator_t *allocator,
                                        nvjpegBufferPinned_t *buffer) {
  NV_ENTER_GPU();
  return allocator ? NV_INVALID_PARAMETER : create_buffer(handle, false, FAKE_NVJPEG_PINNED, (void **)buffer);
}

nvjpegStatus_t nvjpegBufferDeviceCreate(nvjpegHandle_t handle, nvjpegDevAllocator_t *allocator,
                                        nvjpegBufferDevice_t *buffer) {
  NV_ENTER_GPU();
  return allocator ? NV_INVALID_PARAMETER : create_buffer(handle, true, FAKE_NVJPEG_DEVICE, (void **)buffer);
}

nvjpegStatus_t nvjpegBufferPinnedResize(nvjpegBufferPinned_t buffer, size_t size, cudaStream_t stream) {
  NV_ENTER_GPU();
  struct buffer *b = fake_body(FAKE_NVJPEG_PINNED, buffer);
  return b && fake_stream_of(stream) ? fake_buffer_resize(b, size) : NV_INVALID_PARAMETER;
}

nvjpegStatus_t nvjpegBufferDeviceResize(nvjpegBufferDevice_t buffer, size_t size, cudaStream_t stream) {
  NV_ENTER_GPU();
  struct buffer *b = fake_body(FAKE_NVJPEG_DEVICE, buffer);
  return b && fake_stream_of(stream) ? fake_buffer_resize(b, size) : NV_INVALID_PARAMETER;
}

nvjpegStatus_t nvjpegBufferPinnedDestroy(nvjpegBufferPinned_t buffer) {
  int status = fake_nv_enter(__func__), result = destroy_buffer(fake_drop(FAKE_NVJPEG_PINNED, buffer));
  return status ? status : result;
}

nvjpegStatus_t nvjpegBufferDeviceDestroy(nvjpegBufferDevice_t buffer) {
  int status = fake_nv_enter(__func__), result = destroy_buffer(fake_drop(FAKE_NVJPEG_DEVICE, buffer));
  return status ? status : result;
}

nvjpegStatus_t nvjpegDecoderCreate(nvjpegHandle_t handle, nvjpegBackend_t backend,
                                   nvjpegJpegDecoder_t *decoder) {
  NV_ENTER_GPU();
  if (!fake_body(FAKE_NVJPEG, handle) || !decoder)
    return NV_INVALID_PARAMETER;
  if ((int)backend > NV_GPU_HYBRID)
    return NV_IMPLEMENTATION_NOT_SUPPORTED;
  struct decoder *d = calloc(1, sizeof *d);
  d->backend = (int)backend;
  *decoder = fake_handle(FAKE_NVJPEG_DECODER, d);
  return NV_OK;
}

nvjpegStatus_t nvjpegDecoderDestroy(nvjpegJpegDecoder_t decoder) {
  int status = fake_nv_enter(__func__);
  void *d = fake_drop(FAKE_NVJPEG_DECODER, decoder);
  free(d);
  return status ? status : d ? NV_OK : NV_INVALID_PARAMETER;
}

nvjpegStatus_t nvjpegDecoderStateCreate(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                        nvjpegJpegState_t *state) {
  NV_ENTER_GPU();
  struct library *l = fake_body(FAKE_NVJPEG, handle);
  if (!l || !fake_body(FAKE_NVJPEG_DECODER, decoder) || !state)
    return NV_INVALID_PARAMETER;
  struct state *s = calloc(1, sizeof *s);
  s->library = l;
  s->decoder = true;
  *state = fake_handle(FAKE_NVJPEG_STATE, s);
  return NV_OK;
}

nvjpegStatus_t nvjpegStateAttachPinnedBuffer(nvjpegJpegState_t state, nvjpegBufferPinned_t buffer) {
  NV_ENTER();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  struct buffer *b = fake_body(FAKE_NVJPEG_PINNED, buffer);
  if (!s || !b)
    return NV_INVALID_PARAMETER;
  s->pinned = b;
  return NV_OK;
}

nvjpegStatus_t nvjpegStateAttachDeviceBuffer(nvjpegJpegState_t state, nvjpegBufferDevice_t buffer) {
  NV_ENTER();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  struct buffer *b = fake_body(FAKE_NVJPEG_DEVICE, buffer);
  if (!s || !b)
    return NV_INVALID_PARAMETER;
  s->device = b;
  return NV_OK;
}

// Baseline, extended and progressive with 8 bits, and one or three components.
static int refused(const struct header *h, const struct params *p) {
  bool frame = h->encoding >= NV_BASELINE && h->encoding <= NV_PROGRESSIVE && h->precision == 8;
  bool components = h->components == 1 || (h->components == 3 && h->css != NV_CSS_UNKNOWN);
  return !frame || !components || p->scale || p->orientation > 1;
}

nvjpegStatus_t nvjpegDecoderJpegSupported(nvjpegJpegDecoder_t decoder, nvjpegJpegStream_t stream,
                                          nvjpegDecodeParams_t params, int *unsupported) {
  NV_ENTER();
  struct stream *s = fake_body(FAKE_NVJPEG_STREAM, stream);
  struct params *p = fake_body(FAKE_NVJPEG_PARAMS, params);
  if (!fake_body(FAKE_NVJPEG_DECODER, decoder) || !s || !s->parsed || !p || !unsupported)
    return NV_INVALID_PARAMETER;
  *unsupported = !s->whole || refused(&s->header, p); // NVIDIA's callers parse the whole JPEG before they ask
  return NV_OK;
}

// Some damaged images are noticed, others come out grey, as with real decoders; which, the bytes decide.
static bool noticed(const struct stream *s) {
  unsigned sum = 0;
  for (size_t i = 0; i < s->size; i++)
    sum = sum * 31 + s->data[i];
  return sum % 2;
}

nvjpegStatus_t nvjpegDecodeJpegHost(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                    nvjpegJpegState_t state, nvjpegDecodeParams_t params,
                                    nvjpegJpegStream_t stream) {
  NV_ENTER_GPU();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  struct stream *j = fake_body(FAKE_NVJPEG_STREAM, stream);
  struct params *p = fake_body(FAKE_NVJPEG_PARAMS, params);
  struct pixels out;
  int status = (int)fake_strike("image");
  if (status)
    return status;
  if (!fake_body(FAKE_NVJPEG, handle) || !fake_body(FAKE_NVJPEG_DECODER, decoder) || !s || !s->decoder ||
      !s->pinned || !j || !j->whole || !p)
    return NV_INVALID_PARAMETER;
  s->stage = 0;
  if ((status = fake_roi(&j->header, p)))
    return status;
  if (refused(&j->header, p))
    return NV_JPEG_NOT_SUPPORTED;
  if (fake_buffer_busy(s->pinned))
    fake_violation("nvjpegDecodeJpegHost was called while a stream still read the pinned buffer");
  if ((status = fake_decode(j->data, j->size, p, s->library->interpolate, &out)))
    return status;
  size_t size = (size_t)out.width * out.height * out.channels;
  status = out.damaged && noticed(j) ? NV_INCOMPLETE_BITSTREAM : fake_buffer_resize(s->pinned, size);
  if (!status) {
    memcpy(s->pinned->at, out.bytes, size);
    s->target.params = *p;
    s->width = out.width;
    s->height = out.height;
    s->channels = out.channels;
    s->stage = 1;
  }
  free(out.bytes);
  return status;
}

struct transfer {
  char *from;
  uint64_t to;
  size_t size;
};

static void run_transfer(void *argument, bool alive) {
  struct transfer *t = argument;
  void *to = alive && fake_is_pinned(t->from, t->size) ? fake_device(t->to, t->size) : NULL;
  if (to)
    memcpy(to, t->from, t->size);
  free(t);
}

nvjpegStatus_t nvjpegDecodeJpegTransferToDevice(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                                nvjpegJpegState_t state, nvjpegJpegStream_t stream,
                                                cudaStream_t on) {
  NV_ENTER_GPU();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  struct fake_stream *queue = fake_stream_of(on);
  if (!fake_body(FAKE_NVJPEG, handle) || !fake_body(FAKE_NVJPEG_DECODER, decoder) || !s || s->stage != 1 ||
      !s->device || !fake_body(FAKE_NVJPEG_STREAM, stream) || !queue)
    return NV_INVALID_PARAMETER;
  if (fake_buffer_busy(s->device) && s->device->stream != queue)
    fake_violation("a device buffer of nvJPEG was used while another stream still used it");
  size_t size = (size_t)s->width * s->height * s->channels;
  int status = fake_buffer_resize(s->device, size);
  if (status)
    return status;
  struct transfer *t = malloc(sizeof *t);
  *t = (struct transfer){s->pinned->at, (uint64_t)s->device->at, size};
  s->pinned->stream = s->device->stream = queue;
  s->pinned->ticket = s->device->ticket = fake_enqueue(queue, run_transfer, t);
  s->stage = 2;
  return NV_OK;
}

struct writing {
  uint64_t from;
  struct target target;
  struct pixels pixels;
};

static void run_writing(void *argument, bool alive) {
  struct writing *w = argument;
  size_t size = (size_t)w->pixels.width * w->pixels.height * w->pixels.channels;
  w->pixels.bytes = alive ? fake_device(w->from, size) : NULL;
  if (w->pixels.bytes) {
    fake_counted("cuda images");
    fake_write(&w->target, &w->pixels, fake_skip(), false);
  }
  free(w);
}

nvjpegStatus_t nvjpegDecodeJpegDevice(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                      nvjpegJpegState_t state, nvjpegImage_t *image, cudaStream_t on) {
  NV_ENTER_GPU();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  struct fake_stream *queue = fake_stream_of(on);
  if (!fake_body(FAKE_NVJPEG, handle) || !fake_body(FAKE_NVJPEG_DECODER, decoder) || !s || s->stage != 2 ||
      !image || !queue)
    return NV_INVALID_PARAMETER;
  s->target.image = *image;
  int status = fake_check_target(&s->target, s->width, s->height);
  if (status)
    return status;
  struct writing *w = malloc(sizeof *w);
  *w = (struct writing){(uint64_t)s->device->at, s->target, {NULL, s->width, s->height, s->channels, false}};
  s->device->stream = queue;
  s->device->ticket = fake_enqueue(queue, run_writing, w);
  s->stage = 0;
  return NV_OK;
}
