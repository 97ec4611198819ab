//go:build !cgo

package pixelops

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The kernels are C: without them available is an error, and they are not called.
var available = pixel.ErrNoCgo

type kernelChange struct{}

func blendFast[T float32 | uint16](formats.DType, []T, []T, float32, float32) int { return 0 }

func blur8(*Enhancer, *blurring) {}

func sharpen8(*Enhancer, *blurring) {}

func enhanceRGB(*Enhancer, *pixel.Image, []Enhancement) {}

func countValues(*pixel.Image, *[3]histogram) {}

func replaceValues(*pixel.Image, *[3]table) {}
