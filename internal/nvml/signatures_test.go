package nvml

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/cudatest"
)

// Our declarations have the types that nvml.h has, and name the version of each function that nvml.h maps it to.
func TestSignatures(t *testing.T) {
	cudatest.Compile(t, "nvml.h", `
#include <nvml.h>
#include "functions.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define F(name, suffix, result, parameters)                              \
  _Static_assert(__builtin_strcmp(TEXT(name), #name #suffix) == 0, #name); \
  static result(*check_##name) parameters = name##suffix;
DSCONV_NVML_FUNCTIONS(F)
#undef F
_Static_assert((int)DSCONV_NVML_NOT_SUPPORTED == (int)NVML_ERROR_NOT_SUPPORTED, "NOT_SUPPORTED");
_Static_assert(sizeof(nvmlReturn_t) == sizeof(int), "nvmlReturn_t");
_Static_assert(sizeof(nvmlUtilization_t) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(nvmlMemory_t) == 24, "nvmlMemory_t");
`, ".")
}

// The fake's functions are those of nvml.h: compiled behind it, a definition of another type is an error.
func TestSignaturesOfFake(t *testing.T) {
	const folder = "../testing/fakegpu/libnvml"
	source, err := os.ReadFile(folder + "/library.c")
	if err != nil {
		t.Fatal(err)
	}
	var c strings.Builder
	fmt.Fprintf(&c, "#include <nvml.h>\n%s\n", source)
	for ours, nvidias := range map[string]string{
		"ML_UNINITIALIZED": "UNINITIALIZED", "ML_INVALID_ARGUMENT": "INVALID_ARGUMENT", "ML_NOT_SUPPORTED": "NOT_SUPPORTED",
		"ML_INSUFFICIENT_SIZE": "INSUFFICIENT_SIZE", "9": "DRIVER_NOT_LOADED", "15": "GPU_IS_LOST",
	} {
		fmt.Fprintf(&c, "_Static_assert((int)%s == (int)NVML_ERROR_%s, %q);\n", ours, nvidias, nvidias)
	}
	cudatest.Compile(t, "nvml.h", c.String(), folder)
}
