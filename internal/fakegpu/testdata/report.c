// Writes behind an allocation, for the report.
#include "check.h"

int main(void) {
  CUdeviceptr at;
  begin("");
  SAME(cuMemAlloc_v2(&at, 1000), 0);
  ((char *)fake_device(at + 999, 1))[1] = 1;
  SAME(cuMemFree_v2(at), 0);
  return 0;
}
