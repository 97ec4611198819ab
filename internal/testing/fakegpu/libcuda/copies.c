// The driver's functions for memory: allocation, copies and fills.
#include <stdlib.h>
#include <string.h>

#include "enter.h"
#include "streams.h"

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t size) {
  ENTER(true);
  uint64_t address;
  int status = fake_allocate(&address, size);
  if (!status)
    *at = address;
  return status;
}

CUresult cuMemFree_v2(CUdeviceptr at) {
  int status = fake_enter(__func__, true);
  if (status == CU_INVALID_CONTEXT || status == CU_NOT_INITIALIZED || !at)
    return status;
  bool freed = fake_free(at);
  return status ? status : freed ? CU_OK : CU_INVALID_VALUE;
}

CUresult cuMemGetInfo_v2(size_t *rest, size_t *total) {
  ENTER(true);
  fake_memory_info(rest, total);
  return CU_OK;
}

static CUresult pin(void **at, size_t size) {
  if (!size)
    return CU_INVALID_VALUE;
  *at = fake_pin(size);
  return *at ? CU_OK : CU_OUT_OF_MEMORY;
}

CUresult cuMemHostAlloc(void **at, size_t size, unsigned flags) {
  ENTER(true);
  return flags > 7 ? CU_INVALID_VALUE : pin(at, size);
}

CUresult cuMemAllocHost_v2(void **at, size_t size) {
  ENTER(true);
  return pin(at, size);
}

CUresult cuMemFreeHost(void *at) {
  int status = fake_enter(__func__, true);
  if (status == CU_INVALID_CONTEXT || status == CU_NOT_INITIALIZED)
    return status;
  bool freed = fake_unpin(at);
  return status ? status : freed ? CU_OK : CU_INVALID_VALUE;
}

// One copy or fill. A host address is as it was given, or in the copy that was made of pageable memory. With
// the mode direct none is made, as on machines where the GPU reads such memory by itself.
struct copy {
  uint64_t to, from;
  size_t size, width; // width in bytes of the value that fills; 0: a copy
  unsigned value;
  bool pinned; // the host's memory, which must be so until the copy is done
  char staged[];
};

static void *reach(const struct copy *c, uint64_t at) {
  void *p = (void *)at;
  bool device = fake_is_device(at);
  if (device)
    p = fake_device(at, c->size);
  else if (c->pinned && !fake_is_pinned(p, c->size))
    p = NULL;
  if (!p) {
    fake_violation("%s memory was freed before a copy or fill was done", device ? "device" : "pinned");
    fake_lose(CU_ILLEGAL_ADDRESS);
  }
  return p;
}

static void run_copy(void *argument, bool alive) {
  struct copy *c = argument;
  char *to = alive ? reach(c, c->to) : NULL;
  const char *from = to && !c->width ? (c->from ? reach(c, c->from) : c->staged) : NULL;
  if (to && c->width == 4)
    for (size_t i = 0; i < c->size; i += 4)
      memcpy(to + i, &c->value, 4);
  else if (to && c->width == 1)
    memset(to, (int)c->value, c->size);
  else if (to && from)
    memmove(to, from, c->size);
  free(c);
}

static CUresult enqueue(CUstream stream, const struct copy *c, const void *staged, bool wait) {
  struct fake_stream *s = fake_stream_of(stream);
  if (!s)
    return CU_INVALID_HANDLE;
  struct copy *p = malloc(sizeof *p + (staged ? c->size : 0));
  if (!p)
    return CU_OUT_OF_MEMORY;
  *p = *c;
  if (staged)
    memcpy(p->staged, staged, c->size);
  uint64_t ticket = fake_enqueue(s, run_copy, p);
  return wait ? fake_synchronize(s, ticket) : CU_OK;
}

static CUresult to_device(CUdeviceptr to, const void *from, size_t size, CUstream stream, bool wait) {
  if (size == 0)
    return CU_OK;
  if (!fake_device(to, size) || !from || fake_is_device((uint64_t)from))
    return CU_INVALID_VALUE;
  bool pinned = fake_is_pinned(from, size);
  bool staged = !pinned && !fake_setting("direct", 0);
  struct copy c = {.to = to, .from = staged ? 0 : (uint64_t)from, .size = size, .pinned = pinned};
  return enqueue(stream, &c, staged ? from : NULL, wait);
}

static CUresult to_host(void *to, CUdeviceptr from, size_t size, CUstream stream, bool wait) {
  if (size == 0)
    return CU_OK;
  if (!fake_device(from, size) || !to || fake_is_device((uint64_t)to))
    return CU_INVALID_VALUE;
  bool pinned = fake_is_pinned(to, size);
  struct copy c = {.to = (uint64_t)to, .from = from, .size = size, .pinned = pinned};
  return enqueue(stream, &c, NULL, wait || !pinned);
}

static CUresult on_device(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  if (size == 0)
    return CU_OK;
  if (!fake_device(to, size) || !fake_device(from, size))
    return CU_INVALID_VALUE;
  return enqueue(stream, &(struct copy){.to = to, .from = from, .size = size}, NULL, false);
}

static CUresult fill(CUdeviceptr at, size_t size, size_t width, unsigned value, CUstream stream) {
  if (size == 0)
    return CU_OK;
  if (!fake_device(at, size) || at % width)
    return CU_INVALID_VALUE;
  struct copy c = {.to = at, .size = size, .width = width, .value = value};
  return enqueue(stream, &c, NULL, false);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
  ENTER(true);
  return to_device(to, from, size, NULL, true);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
  ENTER(true);
  return to_host(to, from, size, NULL, true);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
  ENTER(true);
  return on_device(to, from, size, NULL);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
  ENTER(true);
  return to_device(to, from, size, stream, false);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
  ENTER(true);
  return to_host(to, from, size, stream, false);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  ENTER(true);
  return on_device(to, from, size, stream);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  ENTER(true);
  if (!fake_is_device(from))
    return to_device(to, (void *)from, size, stream, false);
  if (!fake_is_device(to))
    return to_host((void *)to, from, size, stream, false);
  return on_device(to, from, size, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t n, CUstream stream) {
  ENTER(true);
  return fill(at, n, 1, value, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, size_t n, CUstream stream) {
  ENTER(true);
  return fill(at, 4 * n, 4, value, stream);
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr at) {
  ENTER(true);
  if ((int)attribute != 2 || (!fake_is_device(at) && !fake_is_pinned((void *)at, 1)))
    return CU_INVALID_VALUE;
  *(unsigned *)data = fake_is_device(at) ? 2 : 1; // the memory's type: device or host
  return CU_OK;
}
