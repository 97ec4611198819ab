//go:build cgo

package resample

import "github.com/dsconv/dsconv/preprocess/cpu"

// twins are what must equal the Go reference, as far as the processor has them.
var twins = map[string]resampler8{
	"portable C": resampleC(cpu.LevelPortable),
	"C, AVX2":    resampleC(cpu.LevelAVX2),
	"C, AVX-512": resampleC(cpu.LevelAVX512),
}
