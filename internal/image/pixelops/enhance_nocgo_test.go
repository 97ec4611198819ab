//go:build !cgo

package pixelops

import "github.com/dsconv/dsconv/preprocess/pixel"

// The kernels that must equal their pure-Go versions.
var (
	enhanceKernels = map[string]func(*Enhancer, *pixel.Image, []Enhancement){"itself": enhanceGo}
	blurKernels    = map[string]func(*Enhancer, *blurring){"itself": blurGo}
	sharpenKernels = map[string]func(*Enhancer, *blurring){"itself": sharpenGo}
)
