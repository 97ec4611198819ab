// What dsconv uses of nvJPEG 12 and 13. NVIDIA's nvjpeg.h is not needed to build; a test compares these
// declarations with it.
#ifndef DSCONV_NVJPEG_LIBRARY_H
#define DSCONV_NVJPEG_LIBRARY_H

#include <stddef.h>

#include "../cuda/driver.h"

// dsconv_nvjpeg_output is where an image goes: rows of interleaved samples on the GPU.
typedef struct {
  unsigned char *channel[4];
  size_t pitch[4];
} dsconv_nvjpeg_output;

#ifndef NV_JPEG_HEADER // the test includes nvjpeg.h first, so that the prototypes below have its types
typedef int nvjpegStatus_t;
typedef int nvjpegBackend_t;
typedef int nvjpegOutputFormat_t;
typedef int nvjpegChromaSubsampling_t;
typedef int nvjpegExifOrientation_t;
typedef int nvjpegScaleFactor_t;
typedef int libraryPropertyType;
typedef CUstream cudaStream_t;
typedef struct nvjpegHandle *nvjpegHandle_t;
typedef struct nvjpegJpegState *nvjpegJpegState_t;
typedef struct nvjpegJpegStream *nvjpegJpegStream_t;
typedef struct nvjpegDecodeParams *nvjpegDecodeParams_t;
typedef struct nvjpegJpegDecoder *nvjpegJpegDecoder_t;
typedef struct nvjpegBufferPinned *nvjpegBufferPinned_t;
typedef struct nvjpegBufferDevice *nvjpegBufferDevice_t;
// Allocators are not used: NULL stands for the library's own.
typedef void nvjpegDevAllocator_t;
typedef void nvjpegPinnedAllocator_t;
typedef dsconv_nvjpeg_output nvjpegImage_t;
#endif

enum {
  DSCONV_NVJPEG_ALLOCATOR_FAILURE = 5,  // NVJPEG_STATUS_ALLOCATOR_FAILURE
  DSCONV_NVJPEG_ORIENTATION_NORMAL = 1, // NVJPEG_ORIENTATION_NORMAL
  DSCONV_NVJPEG_MAJOR = 0,              // MAJOR_VERSION
  DSCONV_NVJPEG_MINOR = 1,              // MINOR_VERSION
  DSCONV_NVJPEG_PATCH = 2,              // PATCH_LEVEL
};

// F(name, parameters) for each function.
#define DSCONV_NVJPEG_FUNCTIONS(F)                                                                           \
  F(nvjpegGetProperty, (libraryPropertyType, int *))                                                         \
  F(nvjpegCreateEx,                                                                                          \
    (nvjpegBackend_t, nvjpegDevAllocator_t *, nvjpegPinnedAllocator_t *, unsigned int, nvjpegHandle_t *))    \
  F(nvjpegDestroy, (nvjpegHandle_t))                                                                         \
  F(nvjpegGetHardwareDecoderInfo, (nvjpegHandle_t, unsigned int *, unsigned int *))                          \
  F(nvjpegJpegStateCreate, (nvjpegHandle_t, nvjpegJpegState_t *))                                            \
  F(nvjpegJpegStateDestroy, (nvjpegJpegState_t))                                                             \
  F(nvjpegJpegStreamCreate, (nvjpegHandle_t, nvjpegJpegStream_t *))                                          \
  F(nvjpegJpegStreamDestroy, (nvjpegJpegStream_t))                                                           \
  F(nvjpegJpegStreamParse, (nvjpegHandle_t, const unsigned char *, size_t, int, int, nvjpegJpegStream_t))    \
  F(nvjpegJpegStreamParseHeader, (nvjpegHandle_t, const unsigned char *, size_t, nvjpegJpegStream_t))        \
  F(nvjpegJpegStreamGetFrameDimensions, (nvjpegJpegStream_t, unsigned int *, unsigned int *))                \
  F(nvjpegDecodeParamsCreate, (nvjpegHandle_t, nvjpegDecodeParams_t *))                                      \
  F(nvjpegDecodeParamsDestroy, (nvjpegDecodeParams_t))                                                       \
  F(nvjpegDecodeParamsSetOutputFormat, (nvjpegDecodeParams_t, nvjpegOutputFormat_t))                         \
  F(nvjpegDecodeParamsSetROI, (nvjpegDecodeParams_t, int, int, int, int))                                    \
  F(nvjpegDecodeParamsSetExifOrientation, (nvjpegDecodeParams_t, nvjpegExifOrientation_t))                   \
  F(nvjpegDecodeParamsSetScaleFactor, (nvjpegDecodeParams_t, nvjpegScaleFactor_t))                           \
  F(nvjpegDecodeBatchedPreAllocate,                                                                          \
    (nvjpegHandle_t, nvjpegJpegState_t, int, int, int, nvjpegChromaSubsampling_t, nvjpegOutputFormat_t))     \
  F(nvjpegDecodeBatchedSupportedEx, (nvjpegHandle_t, nvjpegJpegStream_t, nvjpegDecodeParams_t, int *))       \
  F(nvjpegDecodeBatchedInitialize, (nvjpegHandle_t, nvjpegJpegState_t, int, int, nvjpegOutputFormat_t))      \
  F(nvjpegDecodeBatchedEx, (nvjpegHandle_t, nvjpegJpegState_t, const unsigned char *const *, const size_t *, \
                            nvjpegImage_t *, nvjpegDecodeParams_t *, cudaStream_t))                          \
  F(nvjpegDecoderCreate, (nvjpegHandle_t, nvjpegBackend_t, nvjpegJpegDecoder_t *))                           \
  F(nvjpegDecoderDestroy, (nvjpegJpegDecoder_t))                                                             \
  F(nvjpegDecoderJpegSupported, (nvjpegJpegDecoder_t, nvjpegJpegStream_t, nvjpegDecodeParams_t, int *))      \
  F(nvjpegDecoderStateCreate, (nvjpegHandle_t, nvjpegJpegDecoder_t, nvjpegJpegState_t *))                    \
  F(nvjpegBufferPinnedCreate, (nvjpegHandle_t, nvjpegPinnedAllocator_t *, nvjpegBufferPinned_t *))           \
  F(nvjpegBufferPinnedDestroy, (nvjpegBufferPinned_t))                                                       \
  F(nvjpegBufferDeviceCreate, (nvjpegHandle_t, nvjpegDevAllocator_t *, nvjpegBufferDevice_t *))              \
  F(nvjpegBufferDeviceDestroy, (nvjpegBufferDevice_t))                                                       \
  F(nvjpegStateAttachPinnedBuffer, (nvjpegJpegState_t, nvjpegBufferPinned_t))                                \
  F(nvjpegStateAttachDeviceBuffer, (nvjpegJpegState_t, nvjpegBufferDevice_t))                                \
  F(nvjpegDecodeJpegHost,                                                                                    \
    (nvjpegHandle_t, nvjpegJpegDecoder_t, nvjpegJpegState_t, nvjpegDecodeParams_t, nvjpegJpegStream_t))      \
  F(nvjpegDecodeJpegTransferToDevice,                                                                        \
    (nvjpegHandle_t, nvjpegJpegDecoder_t, nvjpegJpegState_t, nvjpegJpegStream_t, cudaStream_t))              \
  F(nvjpegDecodeJpegDevice,                                                                                  \
    (nvjpegHandle_t, nvjpegJpegDecoder_t, nvjpegJpegState_t, nvjpegImage_t *, cudaStream_t))

// dsconv_nvjpeg is an opened library. It stays valid until the process ends.
typedef struct {
#define F(name, parameters) nvjpegStatus_t(*name) parameters;
  DSCONV_NVJPEG_FUNCTIONS(F)
#undef F
} dsconv_nvjpeg;

#endif
