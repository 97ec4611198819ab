//go:build cgo

package resample

import "github.com/dsconv/dsconv/internal/image/cpu"

// resampleKernels must equal the pure-Go version. Levels that the processor lacks fall back to lower ones.
var resampleKernels = map[string]resampler8{
	"portable C": resampleC(cpu.LevelPortable),
	"C, AVX2":    resampleC(cpu.LevelAVX2),
	"C, AVX-512": resampleC(cpu.LevelAVX512),
}

var warpKernels = map[string]warper{
	"portable C": warpC(cpu.LevelPortable),
	"C, AVX2":    warpC(cpu.LevelAVX2),
}
