//go:build cgo

package resample

/*
#cgo CFLAGS: -O3 -Wall
#include "level.h"
*/
import "C"

// The instruction sets that there are kernels for. The kernels use the highest that the processor
// has.
const (
	LevelPortable = C.DSCONV_PORTABLE
	LevelAVX2     = C.DSCONV_AVX2
	LevelAVX512   = C.DSCONV_AVX512
)
