//go:build linux

#define _GNU_SOURCE // dladdr

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

dsconv_nvjpeg *dsconv_nvjpeg_open(const char *path, int *version, char *why, size_t size) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char *text = dlerror();
    snprintf(why, size, "%s", text != NULL ? text : "unknown error");
    return NULL;
  }
  dsconv_nvjpeg *api = calloc(1, sizeof *api);
  if (api == NULL) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  if ((*(void **)&api->nvjpegGetProperty = dlsym(handle, "nvjpegGetProperty")) == NULL) {
    snprintf(why, size, "it is not nvJPEG");
    free(api);
    return NULL;
  }
  for (int i = 0; i < 3; i++)
    if (api->nvjpegGetProperty(i, &version[i]) != 0)
      version[i] = 0;
#define F(name, parameters)                                                                                  \
  if ((*(void **)&api->name = dlsym(handle, #name)) == NULL) {                                               \
    snprintf(why, size, "version %d.%d.%d is too old: it has no function " #name, version[0], version[1],    \
             version[2]);                                                                                    \
    free(api);                                                                                               \
    return NULL;                                                                                             \
  }
  DSCONV_NVJPEG_FUNCTIONS(F)
#undef F
  return api; // the library stays open: what it started may outlive every handle
}

void dsconv_nvjpeg_path(const dsconv_nvjpeg *api, char *path, size_t size) {
  Dl_info info;
  int found = dladdr(*(void *const *)&api->nvjpegGetProperty, &info);
  snprintf(path, size, "%s", found && info.dli_fname != NULL ? info.dli_fname : "");
}
