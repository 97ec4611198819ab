//go:build !cgo

package preprocess

var resample8 resampler8 = resampleGo

// kernelCall is for the kernels in C.
type kernelCall struct{}

// calculates is for the kernels that calculate.
func calculates(*storedValues, int, int) bool { return false }
