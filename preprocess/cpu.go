//go:build cgo

package preprocess

/*
#cgo CFLAGS: -O3 -Wall
#include "cpu.h"
*/
import "C"

// The levels of processors that there are kernels for; a higher one is taken where the
// processor has it.
const (
	levelPortable = C.DSCONV_PORTABLE
	levelAVX2     = C.DSCONV_AVX2
	levelAVX512   = C.DSCONV_AVX512
)
