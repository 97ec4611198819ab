// NVML: what nvidia-smi knows of the GPUs. It works without CUDA, and stays usable when a GPU is lost to
// CUDA.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "../fake.h"
#include "ml.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users; // nvmlInit_v2 less nvmlShutdown

long fake_nvml_users(void) {
  pthread_mutex_lock(&lock);
  long n = users;
  pthread_mutex_unlock(&lock);
  return n;
}

static int enter(const char *function) {
  fake_counted(function);
  int status = (int)fake_strike(function);
  if (status)
    return status;
  if (fake_nvml_users() == 0) {
    fake_violation("%s before nvmlInit_v2, or after nvmlShutdown", function);
    return ML_UNINITIALIZED;
  }
  return ML_OK;
}

#define ENTER()                                                                                              \
  do {                                                                                                       \
    int status_ = enter(__func__);                                                                           \
    if (status_)                                                                                             \
      return status_;                                                                                        \
  } while (0)

nvmlReturn_t nvmlInit_v2(void) {
  fake_counted(__func__);
  int status = (int)fake_strike(__func__);
  if (status)
    return status;
  pthread_mutex_lock(&lock);
  users++;
  pthread_mutex_unlock(&lock);
  return ML_OK;
}

nvmlReturn_t nvmlShutdown(void) {
  ENTER();
  pthread_mutex_lock(&lock);
  users--;
  pthread_mutex_unlock(&lock);
  return ML_OK;
}

const char *nvmlErrorString(nvmlReturn_t code) {
  switch ((int)code) {
  case ML_OK:
    return "The operation was successful";
  case ML_UNINITIALIZED:
    return "Uninitialized";
  case ML_INVALID_ARGUMENT:
    return "Invalid Argument";
  case ML_NOT_SUPPORTED:
    return "Not Supported";
  case 9:
    return "Driver Not Loaded";
  case 15:
    return "GPU is lost";
  }
  return "Unknown Error";
}

static unsigned int count(void) { return (unsigned int)fake_setting("devices", 1); }

// Handles are numbers that no pointer has.
static nvmlDevice_t handle(unsigned int index) { return (nvmlDevice_t)((uintptr_t)0xFA0ull << 48 | index); }
static bool known(nvmlDevice_t device, unsigned int *index) {
  *index = (unsigned int)(uintptr_t)device;
  return device == handle(*index) && *index < count();
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *devices) {
  ENTER();
  *devices = count();
  return ML_OK;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
  ENTER();
  if (index >= count())
    return ML_INVALID_ARGUMENT;
  *device = handle(index);
  return ML_OK;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
  ENTER();
  unsigned int index;
  static const char text[] = "Fake GPU";
  if (!known(device, &index))
    return ML_INVALID_ARGUMENT;
  if (length < sizeof text)
    return ML_INSUFFICIENT_SIZE;
  memcpy(name, text, sizeof text);
  return ML_OK;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  ENTER();
  unsigned int index;
  if (!known(device, &index))
    return ML_INVALID_ARGUMENT;
  memory->total = (unsigned long long)fake_setting("memory", 1 << 30);
  memory->used = (unsigned long long)fake_setting("used", 1 << 20) * (index + 1);
  memory->free = memory->total - memory->used;
  return ML_OK;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
  ENTER();
  unsigned int index;
  if (!known(device, &index))
    return ML_INVALID_ARGUMENT;
  utilization->gpu = (unsigned int)fake_setting("utilization", 37);
  utilization->memory = utilization->gpu / 2;
  return ML_OK;
}
