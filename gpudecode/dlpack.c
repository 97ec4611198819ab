//go:build linux

#include "dlpack.h"

#include <stdlib.h>
#include <string.h>

// A tensor with what its deleter needs.
typedef struct {
  dsconv_dlpack_managed managed;
  dsconv_cuda_block *block;
  CUstream consumer;
  int64_t sizes[]; // shape, then strides
} lent_tensor;

static void give_back(dsconv_dlpack_managed *m) {
  lent_tensor *t = m->manager;
  t->block->release_after(t->block, t->consumer);
  free(t);
}

dsconv_dlpack_managed *dsconv_dlpack_new(dsconv_cuda_block *block, uint64_t offset, int device,
                                         dsconv_dlpack_type type, int ndim, const int64_t *shape,
                                         const int64_t *strides, uintptr_t consumer) {
  const size_t n = (size_t)ndim;
  lent_tensor *t = calloc(1, sizeof *t + 2 * n * sizeof *t->sizes);
  if (t == NULL)
    return NULL;
  t->block = block;
  t->consumer = (CUstream)consumer;
  memcpy(t->sizes, shape, n * sizeof *shape);
  memcpy(t->sizes + n, strides, n * sizeof *strides);
  // The offset is in the address, because some readers forget byte_offset.
  t->managed.tensor = (dsconv_dlpack_tensor){
      .data = (void *)(uintptr_t)(block->address + offset),
      .device = {DSCONV_DLPACK_CUDA, device},
      .ndim = ndim,
      .dtype = type,
      .shape = t->sizes,
      .strides = t->sizes + n,
  };
  t->managed.manager = t;
  t->managed.deleter = give_back;
  return &t->managed;
}
