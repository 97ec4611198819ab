//go:build cgo

package preprocess

// resampleKernels must equal the pure-Go version. Levels that the processor lacks fall back to lower ones.
var resampleKernels = map[string]resampler8{
	"portable C": resampleC(levelPortable),
	"C, AVX2":    resampleC(levelAVX2),
	"C, AVX-512": resampleC(levelAVX512),
}
