//go:build !cgo

package preprocess

var (
	blur8    = blurGo
	sharpen8 = sharpenGo
)
