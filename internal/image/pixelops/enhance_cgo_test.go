//go:build cgo

package pixelops

import (
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The kernels that must equal their pure-Go versions.
var (
	enhanceKernels = map[string]func(*Enhancer, *pixel.Image, []Enhancement){
		"portable C": enhanceC(resample.LevelPortable), "C, AVX2": enhanceC(resample.LevelAVX2),
	}
	blurKernels    = map[string]func(*Enhancer, *blurring){"portable C": blurC(resample.LevelPortable), "C, AVX2": blurC(resample.LevelAVX2)}
	sharpenKernels = map[string]func(*Enhancer, *blurring){
		"portable C": sharpenC(resample.LevelPortable), "C, AVX2": sharpenC(resample.LevelAVX2),
	}
)
