//go:build cgo

package resample

// resampleKernels must equal the pure-Go version. Levels that the processor lacks fall back to lower ones.
var resampleKernels = map[string]resampler8{
	"portable C": resampleC(LevelPortable),
	"C, AVX2":    resampleC(LevelAVX2),
	"C, AVX-512": resampleC(LevelAVX512),
}

var warpKernels = map[string]warper{
	"portable C": warpC(LevelPortable),
	"C, AVX2":    warpC(LevelAVX2),
}
