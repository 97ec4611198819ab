//go:build linux

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

void dsconv_nvml_open(const char *file, dsconv_nvml **opened, int *missing, char *why, size_t size) {
  *opened = NULL;
  *missing = 0;
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char *text = dlerror();
    *missing = 1;
    snprintf(why, size, "%s", text != NULL ? text : "unknown error");
    return;
  }
  dsconv_nvml *api = calloc(1, sizeof *api);
  if (api == NULL) {
    snprintf(why, size, "out of memory");
    return;
  }
#define F(name, suffix, result, parameters)                                                                  \
  if ((*(void **)&api->name = dlsym(handle, #name #suffix)) == NULL) {                                       \
    snprintf(why, size, "it has no function " #name #suffix);                                                \
    free(api);                                                                                               \
    return;                                                                                                  \
  }
  DSCONV_NVML_FUNCTIONS(F)
#undef F
  *opened = api; // the library stays open: nothing unloads a driver safely
}

nvmlReturn_t dsconv_nvml_init(const dsconv_nvml *api, unsigned int *devices) {
  nvmlReturn_t code = api->nvmlInit();
  if (code != 0)
    return code;
  code = api->nvmlDeviceGetCount(devices);
  if (code != 0)
    api->nvmlShutdown();
  return code;
}

nvmlReturn_t dsconv_nvml_shutdown(const dsconv_nvml *api) { return api->nvmlShutdown(); }

const char *dsconv_nvml_text(const dsconv_nvml *api, nvmlReturn_t code) {
  const char *text = api->nvmlErrorString(code);
  return text != NULL ? text : "";
}

nvmlReturn_t dsconv_nvml_describe(const dsconv_nvml *api, unsigned int number, char *name, unsigned int size,
                                  unsigned long long *memory) {
  nvmlDevice_t device;
  nvmlMemory_t m;
  nvmlReturn_t code = api->nvmlDeviceGetHandleByIndex(number, &device);
  if (code == 0)
    code = api->nvmlDeviceGetName(device, name, size);
  if (code == 0 && (code = api->nvmlDeviceGetMemoryInfo(device, &m)) == 0)
    *memory = m.total;
  return code;
}

nvmlReturn_t dsconv_nvml_memory(const dsconv_nvml *api, unsigned int number, unsigned long long *used) {
  nvmlDevice_t device; // asked for each time: a reset makes it invalid
  nvmlMemory_t m;
  nvmlReturn_t code = api->nvmlDeviceGetHandleByIndex(number, &device);
  if (code == 0 && (code = api->nvmlDeviceGetMemoryInfo(device, &m)) == 0)
    *used = m.used;
  return code;
}

nvmlReturn_t dsconv_nvml_busy(const dsconv_nvml *api, unsigned int number, unsigned int *percent) {
  nvmlDevice_t device;
  nvmlUtilization_t u;
  nvmlReturn_t code = api->nvmlDeviceGetHandleByIndex(number, &device);
  if (code == 0 && (code = api->nvmlDeviceGetUtilizationRates(device, &u)) == 0)
    *percent = u.gpu;
  return code;
}
