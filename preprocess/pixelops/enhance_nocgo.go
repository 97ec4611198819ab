//go:build !cgo

package pixelops

var (
	enhanceRGB    = enhanceGo
	countValues   = countGo
	replaceValues = replaceGo
)

// changeCall is for the kernels in C.
type changeCall struct{}
