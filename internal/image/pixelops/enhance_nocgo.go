//go:build !cgo

package pixelops

var (
	enhanceRGB    = enhanceGo
	countValues   = countGo
	replaceValues = replaceGo
)

// kernelChange is used by the C kernels only.
type kernelChange struct{}
