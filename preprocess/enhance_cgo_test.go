//go:build cgo

package preprocess

// The kernels that must equal their pure-Go versions.
var (
	enhanceKernels = map[string]func(*Enhancer, *Image, []Enhancement){
		"portable C": enhanceC(levelPortable), "C, AVX2": enhanceC(levelAVX2),
	}
	blurKernels    = map[string]func(*Enhancer, *blurring){"portable C": blurC(levelPortable), "C, AVX2": blurC(levelAVX2)}
	sharpenKernels = map[string]func(*Enhancer, *blurring){
		"portable C": sharpenC(levelPortable), "C, AVX2": sharpenC(levelAVX2),
	}
)
