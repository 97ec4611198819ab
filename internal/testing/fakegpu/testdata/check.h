// What the C checks of the fake libraries share.
#ifndef DSCONV_CHECK_H
#define DSCONV_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fake.h"
#include "../libcuda/cu.h"
#include "../libnvjpeg/nv.h"

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                        \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
#define SAME(got, want)                                                                                      \
  do {                                                                                                       \
    long got_ = (long)(got), want_ = (long)(want);                                                           \
    if (got_ != want_) {                                                                                     \
      fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #got, got_, want_);                 \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuDeviceGetCount(int *count);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxSynchronize(void);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t size);
CUresult cuMemFree_v2(CUdeviceptr at);
CUresult cuMemGetInfo_v2(size_t *rest, size_t *total);
CUresult cuMemHostAlloc(void **at, size_t size, unsigned flags);
CUresult cuMemFreeHost(void *at);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t n, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, size_t n, CUstream stream);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra);

// Begins and ends a check: with a context, and with nothing left at the end.
static inline void begin(const char *modes) {
  CUcontext context;
  fake_violations(NULL, 0);
  fake_set(modes);
  SAME(cuInit(0), 0);
  SAME(cuDevicePrimaryCtxRetain(&context, 0), 0);
  SAME(cuCtxPushCurrent_v2(context), 0);
}

static inline void end(int violations) {
  char text[4096];
  CUcontext context;
  fake_lose(0);
  SAME(cuCtxPopCurrent_v2(&context), 0);
  SAME(cuDevicePrimaryCtxRelease_v2(0), 0);
  if (fake_live(text, sizeof text)) {
    fprintf(stderr, "left: %s\n", text);
    exit(1);
  }
  int n = fake_violations(text, sizeof text);
  if (n != violations) {
    fprintf(stderr, "%d violations, not %d:\n%s", n, violations, text);
    exit(1);
  }
}

#endif
