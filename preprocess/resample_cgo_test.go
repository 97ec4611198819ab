//go:build cgo

package preprocess

// twins are what must equal the Go reference, as far as the processor has them.
var twins = map[string]resampler8{
	"portable C": resampleC(levelPortable),
	"C, AVX2":    resampleC(levelAVX2),
	"C, AVX-512": resampleC(levelAVX512),
}
