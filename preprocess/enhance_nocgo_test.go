//go:build !cgo

package preprocess

// The kernels that must equal their pure-Go versions.
var (
	enhanceKernels = map[string]func(*Enhancer, *Image, []Enhancement){"itself": enhanceGo}
	blurKernels    = map[string]func(*Enhancer, *blurring){"itself": blurGo}
	sharpenKernels = map[string]func(*Enhancer, *blurring){"itself": sharpenGo}
)
