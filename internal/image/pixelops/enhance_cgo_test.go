//go:build cgo

package pixelops

import (
	"github.com/dsconv/dsconv/internal/image/cpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The kernels that must equal their pure-Go versions.
var (
	enhanceKernels = map[string]func(*Enhancer, *pixel.Image, []Enhancement){
		"portable C": enhanceC(cpu.LevelPortable), "C, AVX2": enhanceC(cpu.LevelAVX2),
	}
	blurKernels    = map[string]func(*Enhancer, *blurring){"portable C": blurC(cpu.LevelPortable), "C, AVX2": blurC(cpu.LevelAVX2)}
	sharpenKernels = map[string]func(*Enhancer, *blurring){
		"portable C": sharpenC(cpu.LevelPortable), "C, AVX2": sharpenC(cpu.LevelAVX2),
	}
)
