// The library, JPEG streams and parameters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libcuda/cu.h"
#include "fakenv.h"

enum { VERSION = 130302 }; // without the mode nvjpeg

CUresult cuInit(unsigned flags);
CUresult cuDeviceGetCount(int *count);

int fake_nv_enter(const char *function) {
  fake_counted(function);
  return (int)fake_strike(function);
}

int fake_no_context(const char *function) {
  if (fake_lost())
    return NV_EXECUTION_FAILED;
  fake_violation("%s was called without a current context", function);
  return NV_EXECUTION_FAILED;
}

nvjpegStatus_t nvjpegGetProperty(libraryPropertyType type, int *value) {
  int version = (int)fake_setting("nvjpeg", VERSION),
      parts[] = {version / 10000, version / 100 % 100, version % 100};
  NV_ENTER();
  if ((int)type < 0 || (int)type > 2 || !value)
    return NV_INVALID_PARAMETER;
  *value = parts[type];
  return NV_OK;
}

nvjpegStatus_t nvjpegGetCudartProperty(libraryPropertyType type, int *value) {
  return nvjpegGetProperty(type, value);
}

static int create(int backend, unsigned flags, nvjpegHandle_t *handle) {
  int count = 0;
  if (!handle || backend < NV_DEFAULT || backend > 6 || flags > NV_FLAGS)
    return NV_INVALID_PARAMETER;
  if (cuInit(0) || cuDeviceGetCount(&count) || !count)
    return NV_EXECUTION_FAILED;
  if (!fake_context())
    return fake_no_context("nvjpegCreate");
  if (backend == NV_HARDWARE && !fake_setting("engines", 2))
    return NV_ARCH_MISMATCH;
  struct library *l = calloc(1, sizeof *l);
  l->backend = backend;
  l->interpolate = flags & NV_INTERPOLATE;
  *handle = fake_handle(FAKE_NVJPEG, l);
  return NV_OK;
}

nvjpegStatus_t nvjpegCreateSimple(nvjpegHandle_t *handle) {
  NV_ENTER();
  return create(NV_DEFAULT, 0, handle);
}

// The allocators must be NULL: nothing of ours gives any.
nvjpegStatus_t nvjpegCreateEx(nvjpegBackend_t backend, nvjpegDevAllocator_t *device,
                              nvjpegPinnedAllocator_t *pinned, unsigned int flags, nvjpegHandle_t *handle) {
  NV_ENTER();
  return device || pinned ? NV_INVALID_PARAMETER : create((int)backend, flags, handle);
}

nvjpegStatus_t nvjpegCreateExV2(nvjpegBackend_t backend, nvjpegDevAllocatorV2_t *device,
                                nvjpegPinnedAllocatorV2_t *pinned, unsigned int flags,
                                nvjpegHandle_t *handle) {
  NV_ENTER();
  return device || pinned ? NV_INVALID_PARAMETER : create((int)backend, flags, handle);
}

nvjpegStatus_t nvjpegDestroy(nvjpegHandle_t handle) {
  int status = fake_nv_enter(__func__);
  void *l = fake_drop(FAKE_NVJPEG, handle);
  free(l);
  return status ? status : l ? NV_OK : NV_INVALID_PARAMETER;
}

nvjpegStatus_t nvjpegGetHardwareDecoderInfo(nvjpegHandle_t handle, unsigned int *engines,
                                            unsigned int *cores) {
  NV_ENTER();
  if (!fake_body(FAKE_NVJPEG, handle) || !engines || !cores)
    return NV_INVALID_PARAMETER;
  *engines = (unsigned)fake_setting("engines", 2);
  *cores = *engines ? (unsigned)fake_setting("cores", 3) : 0;
  return NV_OK;
}

nvjpegStatus_t nvjpegJpegStreamCreate(nvjpegHandle_t handle, nvjpegJpegStream_t *stream) {
  NV_ENTER();
  if (!fake_body(FAKE_NVJPEG, handle) || !stream)
    return NV_INVALID_PARAMETER;
  *stream = fake_handle(FAKE_NVJPEG_STREAM, calloc(1, sizeof(struct stream)));
  return NV_OK;
}

nvjpegStatus_t nvjpegJpegStreamDestroy(nvjpegJpegStream_t stream) {
  int status = fake_nv_enter(__func__);
  struct stream *s = fake_drop(FAKE_NVJPEG_STREAM, stream);
  if (!s)
    return NV_INVALID_PARAMETER;
  free(s->kept);
  free(s);
  return status;
}

// status is what a mode lets the function return. Up to version 13.2.0 a stream that failed is of no more
// use, as nvImageCodec's comments say.
static int parse(nvjpegHandle_t handle, const unsigned char *data, size_t size, bool whole, bool keep,
                 nvjpegJpegStream_t stream, int status) {
  struct stream *s = fake_body(FAKE_NVJPEG_STREAM, stream);
  if (!fake_body(FAKE_NVJPEG, handle) || !s || !data || !size)
    return status ? status : NV_INVALID_PARAMETER;
  if (s->broken)
    return NV_INTERNAL_ERROR;
  free(s->kept);
  memset(s, 0, sizeof *s);
  if (!status)
    status = fake_header(data, size, &s->header);
  s->broken = status && fake_setting("nvjpeg", VERSION) <= 130200;
  if (status)
    return status;
  if (keep) {
    s->kept = malloc(size);
    memcpy(s->kept, data, size);
  }
  s->data = keep ? s->kept : data;
  s->size = size;
  s->parsed = true;
  s->whole = whole;
  return NV_OK;
}

nvjpegStatus_t nvjpegJpegStreamParse(nvjpegHandle_t handle, const unsigned char *data, size_t size,
                                     int metadata, int keep, nvjpegJpegStream_t stream) {
  (void)metadata;
  return parse(handle, data, size, true, keep, stream, fake_nv_enter(__func__));
}

nvjpegStatus_t nvjpegJpegStreamParseHeader(nvjpegHandle_t handle, const unsigned char *data, size_t size,
                                           nvjpegJpegStream_t stream) {
  return parse(handle, data, size, false, false, stream, fake_nv_enter(__func__));
}

static struct stream *parsed(nvjpegJpegStream_t stream) {
  struct stream *s = fake_body(FAKE_NVJPEG_STREAM, stream);
  return s && s->parsed ? s : NULL;
}

// A function that reads a value from a parsed stream.
#define GETTER(name, type, value)                                                                            \
  nvjpegStatus_t name(nvjpegJpegStream_t stream, type *out) {                                                \
    NV_ENTER();                                                                                              \
    struct stream *s = parsed(stream);                                                                       \
    if (!s || !out)                                                                                          \
      return NV_INVALID_PARAMETER;                                                                           \
    *out = (type)(value);                                                                                    \
    return NV_OK;                                                                                            \
  }

GETTER(nvjpegJpegStreamGetJpegEncoding, nvjpegJpegEncoding_t,
       s->header.encoding <= 0xC3 ? s->header.encoding : 0 /* unknown */)
GETTER(nvjpegJpegStreamGetComponentsNum, unsigned int, s->header.components)
GETTER(nvjpegJpegStreamGetExifOrientation, nvjpegExifOrientation_t, s->header.orientation)
GETTER(nvjpegJpegStreamGetSamplePrecision, unsigned int, s->header.precision)
GETTER(nvjpegJpegStreamGetChromaSubsampling, nvjpegChromaSubsampling_t, s->header.css)

nvjpegStatus_t nvjpegJpegStreamGetFrameDimensions(nvjpegJpegStream_t stream, unsigned int *width,
                                                  unsigned int *height) {
  NV_ENTER();
  struct stream *s = parsed(stream);
  if (!s || !width || !height)
    return NV_INVALID_PARAMETER;
  *width = s->header.width;
  *height = s->header.height;
  return NV_OK;
}

nvjpegStatus_t nvjpegJpegStreamGetComponentDimensions(nvjpegJpegStream_t stream, unsigned int component,
                                                      unsigned int *width, unsigned int *height) {
  NV_ENTER();
  struct stream *s = parsed(stream);
  if (!s || component >= s->header.components || !width || !height)
    return NV_INVALID_PARAMETER;
  unsigned h = 1, v = 1;
  for (unsigned i = 0; i < s->header.components; i++) {
    h = s->header.factors[i].h > h ? s->header.factors[i].h : h;
    v = s->header.factors[i].v > v ? s->header.factors[i].v : v;
  }
  *width = (s->header.width * s->header.factors[component].h + h - 1) / h;
  *height = (s->header.height * s->header.factors[component].v + v - 1) / v;
  return NV_OK;
}

nvjpegStatus_t nvjpegDecodeParamsCreate(nvjpegHandle_t handle, nvjpegDecodeParams_t *params) {
  NV_ENTER();
  if (!fake_body(FAKE_NVJPEG, handle) || !params)
    return NV_INVALID_PARAMETER;
  struct params *p = calloc(1, sizeof *p);
  p->width = p->height = -1;
  *params = fake_handle(FAKE_NVJPEG_PARAMS, p);
  return NV_OK;
}

nvjpegStatus_t nvjpegDecodeParamsDestroy(nvjpegDecodeParams_t params) {
  int status = fake_nv_enter(__func__);
  void *p = fake_drop(FAKE_NVJPEG_PARAMS, params);
  free(p);
  return status ? status : p ? NV_OK : NV_INVALID_PARAMETER;
}

// A function that sets values of the parameters where they are right.
#define SETTER(name, parameters, right, set)                                                                 \
  nvjpegStatus_t name parameters {                                                                           \
    NV_ENTER();                                                                                              \
    struct params *p = fake_body(FAKE_NVJPEG_PARAMS, params);                                                \
    if (!p || !(right))                                                                                      \
      return NV_INVALID_PARAMETER;                                                                           \
    set;                                                                                                     \
    return NV_OK;                                                                                            \
  }

SETTER(nvjpegDecodeParamsSetOutputFormat, (nvjpegDecodeParams_t params, nvjpegOutputFormat_t format),
       (int)format >= 0 && (int)format <= 10, p->format = (int)format)
SETTER(nvjpegDecodeParamsSetAllowCMYK, (nvjpegDecodeParams_t params, int allow), true, p->cmyk = allow)
SETTER(nvjpegDecodeParamsSetScaleFactor, (nvjpegDecodeParams_t params, nvjpegScaleFactor_t scale),
       (int)scale >= 0 && (int)scale <= 3, p->scale = (int)scale)
SETTER(nvjpegDecodeParamsSetExifOrientation,
       (nvjpegDecodeParams_t params, nvjpegExifOrientation_t orientation),
       (int)orientation >= 0 && (int)orientation <= 8, p->orientation = (int)orientation)

nvjpegStatus_t nvjpegDecodeParamsSetROI(nvjpegDecodeParams_t params, int x, int y, int width, int height) {
  NV_ENTER();
  struct params *p = fake_body(FAKE_NVJPEG_PARAMS, params);
  bool off = x == 0 && y == 0 && width == -1 && height == -1;
  if (!p || (!off && (x < 0 || y < 0 || width < 1 || height < 1)))
    return NV_INVALID_PARAMETER;
  p->x = x;
  p->y = y;
  p->width = width;
  p->height = height;
  return NV_OK;
}
