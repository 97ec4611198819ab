//go:build linux

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

void dsconv_cuda_open(const char *library, dsconv_cuda **opened, int *missing, char *why, size_t size) {
  *opened = NULL;
  *missing = 0;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char *text = dlerror();
    *missing = 1;
    snprintf(why, size, "%s", text != NULL ? text : "unknown error");
    return;
  }
  dsconv_cuda *api = calloc(1, sizeof *api);
  if (api == NULL) {
    snprintf(why, size, "out of memory");
    return;
  }
#define F(name, suffix, parameters)                                                                          \
  if ((*(void **)&api->name = dlsym(handle, #name #suffix)) == NULL) {                                       \
    snprintf(why, size, "it has no function " #name #suffix);                                                \
    free(api);                                                                                               \
    return;                                                                                                  \
  }
  DSCONV_CUDA_FUNCTIONS(F)
#undef F
  api->pid = getpid();
  *opened = api; // the library stays open: nothing unloads a driver safely
}

const char *dsconv_cuda_name(const dsconv_cuda *api, CUresult code) {
  const char *name = NULL;
  return api->cuGetErrorName(code, &name) == 0 && name != NULL ? name : "";
}

const char *dsconv_cuda_text(const dsconv_cuda *api, CUresult code) {
  const char *text = NULL;
  return api->cuGetErrorString(code, &text) == 0 && text != NULL ? text : "";
}

CUresult dsconv_cuda_init(const dsconv_cuda *api, int *version, int *devices) {
  CUresult result = api->cuDriverGetVersion(version);
  if (result == 0)
    result = api->cuInit(0);
  return result != 0 ? result : api->cuDeviceGetCount(devices);
}

CUresult dsconv_cuda_describe(const dsconv_cuda *api, int number, dsconv_cuda_properties *p) {
  CUdevice device;
  if (getpid() != api->pid)
    return (CUresult)DSCONV_CUDA_FORKED;
  CUresult result = api->cuDeviceGet(&device, number);
  if (result == 0)
    result = api->cuDeviceGetName(p->name, sizeof p->name, device);
  if (result == 0)
    result = api->cuDeviceGetUuid(&p->uuid, device);
  if (result == 0)
    result = api->cuDeviceTotalMem(&p->memory, device);
  if (result == 0)
    result = api->cuDeviceGetAttribute(&p->major, (CUdevice_attribute)DSCONV_CUDA_COMPUTE_MAJOR, device);
  if (result == 0)
    result = api->cuDeviceGetAttribute(&p->minor, (CUdevice_attribute)DSCONV_CUDA_COMPUTE_MINOR, device);
  return result;
}

dsconv_cuda_device *dsconv_cuda_new_device(const dsconv_cuda *api, int number) {
  dsconv_cuda_device *d = calloc(1, sizeof *d);
  if (d == NULL)
    return NULL;
  d->api = api;
  pthread_mutex_init(&d->lock, NULL);
  if (api->cuDeviceGet(&d->device, number) != 0) {
    free(d);
    return NULL;
  }
  return d;
}

CUresult dsconv_cuda_retain(dsconv_cuda_device *d) {
  if (getpid() != d->api->pid)
    return (CUresult)DSCONV_CUDA_FORKED;
  pthread_mutex_lock(&d->lock);
  CUresult result = d->holders > 0 ? 0 : d->api->cuDevicePrimaryCtxRetain(&d->context, d->device);
  if (result == 0)
    d->holders++;
  pthread_mutex_unlock(&d->lock);
  return result;
}

CUresult dsconv_cuda_release(dsconv_cuda_device *d) {
  if (getpid() != d->api->pid)
    return (CUresult)DSCONV_CUDA_FORKED;
  pthread_mutex_lock(&d->lock);
  CUresult result = --d->holders > 0 ? 0 : d->api->cuDevicePrimaryCtxRelease(d->device);
  pthread_mutex_unlock(&d->lock);
  return result;
}
