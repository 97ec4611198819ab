package nvjpeg

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/cudatest"
)

// Our declarations, and the numbers in Go, are those of nvjpeg.h.
func TestSignatures(t *testing.T) {
	var c strings.Builder
	c.WriteString(`
#include <nvjpeg.h>
#include <cuda.h>
#include "library.h"

#define F(name, parameters) static nvjpegStatus_t (*check_##name) parameters = name;
DSCONV_NVJPEG_FUNCTIONS(F)
#undef F

// What library.h declares for builds without nvjpeg.h.
#define INT(type) _Static_assert(sizeof(type) == sizeof(int), #type)
INT(nvjpegStatus_t); INT(nvjpegBackend_t); INT(nvjpegOutputFormat_t); INT(nvjpegChromaSubsampling_t);
INT(nvjpegExifOrientation_t); INT(nvjpegScaleFactor_t); INT(libraryPropertyType);
_Static_assert(_Generic((cudaStream_t)0, CUstream: 1), "cudaStream_t");
_Static_assert(sizeof(dsconv_nvjpeg_output) == sizeof(nvjpegImage_t), "size");
_Static_assert(offsetof(dsconv_nvjpeg_output, channel) == offsetof(nvjpegImage_t, channel), "channel");
_Static_assert(offsetof(dsconv_nvjpeg_output, pitch) == offsetof(nvjpegImage_t, pitch), "pitch");

#define SAME(ours, nvidias) _Static_assert((int)(ours) == (int)(nvidias), #nvidias)
SAME(DSCONV_NVJPEG_ALLOCATOR_FAILURE, NVJPEG_STATUS_ALLOCATOR_FAILURE);
SAME(DSCONV_NVJPEG_ORIENTATION_NORMAL, NVJPEG_ORIENTATION_NORMAL);
SAME(DSCONV_NVJPEG_MAJOR, MAJOR_VERSION);
SAME(DSCONV_NVJPEG_MINOR, MINOR_VERSION);
SAME(DSCONV_NVJPEG_PATCH, PATCH_LEVEL);
`)
	same := func(name string, value int) {
		fmt.Fprintf(&c, "SAME(%d, NVJPEG_%s);\n", value, name)
	}
	for status := range statusNames {
		same("STATUS_"+Status(status).String(), status)
	}
	for name, b := range map[string]Backend{"DEFAULT": Default, "HYBRID": Hybrid, "GPU_HYBRID": GPUHybrid, "HARDWARE": Hardware} {
		same("BACKEND_"+name, int(b))
	}
	same("FLAGS_UPSAMPLING_WITH_INTERPOLATION", int(Interpolate))
	same("OUTPUT_Y", int(Y))
	same("OUTPUT_RGBI", int(RGBI))
	for name, s := range map[string]Scale{"NONE": Full, "1_BY_2": Half, "1_BY_4": Quarter, "1_BY_8": Eighth} {
		same("SCALE_"+name, int(s))
	}
	for name, s := range map[string]Subsampling{
		"444": CSS444, "422": CSS422, "420": CSS420, "440": CSS440, "411": CSS411, "410": CSS410,
		"GRAY": CSSGray, "410V": CSS410V, "UNKNOWN": CSSUnknown,
	} {
		same("CSS_"+name, int(s))
	}
	cudatest.Compile(t, "nvjpeg.h", c.String(), ".", "../cuda")
}
