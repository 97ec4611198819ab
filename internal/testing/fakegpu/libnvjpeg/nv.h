// The part of nvJPEG's API that the fake has, by NVIDIA's documentation. With NVIDIA's nvjpeg.h included
// before, its declarations are used instead, and the compiler compares the definitions with them
// (signatures_test.go).
#ifndef DSCONV_FAKE_NV_H
#define DSCONV_FAKE_NV_H

#include <stddef.h>

#ifndef NV_JPEG_HEADER
typedef int nvjpegStatus_t;
typedef int nvjpegBackend_t;
typedef int nvjpegOutputFormat_t;
typedef int nvjpegChromaSubsampling_t;
typedef int nvjpegScaleFactor_t;
typedef int nvjpegExifOrientation_t;
typedef int nvjpegJpegEncoding_t;
typedef int libraryPropertyType;
typedef struct CUstream_st *cudaStream_t;
typedef struct {
  unsigned char *channel[4];
  size_t pitch[4];
} nvjpegImage_t;
typedef struct {
  int (*dev_malloc)(void **, size_t);
  int (*dev_free)(void *);
} nvjpegDevAllocator_t;
typedef struct {
  int (*pinned_malloc)(void **, size_t, unsigned int);
  int (*pinned_free)(void *);
} nvjpegPinnedAllocator_t;
typedef struct {
  int (*dev_malloc)(void *, void **, size_t, cudaStream_t);
  int (*dev_free)(void *, void *, size_t, cudaStream_t);
  void *dev_ctx;
} nvjpegDevAllocatorV2_t;
typedef struct {
  int (*pinned_malloc)(void *, void **, size_t, cudaStream_t);
  int (*pinned_free)(void *, void *, size_t, cudaStream_t);
  void *pinned_ctx;
} nvjpegPinnedAllocatorV2_t;
typedef struct nvjpegHandle *nvjpegHandle_t;
typedef struct nvjpegJpegState *nvjpegJpegState_t;
typedef struct nvjpegJpegStream *nvjpegJpegStream_t;
typedef struct nvjpegDecodeParams *nvjpegDecodeParams_t;
typedef struct nvjpegJpegDecoder *nvjpegJpegDecoder_t;
typedef struct nvjpegBufferPinned *nvjpegBufferPinned_t;
typedef struct nvjpegBufferDevice *nvjpegBufferDevice_t;
#endif

// The values, which signatures_test.go compares too.
enum {
  NV_OK = 0,
  NV_NOT_INITIALIZED = 1,
  NV_INVALID_PARAMETER = 2,
  NV_BAD_JPEG = 3,
  NV_JPEG_NOT_SUPPORTED = 4,
  NV_ALLOCATOR_FAILURE = 5,
  NV_EXECUTION_FAILED = 6,
  NV_ARCH_MISMATCH = 7,
  NV_INTERNAL_ERROR = 8,
  NV_IMPLEMENTATION_NOT_SUPPORTED = 9,
  NV_INCOMPLETE_BITSTREAM = 10
};
enum {
  NV_CSS_444 = 0,
  NV_CSS_422 = 1,
  NV_CSS_420 = 2,
  NV_CSS_440 = 3,
  NV_CSS_411 = 4,
  NV_CSS_410 = 5,
  NV_CSS_GRAY = 6,
  NV_CSS_410V = 7,
  NV_CSS_UNKNOWN = -1
};
enum { NV_OUT_UNCHANGED = 0, NV_OUT_Y = 2, NV_OUT_RGB = 3, NV_OUT_BGR = 4, NV_OUT_RGBI = 5, NV_OUT_BGRI = 6 };
enum { NV_DEFAULT = 0, NV_HYBRID = 1, NV_GPU_HYBRID = 2, NV_HARDWARE = 3 };
enum { NV_BASELINE = 0xC0, NV_EXTENDED = 0xC1, NV_PROGRESSIVE = 0xC2 };
enum { NV_INTERPOLATE = 1 << 5, NV_FLAGS = (1 << 6) - 1 };

#endif
