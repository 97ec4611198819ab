//go:build cgo

package cpu

/*
#cgo CFLAGS: -O3 -Wall
#include "cpu.h"
*/
import "C"

// The levels of processors that there are kernels for; a higher one is taken where the
// processor has it.
const (
	LevelPortable = C.DSCONV_PORTABLE
	LevelAVX2     = C.DSCONV_AVX2
	LevelAVX512   = C.DSCONV_AVX512
)
