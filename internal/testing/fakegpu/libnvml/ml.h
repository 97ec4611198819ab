// The part of NVML that the fake has, by NVIDIA's documentation. With NVIDIA's nvml.h included before, its
// declarations are used instead, and the compiler compares the definitions with them (signatures_test.go of
// internal/nvml).
#ifndef DSCONV_FAKE_ML_H
#define DSCONV_FAKE_ML_H

#ifndef __nvml_nvml_h__
typedef int nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct {
  unsigned int gpu;
  unsigned int memory;
} nvmlUtilization_t;
typedef struct {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
} nvmlMemory_t;
#endif

enum {
  ML_OK = 0,
  ML_UNINITIALIZED = 1,
  ML_INVALID_ARGUMENT = 2,
  ML_NOT_SUPPORTED = 3,
  ML_INSUFFICIENT_SIZE = 7
};

#endif
