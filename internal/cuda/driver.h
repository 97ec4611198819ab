// What dsconv uses of CUDA's driver API, and how C code of other packages calls it. NVIDIA's cuda.h is not
// needed to build; a test compares these declarations with it.
#ifndef DSCONV_CUDA_DRIVER_H
#define DSCONV_CUDA_DRIVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifndef __cuda_cuda_h__ // the test includes cuda.h first, so that the prototypes below have its types
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;
#endif

enum {
  DSCONV_CUDA_OUT_OF_MEMORY = 2,       // CUDA_ERROR_OUT_OF_MEMORY
  DSCONV_CUDA_NON_BLOCKING_STREAM = 1, // CU_STREAM_NON_BLOCKING
  DSCONV_CUDA_BLOCKING_SYNC = 1,       // CU_EVENT_BLOCKING_SYNC
  DSCONV_CUDA_NO_TIMING = 2,           // CU_EVENT_DISABLE_TIMING
  DSCONV_CUDA_PORTABLE = 1,            // CU_MEMHOSTALLOC_PORTABLE
  DSCONV_CUDA_COMPUTE_MAJOR = 75,      // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  DSCONV_CUDA_COMPUTE_MINOR = 76,      // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
};

// DSCONV_CUDA_FORKED is a result of our own: the process was forked after CUDA had been opened.
#define DSCONV_CUDA_FORKED 1000000

// F(name, suffix, parameters) for each function. The suffix is the version of the function that cuda.h maps
// the name to. dlsym needs it: under the plain name the library keeps CUDA 3's function, whose sizes have 32
// bits. cuGetProcAddress, which would choose, has itself changed between CUDA 11 and 12.
#define DSCONV_CUDA_FUNCTIONS(F)                                                                             \
  F(cuInit, , (unsigned int))                                                                                \
  F(cuDriverGetVersion, , (int *))                                                                           \
  F(cuGetErrorName, , (CUresult, const char **))                                                             \
  F(cuGetErrorString, , (CUresult, const char **))                                                           \
  F(cuDeviceGetCount, , (int *))                                                                             \
  F(cuDeviceGet, , (CUdevice *, int))                                                                        \
  F(cuDeviceGetName, , (char *, int, CUdevice))                                                              \
  F(cuDeviceGetUuid, _v2, (CUuuid *, CUdevice))                                                              \
  F(cuDeviceTotalMem, _v2, (size_t *, CUdevice))                                                             \
  F(cuDeviceGetAttribute, , (int *, CUdevice_attribute, CUdevice))                                           \
  F(cuDevicePrimaryCtxRetain, , (CUcontext *, CUdevice))                                                     \
  F(cuDevicePrimaryCtxRelease, _v2, (CUdevice))                                                              \
  F(cuCtxPushCurrent, _v2, (CUcontext))                                                                      \
  F(cuCtxPopCurrent, _v2, (CUcontext *))                                                                     \
  F(cuCtxSynchronize, , (void))                                                                              \
  F(cuCtxGetStreamPriorityRange, , (int *, int *))                                                           \
  F(cuStreamCreateWithPriority, , (CUstream *, unsigned int, int))                                           \
  F(cuStreamDestroy, _v2, (CUstream))                                                                        \
  F(cuStreamSynchronize, , (CUstream))                                                                       \
  F(cuStreamWaitEvent, , (CUstream, CUevent, unsigned int))                                                  \
  F(cuEventCreate, , (CUevent *, unsigned int))                                                              \
  F(cuEventDestroy, _v2, (CUevent))                                                                          \
  F(cuEventRecord, , (CUevent, CUstream))                                                                    \
  F(cuEventSynchronize, , (CUevent))                                                                         \
  F(cuMemAlloc, _v2, (CUdeviceptr *, size_t))                                                                \
  F(cuMemFree, _v2, (CUdeviceptr))                                                                           \
  F(cuMemHostAlloc, , (void **, size_t, unsigned int))                                                       \
  F(cuMemFreeHost, , (void *))                                                                               \
  F(cuMemcpyHtoDAsync, _v2, (CUdeviceptr, const void *, size_t, CUstream))                                   \
  F(cuMemcpyDtoHAsync, _v2, (void *, CUdeviceptr, size_t, CUstream))                                         \
  F(cuMemsetD32Async, , (CUdeviceptr, unsigned int, size_t, CUstream))                                       \
  F(cuModuleLoadData, , (CUmodule *, const void *))                                                          \
  F(cuModuleUnload, , (CUmodule))                                                                            \
  F(cuModuleGetFunction, , (CUfunction *, CUmodule, const char *))                                           \
  F(cuLaunchKernel, ,                                                                                        \
    (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,         \
     unsigned int, CUstream, void **, void **))

// dsconv_cuda is an opened driver. It stays valid until the process ends.
typedef struct {
#define F(name, suffix, parameters) CUresult(*name) parameters;
  DSCONV_CUDA_FUNCTIONS(F)
#undef F
  pid_t pid; // of the process that opened it
} dsconv_cuda;

// dsconv_cuda_device is a GPU with its primary context, the one that PyTorch and nvJPEG use too. It stays
// valid until the process ends; the context is released once nobody holds it.
typedef struct {
  const dsconv_cuda *api;
  CUdevice device;
  CUcontext context;
  pthread_mutex_t lock;
  int holders; // of the context
} dsconv_cuda_device;

// dsconv_cuda_enter makes the GPU's context the thread's own until dsconv_cuda_leave. Every call needs both,
// because goroutines move between threads.
static inline CUresult dsconv_cuda_enter(const dsconv_cuda_device *d) {
  if (getpid() != d->api->pid)
    return (CUresult)DSCONV_CUDA_FORKED;
  return d->api->cuCtxPushCurrent(d->context);
}

// dsconv_cuda_leave returns result, or why the thread's former context could not be restored.
static inline CUresult dsconv_cuda_leave(const dsconv_cuda_device *d, CUresult result) {
  CUcontext popped;
  CUresult left = d->api->cuCtxPopCurrent(&popped);
  return result != 0 ? result : left;
}

// dsconv_cuda_block is memory of a pool, with what C code needs to give it back: from any thread, also after
// the pool was closed, and while the process ends. Only one of the two functions may be called, once.
typedef struct dsconv_cuda_block {
  CUdeviceptr address;
  // release gives the block back; nothing may use it any more.
  void (*release)(struct dsconv_cuda_block *);
  // release_after gives it back for use after all work that stream has by now. It does not wait for that.
  void (*release_after)(struct dsconv_cuda_block *, CUstream stream);
  struct dsconv_cuda_pool *pool;
  struct dsconv_cuda_block *next; // in the pool's queue
  CUevent done;                   // recorded by release_after
  int pending;                    // whether done must be waited for
} dsconv_cuda_block;

#endif
