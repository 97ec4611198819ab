// The driver, devices, contexts and errors.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enter.h"
#include "streams.h"

enum { DEVICES = 8, STACK = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int initialised_by; // the process
static atomic_int lost;
static struct {
  CUcontext handle;
  int users;
} primary[DEVICES];
static _Thread_local uintptr_t stack[STACK];
static _Thread_local int depth;

int fake_lost(void) { return lost; }
void fake_lose(int status) { lost = status; }

static bool sticky(int status) {
  return status == 214 || status == 700 || status == 710 || (status >= 714 && status < 720);
}

static bool live(uintptr_t context) { return fake_body(FAKE_CONTEXT, (void *)context) != NULL; }

uintptr_t fake_context(void) {
  uintptr_t top = depth ? stack[depth - 1] : 0;
  return top && live(top) ? top : 0;
}

int fake_enter(const char *function, bool needs_context) {
  fake_counted(function);
  if (initialised_by != getpid())
    return CU_NOT_INITIALIZED;
  int status = (int)fake_strike(function);
  if (sticky(status) && !lost)
    fake_lose(status);
  if (lost)
    return lost;
  if (status)
    return status;
  return needs_context && !fake_context() ? CU_INVALID_CONTEXT : 0;
}

// CUDA does not survive a fork.
CUresult cuInit(unsigned flags) {
  fake_counted(__func__);
  int by = 0, status = (int)fake_strike(__func__);
  if (status || flags)
    return status ? status : CU_INVALID_VALUE;
  if (atomic_compare_exchange_strong(&initialised_by, &by, (int)getpid()) || by == getpid())
    return CU_OK;
  return CU_NOT_INITIALIZED;
}

CUresult cuDriverGetVersion(int *version) {
  fake_counted(__func__);
  *version = (int)fake_setting("driver", 13000);
  return CU_OK;
}

static int device_count(void) { return (int)fake_setting("devices", 1); }

static bool bad(CUdevice device) { return device < 0 || device >= device_count() || device >= DEVICES; }

CUresult cuDeviceGetCount(int *count) {
  ENTER(false);
  *count = device_count();
  return CU_OK;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER(false);
  if (bad(ordinal))
    return CU_INVALID_DEVICE;
  *device = ordinal;
  return CU_OK;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  ENTER(false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  snprintf(name, (size_t)size, "Fake GPU");
  return CU_OK;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  ENTER(false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  for (int i = 0; i < 16; i++)
    uuid->bytes[i] = (char)(0xF0 + i);
  uuid->bytes[15] = (char)device;
  return CU_OK;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ENTER(false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  size_t rest;
  fake_memory_info(&rest, bytes);
  return CU_OK;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  ENTER(false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  switch ((int)attribute) {
  case 8: // shared memory per block
    *value = 48 << 10;
    break;
  case 16: // multiprocessors
    *value = 4;
    break;
  case 75:
    *value = (int)fake_setting("sm", 90) / 10;
    break;
  case 76:
    *value = (int)fake_setting("sm", 90) % 10;
    break;
  case 41: // unified addressing
    *value = 1;
    break;
  case 97: // shared memory per block, where asked for
    *value = 227 << 10;
    break;
  default:
    return CU_INVALID_VALUE;
  }
  return CU_OK;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER(false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  pthread_mutex_lock(&lock);
  if (primary[device].users++ == 0)
    primary[device].handle = fake_handle(FAKE_CONTEXT, &primary[device]);
  *context = primary[device].handle;
  pthread_mutex_unlock(&lock);
  return CU_OK;
}

// After the last release nothing of the context can be used any more; what was not destroyed before stays
// counted.
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  int status = fake_enter(__func__, false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  pthread_mutex_lock(&lock);
  bool held = primary[device].users > 0;
  if (held && --primary[device].users == 0)
    fake_drop(FAKE_CONTEXT, primary[device].handle);
  pthread_mutex_unlock(&lock);
  return status ? status : held ? CU_OK : CU_INVALID_CONTEXT;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  ENTER(false);
  if (bad(device))
    return CU_INVALID_DEVICE;
  *flags = 0;
  *active = primary[device].users > 0;
  return CU_OK;
}

// Pushing and popping touch only the thread, so they work with a lost GPU too.
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  int status = fake_enter(__func__, false);
  if (status && status != lost)
    return status;
  if (!live((uintptr_t)context))
    return CU_INVALID_CONTEXT;
  if (depth == STACK) {
    fake_violation("a thread pushed %d contexts: pops are missing", STACK);
    return CU_INVALID_VALUE;
  }
  stack[depth++] = (uintptr_t)context;
  return CU_OK;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  int status = fake_enter(__func__, false);
  if (status && status != lost)
    return status;
  if (!depth)
    return CU_INVALID_CONTEXT;
  depth--;
  if (context)
    *context = (CUcontext)stack[depth];
  return CU_OK;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER(false);
  if (context && !live((uintptr_t)context))
    return CU_INVALID_CONTEXT;
  if (depth == 0 && context)
    depth = 1;
  if (depth && !context)
    depth--;
  else if (depth)
    stack[depth - 1] = (uintptr_t)context;
  return CU_OK;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  ENTER(false);
  *context = (CUcontext)fake_context();
  return CU_OK;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  ENTER(true);
  *device = 0;
  while ((uintptr_t)primary[*device].handle != fake_context())
    (*device)++;
  return CU_OK;
}

CUresult cuCtxSynchronize(void) {
  ENTER(true);
  return fake_synchronize_all();
}

static const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

static int find_error(int code) {
  int n = (int)(sizeof errors / sizeof *errors);
  for (int i = 0; i < n; i++)
    if (errors[i].code == code)
      return i;
  return -1;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  int i = find_error((int)error);
  *text = i < 0 ? NULL : errors[i].name;
  return i < 0 ? CU_INVALID_VALUE : CU_OK;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  int i = find_error((int)error);
  *text = i < 0 ? NULL : errors[i].text;
  return i < 0 ? CU_INVALID_VALUE : CU_OK;
}
