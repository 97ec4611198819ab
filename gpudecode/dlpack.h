// Memory handed over by DLPack 0.8: the structs of its ABI, which other libraries read.
#ifndef DSCONV_GPUDECODE_DLPACK_H
#define DSCONV_GPUDECODE_DLPACK_H

#include <stdint.h>

#include "../internal/cuda/driver.h"

enum { DSCONV_DLPACK_CUDA = 2 }; // kDLCUDA

typedef struct {
  int32_t device_type, device_id;
} dsconv_dlpack_device;

// code is 1 for unsigned integers, 2 for floats, 4 for bfloat16.
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} dsconv_dlpack_type;

typedef struct {
  void *data;
  dsconv_dlpack_device device;
  int32_t ndim;
  dsconv_dlpack_type dtype;
  int64_t *shape, *strides; // strides in elements
  uint64_t byte_offset;
} dsconv_dlpack_tensor;

typedef struct dsconv_dlpack_managed {
  dsconv_dlpack_tensor tensor;
  void *manager;
  void (*deleter)(struct dsconv_dlpack_managed *);
} dsconv_dlpack_managed;

// dsconv_dlpack_new makes a tensor of a row of elements, which begins where the block does. Its deleter gives
// the block back for use after all work that the stream consumer has by then; it may run on any thread, also
// while the process ends. NULL if there is no memory.
dsconv_dlpack_managed *dsconv_dlpack_new(dsconv_cuda_block *block, int device, dsconv_dlpack_type type,
                                         int64_t elements, uintptr_t consumer);

#endif
