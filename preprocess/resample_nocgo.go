//go:build !cgo

package preprocess

var passes8 = goPasses8
