package cuda

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/cudatest"
)

// Our declarations have the types that cuda.h has, and name the version of each function that cuda.h maps it to.
func TestSignatures(t *testing.T) {
	var c strings.Builder
	c.WriteString(`
#include <cuda.h>
#include "driver.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
// CUDA 12 has some functions of the version that only CUDA 13 maps the name to.
#define F(name, suffix, parameters)                                                                 \
  _Static_assert(CUDA_VERSION < 13000 || __builtin_strcmp(TEXT(name), #name #suffix) == 0, #name);  \
  static CUresult (*check_##name) parameters = name##suffix;
DSCONV_CUDA_FUNCTIONS(F)
#undef F

// What driver.h declares for builds without cuda.h.
_Static_assert(sizeof(CUresult) == sizeof(int) && sizeof(CUdevice_attribute) == sizeof(int), "enumerations");
_Static_assert(_Generic((CUdevice)0, int: 1), "CUdevice");
_Static_assert(_Generic((CUdeviceptr)0, unsigned long long: 1), "CUdeviceptr");
_Static_assert(sizeof(CUuuid) == 16, "CUuuid");
_Static_assert(sizeof(CUstream) == sizeof(uintptr_t), "CUstream");

#define SAME(ours, nvidias) _Static_assert((int)(ours) == (int)(nvidias), #ours)
SAME(DSCONV_CUDA_NON_BLOCKING_STREAM, CU_STREAM_NON_BLOCKING);
SAME(DSCONV_CUDA_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC);
SAME(DSCONV_CUDA_NO_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(DSCONV_CUDA_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME(DSCONV_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(DSCONV_CUDA_COMPUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DSCONV_CUDA_COMPUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
`)
	for name, code := range map[string]int{
		"OUT_OF_MEMORY": outOfMemory, "NOT_INITIALIZED": notInitialized, "NO_DEVICE": noDevice, "INVALID_DEVICE": invalidDevice,
		"SYSTEM_DRIVER_MISMATCH": driverMismatch, "COMPAT_NOT_SUPPORTED_ON_DEVICE": notCompatible, "UNKNOWN": unknown,
	} {
		fmt.Fprintf(&c, "SAME(CUDA_ERROR_%s, %d);\n", name, code)
	}
	for code, name := range lost {
		fmt.Fprintf(&c, "SAME(CUDA_ERROR_%s, %d);\n", name, code)
	}
	cudatest.Compile(t, "cuda.h", c.String(), ".")
}
