//go:build linux

#include "dlpack.h"

#include <stdlib.h>

// A tensor with what its deleter needs.
typedef struct {
  dsconv_dlpack_managed managed;
  dsconv_cuda_block *block;
  CUstream consumer;
  int64_t size, stride;
} lent_tensor;

static void give_back(dsconv_dlpack_managed *m) {
  lent_tensor *t = m->manager;
  t->block->release_after(t->block, t->consumer);
  free(t);
}

dsconv_dlpack_managed *dsconv_dlpack_new(dsconv_cuda_block *block, int device, dsconv_dlpack_type type,
                                         int64_t elements, uintptr_t consumer) {
  lent_tensor *t = calloc(1, sizeof *t);
  if (t == NULL)
    return NULL;
  t->block = block;
  t->consumer = (CUstream)consumer;
  t->size = elements;
  t->stride = 1;
  t->managed.tensor = (dsconv_dlpack_tensor){
      .data = (void *)(uintptr_t)block->address,
      .device = {DSCONV_DLPACK_CUDA, device},
      .ndim = 1,
      .dtype = type,
      .shape = &t->size,
      .strides = &t->stride,
  };
  t->managed.manager = t;
  t->managed.deleter = give_back;
  return &t->managed;
}
