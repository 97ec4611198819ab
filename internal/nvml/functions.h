// What dsconv uses of NVML. NVIDIA's nvml.h is not needed to build; a test compares these declarations with
// it.
#ifndef DSCONV_NVML_FUNCTIONS_H
#define DSCONV_NVML_FUNCTIONS_H

#ifndef __nvml_nvml_h__ // the test includes nvml.h first, so that the prototypes below have its types
typedef int nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct {
  unsigned int gpu, memory; // percent
} nvmlUtilization_t;
typedef struct {
  unsigned long long total, free, used; // bytes
} nvmlMemory_t;
#endif

enum { DSCONV_NVML_NOT_SUPPORTED = 3 };

// F(name, suffix, result, parameters) for each function. The suffix is the version that nvml.h maps the name
// to.
#define DSCONV_NVML_FUNCTIONS(F)                                                                             \
  F(nvmlInit, _v2, nvmlReturn_t, (void))                                                                     \
  F(nvmlShutdown, , nvmlReturn_t, (void))                                                                    \
  F(nvmlErrorString, , const char *, (nvmlReturn_t))                                                         \
  F(nvmlDeviceGetCount, _v2, nvmlReturn_t, (unsigned int *))                                                 \
  F(nvmlDeviceGetHandleByIndex, _v2, nvmlReturn_t, (unsigned int, nvmlDevice_t *))                           \
  F(nvmlDeviceGetName, , nvmlReturn_t, (nvmlDevice_t, char *, unsigned int))                                 \
  F(nvmlDeviceGetMemoryInfo, , nvmlReturn_t, (nvmlDevice_t, nvmlMemory_t *))                                 \
  F(nvmlDeviceGetUtilizationRates, , nvmlReturn_t, (nvmlDevice_t, nvmlUtilization_t *))

#endif
