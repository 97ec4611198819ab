// The calls of this package's Go code: each enters and leaves the GPU's context by itself.
#ifndef DSCONV_CUDA_CALLS_H
#define DSCONV_CUDA_CALLS_H

#include "driver.h"

// dsconv_cuda_open loads the driver's library. *opened is the driver, or NULL with the reason in why; missing
// is set if there is no such library.
void dsconv_cuda_open(const char *library, dsconv_cuda **opened, int *missing, char *why, size_t size);

const char *dsconv_cuda_name(const dsconv_cuda *api, CUresult code);
const char *dsconv_cuda_text(const dsconv_cuda *api, CUresult code);
CUresult dsconv_cuda_init(const dsconv_cuda *api, int *version, int *devices);

typedef struct {
  char name[256];
  CUuuid uuid;
  int major, minor; // compute capability
  size_t memory;
} dsconv_cuda_properties;

// dsconv_cuda_describe needs no context.
CUresult dsconv_cuda_describe(const dsconv_cuda *api, int number, dsconv_cuda_properties *p);
CUresult dsconv_cuda_retain(dsconv_cuda_device *d);
CUresult dsconv_cuda_release(dsconv_cuda_device *d);
dsconv_cuda_device *dsconv_cuda_new_device(const dsconv_cuda *api, int number);

// Handles are passed as numbers: to Go they are no pointers, and 1, the legacy default stream, is none in C
// either.

// CALL is a function of the driver within the GPU's context.
#define CALL(d, call)                                                                                        \
  do {                                                                                                       \
    CUresult result = dsconv_cuda_enter(d);                                                                  \
    return result != 0 ? result : dsconv_cuda_leave(d, (d)->api->call);                                      \
  } while (0)

static inline CUresult stream_new(const dsconv_cuda *api, CUstream *stream) {
  int least, greatest; // 0 and a negative number; both 0 where the GPU knows no priorities
  CUresult result = api->cuCtxGetStreamPriorityRange(&least, &greatest);
  return result != 0 ? result
                     : api->cuStreamCreateWithPriority(stream, DSCONV_CUDA_NON_BLOCKING_STREAM, greatest);
}

static inline CUresult dsconv_cuda_stream_new(const dsconv_cuda_device *d, uintptr_t *stream) {
  CUresult result = dsconv_cuda_enter(d);
  return result != 0 ? result : dsconv_cuda_leave(d, stream_new(d->api, (CUstream *)stream));
}

static inline CUresult dsconv_cuda_stream_free(const dsconv_cuda_device *d, uintptr_t stream) {
  CALL(d, cuStreamDestroy((CUstream)stream));
}

// cuStreamSynchronize alone would occupy a core: how it waits is the context's setting, and PyTorch's
// default.
static inline CUresult stream_sync(const dsconv_cuda *api, CUstream stream, CUevent event) {
  CUresult result = api->cuEventRecord(event, stream);
  if (result == 0)
    result = api->cuEventSynchronize(event);
  return result != 0 ? result : api->cuStreamSynchronize(stream);
}

// dsconv_cuda_stream_sync sleeps until the stream is done. event is its own.
static inline CUresult dsconv_cuda_stream_sync(const dsconv_cuda_device *d, uintptr_t stream,
                                               uintptr_t event) {
  CUresult result = dsconv_cuda_enter(d);
  return result != 0 ? result : dsconv_cuda_leave(d, stream_sync(d->api, (CUstream)stream, (CUevent)event));
}

static inline CUresult dsconv_cuda_event_new(const dsconv_cuda_device *d, uintptr_t *event) {
  // A thread that waits sleeps: its core decodes for others.
  CALL(d, cuEventCreate((CUevent *)event, DSCONV_CUDA_BLOCKING_SYNC | DSCONV_CUDA_NO_TIMING));
}

static inline CUresult dsconv_cuda_event_free(const dsconv_cuda_device *d, uintptr_t event) {
  CALL(d, cuEventDestroy((CUevent)event));
}

static inline CUresult dsconv_cuda_event_record(const dsconv_cuda_device *d, uintptr_t event,
                                                uintptr_t stream) {
  CALL(d, cuEventRecord((CUevent)event, (CUstream)stream));
}

static inline CUresult dsconv_cuda_event_sync(const dsconv_cuda_device *d, uintptr_t event) {
  CALL(d, cuEventSynchronize((CUevent)event));
}

static inline CUresult dsconv_cuda_alloc(const dsconv_cuda_device *d, size_t size, CUdeviceptr *address) {
  CALL(d, cuMemAlloc(address, size));
}

static inline CUresult dsconv_cuda_free(const dsconv_cuda_device *d, CUdeviceptr address) {
  CALL(d, cuMemFree(address));
}

static inline CUresult dsconv_cuda_alloc_pinned(const dsconv_cuda_device *d, size_t size, void **address) {
  CALL(d, cuMemHostAlloc(address, size, DSCONV_CUDA_PORTABLE));
}

static inline CUresult dsconv_cuda_free_pinned(const dsconv_cuda_device *d, void *address) {
  CALL(d, cuMemFreeHost(address));
}

static inline CUresult dsconv_cuda_to_device(const dsconv_cuda_device *d, CUdeviceptr to, const void *from,
                                             size_t size, uintptr_t stream) {
  CALL(d, cuMemcpyHtoDAsync(to, from, size, (CUstream)stream));
}

static inline CUresult dsconv_cuda_to_host(const dsconv_cuda_device *d, void *to, CUdeviceptr from,
                                           size_t size, uintptr_t stream) {
  CALL(d, cuMemcpyDtoHAsync(to, from, size, (CUstream)stream));
}

static inline CUresult dsconv_cuda_set32(const dsconv_cuda_device *d, CUdeviceptr to, uint32_t value,
                                         size_t count, uintptr_t stream) {
  CALL(d, cuMemsetD32Async(to, value, count, (CUstream)stream));
}

static inline CUresult dsconv_cuda_module_new(const dsconv_cuda_device *d, const void *image,
                                              uintptr_t *module) {
  CALL(d, cuModuleLoadData((CUmodule *)module, image));
}

static inline CUresult dsconv_cuda_module_free(const dsconv_cuda_device *d, uintptr_t module) {
  CALL(d, cuModuleUnload((CUmodule)module));
}

static inline CUresult dsconv_cuda_function(const dsconv_cuda_device *d, uintptr_t module, const char *name,
                                            uintptr_t *function) {
  CALL(d, cuModuleGetFunction((CUfunction *)function, (CUmodule)module, name));
}

typedef struct {
  unsigned int grid[3], block[3], shared;
  uintptr_t stream;
  uint64_t arguments[4]; // as many as the kernel has
} dsconv_cuda_launch;

// dsconv_cuda_run launches a kernel.
static inline CUresult dsconv_cuda_run(const dsconv_cuda_device *d, uintptr_t function,
                                       dsconv_cuda_launch *l) {
  uint64_t *a = l->arguments;
  void *pointers[] = {a, a + 1, a + 2, a + 3};
  CALL(d, cuLaunchKernel((CUfunction)function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                         l->block[2], l->shared, (CUstream)l->stream, pointers, NULL));
}

typedef struct dsconv_cuda_pool dsconv_cuda_pool;

// A pool holds the GPU's context until it is closed and all its blocks were released.
CUresult dsconv_cuda_pool_new(dsconv_cuda_device *d, size_t size, dsconv_cuda_pool **pool);
void dsconv_cuda_pool_close(dsconv_cuda_pool *pool);
// dsconv_cuda_pool_take returns the block that was released first, or a new one. stream waits for the work
// that it was released after.
CUresult dsconv_cuda_pool_take(dsconv_cuda_pool *pool, uintptr_t stream, dsconv_cuda_block **block);
// These call the block's functions.
void dsconv_cuda_block_release(dsconv_cuda_block *block);
void dsconv_cuda_block_release_after(dsconv_cuda_block *block, uintptr_t stream);

#endif
