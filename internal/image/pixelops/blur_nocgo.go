//go:build !cgo

package pixelops

var (
	blur8    = blurGo
	sharpen8 = sharpenGo
)
