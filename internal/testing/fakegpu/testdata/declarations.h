// The functions of nvJPEG that nvjpeg.c calls.
#ifndef DSCONV_DECLARATIONS_H
#define DSCONV_DECLARATIONS_H

#include "../libnvjpeg/nv.h"

nvjpegStatus_t nvjpegGetProperty(libraryPropertyType type, int *value);
nvjpegStatus_t nvjpegCreateEx(nvjpegBackend_t backend, nvjpegDevAllocator_t *device,
                              nvjpegPinnedAllocator_t *pinned, unsigned flags, nvjpegHandle_t *handle);
nvjpegStatus_t nvjpegDestroy(nvjpegHandle_t handle);
nvjpegStatus_t nvjpegGetHardwareDecoderInfo(nvjpegHandle_t handle, unsigned *engines, unsigned *cores);
nvjpegStatus_t nvjpegJpegStateCreate(nvjpegHandle_t handle, nvjpegJpegState_t *state);
nvjpegStatus_t nvjpegJpegStateDestroy(nvjpegJpegState_t state);
nvjpegStatus_t nvjpegJpegStreamCreate(nvjpegHandle_t handle, nvjpegJpegStream_t *stream);
nvjpegStatus_t nvjpegJpegStreamDestroy(nvjpegJpegStream_t stream);
nvjpegStatus_t nvjpegJpegStreamParse(nvjpegHandle_t handle, const unsigned char *data, size_t size,
                                     int metadata, int keep, nvjpegJpegStream_t stream);
nvjpegStatus_t nvjpegJpegStreamParseHeader(nvjpegHandle_t handle, const unsigned char *data, size_t size,
                                           nvjpegJpegStream_t stream);
nvjpegStatus_t nvjpegJpegStreamGetFrameDimensions(nvjpegJpegStream_t stream, unsigned *width,
                                                  unsigned *height);
nvjpegStatus_t nvjpegJpegStreamGetChromaSubsampling(nvjpegJpegStream_t stream,
                                                    nvjpegChromaSubsampling_t *css);
nvjpegStatus_t nvjpegDecodeParamsCreate(nvjpegHandle_t handle, nvjpegDecodeParams_t *params);
nvjpegStatus_t nvjpegDecodeParamsDestroy(nvjpegDecodeParams_t params);
nvjpegStatus_t nvjpegDecodeParamsSetOutputFormat(nvjpegDecodeParams_t params, nvjpegOutputFormat_t format);
nvjpegStatus_t nvjpegDecodeParamsSetROI(nvjpegDecodeParams_t params, int x, int y, int width, int height);
nvjpegStatus_t nvjpegDecodeBatchedSupportedEx(nvjpegHandle_t handle, nvjpegJpegStream_t stream,
                                              nvjpegDecodeParams_t params, int *unsupported);
nvjpegStatus_t nvjpegDecodeBatchedPreAllocate(nvjpegHandle_t handle, nvjpegJpegState_t state, int n,
                                              int width, int height, nvjpegChromaSubsampling_t css,
                                              nvjpegOutputFormat_t format);
nvjpegStatus_t nvjpegDecodeBatchedInitialize(nvjpegHandle_t handle, nvjpegJpegState_t state, int n,
                                             int threads, nvjpegOutputFormat_t format);
nvjpegStatus_t nvjpegDecodeBatchedEx(nvjpegHandle_t handle, nvjpegJpegState_t state,
                                     const unsigned char *const *data, const size_t *sizes,
                                     nvjpegImage_t *images, nvjpegDecodeParams_t *params,
                                     cudaStream_t stream);
nvjpegStatus_t nvjpegDecoderCreate(nvjpegHandle_t handle, nvjpegBackend_t backend,
                                   nvjpegJpegDecoder_t *decoder);
nvjpegStatus_t nvjpegDecoderDestroy(nvjpegJpegDecoder_t decoder);
nvjpegStatus_t nvjpegDecoderStateCreate(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                        nvjpegJpegState_t *state);
nvjpegStatus_t nvjpegDecoderJpegSupported(nvjpegJpegDecoder_t decoder, nvjpegJpegStream_t stream,
                                          nvjpegDecodeParams_t params, int *unsupported);
nvjpegStatus_t nvjpegBufferPinnedCreate(nvjpegHandle_t handle, nvjpegPinnedAllocator_t *allocator,
                                        nvjpegBufferPinned_t *buffer);
nvjpegStatus_t nvjpegBufferDeviceCreate(nvjpegHandle_t handle, nvjpegDevAllocator_t *allocator,
                                        nvjpegBufferDevice_t *buffer);
nvjpegStatus_t nvjpegBufferPinnedDestroy(nvjpegBufferPinned_t buffer);
nvjpegStatus_t nvjpegBufferDeviceDestroy(nvjpegBufferDevice_t buffer);
nvjpegStatus_t nvjpegStateAttachPinnedBuffer(nvjpegJpegState_t state, nvjpegBufferPinned_t buffer);
nvjpegStatus_t nvjpegStateAttachDeviceBuffer(nvjpegJpegState_t state, nvjpegBufferDevice_t buffer);
nvjpegStatus_t nvjpegDecodeJpegHost(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                    nvjpegJpegState_t state, nvjpegDecodeParams_t params,
                                    nvjpegJpegStream_t stream);
nvjpegStatus_t nvjpegDecodeJpegTransferToDevice(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                                nvjpegJpegState_t state, nvjpegJpegStream_t stream,
                                                cudaStream_t on);
nvjpegStatus_t nvjpegDecodeJpegDevice(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                      nvjpegJpegState_t state, nvjpegImage_t *image, cudaStream_t on);

#endif
