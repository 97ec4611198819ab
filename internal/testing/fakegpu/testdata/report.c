// Writes behind an allocation, in a process that asks for no violations.
#include "check.h"

int main(void) {
  CUcontext context;
  CUdeviceptr at;
  SAME(cuInit(0), 0);
  SAME(cuDevicePrimaryCtxRetain(&context, 0), 0);
  SAME(cuCtxPushCurrent_v2(context), 0);
  SAME(cuMemAlloc_v2(&at, 1000), 0);
  ((char *)fake_device(at + 999, 1))[1] = 1;
  SAME(cuMemFree_v2(at), 0);
  return 0;
}
