// The calls of this package's Go code. Each works in the GPU's context, and groups what nvJPEG is asked of an
// image.
//
// They return nvJPEG's status; CUDA's result, negated, if the context could not be entered.
#ifndef DSCONV_NVJPEG_CALLS_H
#define DSCONV_NVJPEG_CALLS_H

#include "library.h"

// dsconv_nvjpeg_open loads a library; NULL with the reason in why. version has three numbers.
dsconv_nvjpeg *dsconv_nvjpeg_open(const char *path, int *version, char *why, size_t size);
// dsconv_nvjpeg_path stores the file that the library was loaded from.
void dsconv_nvjpeg_path(const dsconv_nvjpeg *api, char *path, size_t size);

// dsconv_nvjpeg_has reports whether a library can be loaded.
int dsconv_nvjpeg_has(const char *library);

typedef struct {
  const dsconv_nvjpeg *api;
  const dsconv_cuda_device *device;
  nvjpegHandle_t c;
} dsconv_nvjpeg_handle;

int dsconv_nvjpeg_create(dsconv_nvjpeg_handle *h, int backend, unsigned int flags);
int dsconv_nvjpeg_destroy(dsconv_nvjpeg_handle *h);
int dsconv_nvjpeg_hardware(const dsconv_nvjpeg_handle *h, unsigned int *engines, unsigned int *cores);

// dsconv_nvjpeg_image is a JPEG with how it is to be decoded. Its data belongs to the caller.
typedef struct {
  const dsconv_nvjpeg_handle *handle;
  nvjpegJpegStream_t stream; // NULL after it failed to parse
  nvjpegDecodeParams_t params;
  const unsigned char *data;
  size_t length;
  int scaled; // whether params may have a scale other than 1
} dsconv_nvjpeg_image;

typedef struct {
  unsigned int width, height;
} dsconv_nvjpeg_header;

typedef struct {
  int format, scale;
  int x, y, width, height; // the region; 0, 0, -1, -1 is the whole image
} dsconv_nvjpeg_request;

int dsconv_nvjpeg_image_new(const dsconv_nvjpeg_handle *h, dsconv_nvjpeg_image **image);
int dsconv_nvjpeg_image_free(dsconv_nvjpeg_image *i);
// dsconv_nvjpeg_image_parse reads the header of a JPEG, which is enough for a batch, or the whole of it.
int dsconv_nvjpeg_image_parse(dsconv_nvjpeg_image *i, const unsigned char *data, size_t length, int whole,
                              dsconv_nvjpeg_header *header);
int dsconv_nvjpeg_image_set(dsconv_nvjpeg_image *i, const dsconv_nvjpeg_request *r);

// dsconv_nvjpeg_job is an image of a batch and where it goes.
typedef struct {
  dsconv_nvjpeg_image *image;
  uint64_t address;
  size_t pitch;
} dsconv_nvjpeg_job;

typedef struct {
  const dsconv_nvjpeg_handle *handle;
  nvjpegJpegState_t state;
  const unsigned char **data; // these arrays live until the next batch
  size_t *lengths;
  nvjpegImage_t *outputs;
  nvjpegDecodeParams_t *params;
} dsconv_nvjpeg_batch;

int dsconv_nvjpeg_batch_new(const dsconv_nvjpeg_handle *h, int size, dsconv_nvjpeg_batch **batch);
int dsconv_nvjpeg_batch_free(dsconv_nvjpeg_batch *b);
int dsconv_nvjpeg_batch_allocate(dsconv_nvjpeg_batch *b, int count, int width, int height, int subsampling,
                                 int format);
int dsconv_nvjpeg_batch_start(dsconv_nvjpeg_batch *b, int count, int format);
// dsconv_nvjpeg_batch_supports asks whether a batch may have the image; *supported is 1 if so.
int dsconv_nvjpeg_batch_supports(const dsconv_nvjpeg_image *i, int *supported);
int dsconv_nvjpeg_batch_decode(dsconv_nvjpeg_batch *b, const dsconv_nvjpeg_job *jobs, int count,
                               uintptr_t stream);

typedef struct {
  const dsconv_nvjpeg_handle *handle;
  nvjpegJpegDecoder_t c;
} dsconv_nvjpeg_decoder;

int dsconv_nvjpeg_decoder_new(dsconv_nvjpeg_decoder *d, int backend);
int dsconv_nvjpeg_decoder_free(dsconv_nvjpeg_decoder *d);
int dsconv_nvjpeg_decoder_supports(const dsconv_nvjpeg_decoder *d, const dsconv_nvjpeg_image *i,
                                   int *supported);

// dsconv_nvjpeg_state decodes an image after the other in memory of its own. It has pinned memory twice, so
// that the host decodes the next image while the GPU still reads what it made of the last one.
typedef struct {
  const dsconv_nvjpeg_handle *handle;
  nvjpegJpegDecoder_t decoder;
  nvjpegJpegState_t c;
  nvjpegBufferPinned_t pinned[2];
  int turn; // which of them is the next image's
  nvjpegBufferDevice_t device;
} dsconv_nvjpeg_state;

int dsconv_nvjpeg_state_new(const dsconv_nvjpeg_decoder *d, dsconv_nvjpeg_state **state);
int dsconv_nvjpeg_state_free(dsconv_nvjpeg_state *s);
int dsconv_nvjpeg_state_host(dsconv_nvjpeg_state *s, dsconv_nvjpeg_image *i);
int dsconv_nvjpeg_state_device(dsconv_nvjpeg_state *s, const dsconv_nvjpeg_job *job, uintptr_t stream);

#endif
