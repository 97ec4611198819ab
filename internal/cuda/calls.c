//go:build linux

#include "calls.h"

// CALL is a function of the driver within the GPU's context.
#define CALL(d, call)                                                                                        \
  do {                                                                                                       \
    CUresult result = dsconv_cuda_enter(d);                                                                  \
    return result != 0 ? result : dsconv_cuda_leave(d, (d)->api->call);                                      \
  } while (0)

static CUresult stream_new(const dsconv_cuda *api, CUstream *stream) {
  int least, greatest; // 0 and a negative number; both 0 where the GPU knows no priorities
  CUresult result = api->cuCtxGetStreamPriorityRange(&least, &greatest);
  return result != 0 ? result
                     : api->cuStreamCreateWithPriority(stream, DSCONV_CUDA_NON_BLOCKING_STREAM, greatest);
}

CUresult dsconv_cuda_stream_new(const dsconv_cuda_device *d, uintptr_t *stream) {
  CUresult result = dsconv_cuda_enter(d);
  return result != 0 ? result : dsconv_cuda_leave(d, stream_new(d->api, (CUstream *)stream));
}

CUresult dsconv_cuda_stream_free(const dsconv_cuda_device *d, uintptr_t stream) {
  CALL(d, cuStreamDestroy((CUstream)stream));
}

// cuStreamSynchronize alone would occupy a core: how it waits is the context's setting, and PyTorch's
// default.
static CUresult stream_sync(const dsconv_cuda *api, CUstream stream, CUevent event) {
  CUresult result = api->cuEventRecord(event, stream);
  if (result == 0)
    result = api->cuEventSynchronize(event);
  return result != 0 ? result : api->cuStreamSynchronize(stream);
}

CUresult dsconv_cuda_stream_sync(const dsconv_cuda_device *d, uintptr_t stream, uintptr_t event) {
  CUresult result = dsconv_cuda_enter(d);
  return result != 0 ? result : dsconv_cuda_leave(d, stream_sync(d->api, (CUstream)stream, (CUevent)event));
}

CUresult dsconv_cuda_event_new(const dsconv_cuda_device *d, uintptr_t *event) {
  // A thread that waits sleeps: its core decodes for others.
  CALL(d, cuEventCreate((CUevent *)event, DSCONV_CUDA_BLOCKING_SYNC | DSCONV_CUDA_NO_TIMING));
}

CUresult dsconv_cuda_event_free(const dsconv_cuda_device *d, uintptr_t event) {
  CALL(d, cuEventDestroy((CUevent)event));
}

CUresult dsconv_cuda_event_record(const dsconv_cuda_device *d, uintptr_t event, uintptr_t stream) {
  CALL(d, cuEventRecord((CUevent)event, (CUstream)stream));
}

CUresult dsconv_cuda_event_sync(const dsconv_cuda_device *d, uintptr_t event) {
  CALL(d, cuEventSynchronize((CUevent)event));
}

CUresult dsconv_cuda_alloc(const dsconv_cuda_device *d, size_t size, CUdeviceptr *address) {
  CALL(d, cuMemAlloc(address, size));
}

CUresult dsconv_cuda_free(const dsconv_cuda_device *d, CUdeviceptr address) { CALL(d, cuMemFree(address)); }

CUresult dsconv_cuda_alloc_pinned(const dsconv_cuda_device *d, size_t size, void **address) {
  CALL(d, cuMemHostAlloc(address, size, DSCONV_CUDA_PORTABLE));
}

CUresult dsconv_cuda_free_pinned(const dsconv_cuda_device *d, void *address) {
  CALL(d, cuMemFreeHost(address));
}

CUresult dsconv_cuda_to_device(const dsconv_cuda_device *d, CUdeviceptr to, const void *from, size_t size,
                               uintptr_t stream) {
  CALL(d, cuMemcpyHtoDAsync(to, from, size, (CUstream)stream));
}

CUresult dsconv_cuda_to_host(const dsconv_cuda_device *d, void *to, CUdeviceptr from, size_t size,
                             uintptr_t stream) {
  CALL(d, cuMemcpyDtoHAsync(to, from, size, (CUstream)stream));
}

CUresult dsconv_cuda_set32(const dsconv_cuda_device *d, CUdeviceptr to, uint32_t value, size_t count,
                           uintptr_t stream) {
  CALL(d, cuMemsetD32Async(to, value, count, (CUstream)stream));
}

CUresult dsconv_cuda_module_new(const dsconv_cuda_device *d, const void *image, uintptr_t *module) {
  CALL(d, cuModuleLoadData((CUmodule *)module, image));
}

CUresult dsconv_cuda_module_free(const dsconv_cuda_device *d, uintptr_t module) {
  CALL(d, cuModuleUnload((CUmodule)module));
}

CUresult dsconv_cuda_function(const dsconv_cuda_device *d, uintptr_t module, const char *name,
                              uintptr_t *function) {
  CALL(d, cuModuleGetFunction((CUfunction *)function, (CUmodule)module, name));
}

CUresult dsconv_cuda_run(const dsconv_cuda_device *d, uintptr_t function, dsconv_cuda_launch *l) {
  uint64_t *a = l->arguments;
  void *pointers[] = {a, a + 1, a + 2, a + 3};
  CALL(d, cuLaunchKernel((CUfunction)function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                         l->block[2], l->shared, (CUstream)l->stream, pointers, NULL));
}
