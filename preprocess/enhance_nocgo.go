//go:build !cgo

package preprocess

var enhanceRGB = enhanceGo

// changeCall is for the kernels in C.
type changeCall struct{}
