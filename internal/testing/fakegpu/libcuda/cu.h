// The part of the CUDA driver API that the fake has, by NVIDIA's documentation. With NVIDIA's cuda.h included
// before, its declarations are used instead, and the compiler compares the definitions with them
// (signatures_test.go).
#ifndef DSCONV_FAKE_CU_H
#define DSCONV_FAKE_CU_H

#include <stddef.h>

#ifndef CUDA_VERSION
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct {
  char bytes[16];
} CUuuid;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUpointer_attribute;
typedef int CUjit_option;
typedef void (*CUhostFn)(void *data);
#endif

enum {
  CU_OK = 0,
  CU_INVALID_VALUE = 1,
  CU_OUT_OF_MEMORY = 2,
  CU_NOT_INITIALIZED = 3,
  CU_NO_DEVICE = 100,
  CU_INVALID_DEVICE = 101,
  CU_INVALID_IMAGE = 200,
  CU_INVALID_CONTEXT = 201,
  CU_NO_BINARY_FOR_GPU = 209,
  CU_INVALID_HANDLE = 400,
  CU_NOT_FOUND = 500,
  CU_NOT_READY = 600,
  CU_ILLEGAL_ADDRESS = 700,
  CU_LAUNCH_FAILED = 719
};

#endif
