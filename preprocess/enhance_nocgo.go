//go:build !cgo

package preprocess

var (
	enhanceRGB    = enhanceGo
	countValues   = countGo
	replaceValues = replaceGo
)

// changeCall is for the kernels in C.
type kernelChange struct{}
