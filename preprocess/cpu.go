//go:build cgo

package preprocess

/*
#cgo CFLAGS: -O3 -Wall
#include "cpu.h"
*/
import "C"

// The instruction sets that there are kernels for. The kernels use the highest that the processor
// has.
const (
	levelPortable = C.DSCONV_PORTABLE
	levelAVX2     = C.DSCONV_AVX2
	levelAVX512   = C.DSCONV_AVX512
)
