// Batches in a GPU's memory, of loaders that were opened with "decoder": "gpu".
//
// JSON of open: the argument "decoder" is "cpu" or "gpu"; "gpu" is {"device": 0, "nvjpeg": "", "packages":
// []}, all of it optional: CUDA's number of the device, the path of libnvjpeg.so, and folders of Python
// packages to look for it. Without a GPU, a driver or nvJPEG the error's kind is "gpu". The reply has "gpu":
// null, or gpudecode.Info. No blocks are lent to runs of such a loader: dsconv_start's count is 0,
// dsconv_next's block NULL, and the batch's images are NULL: dsconv_device has them.
//
// The method "stats" replies {"clock": ..., "bad": ..., "narrowed": ..., "decoded": {"engine": n, "cuda": n,
// "cpu": n, "reasons": {REASON: n}}}: the first three as the methods of these names reply.
#ifndef DSCONV_DEVICE_H
#define DSCONV_DEVICE_H

#include <stdint.h>

// dsconv_device_t is the memory of a batch's images, all views of them.
typedef struct {
  void *tensor;     // a DLManagedTensor of DLPack 0.8; the caller calls its deleter once
  int64_t elements; // its only dimension: a row of elements of the images' type
} dsconv_device_t;

#endif
