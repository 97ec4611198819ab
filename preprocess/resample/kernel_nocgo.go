//go:build !cgo

package resample

// goKernels is 1 where passes keep what is between them as an image.
const goKernels = 1

var resample8 resampler8 = resampleGo

// kernelCall is for the kernels in C.
type kernelCall struct{}

// calculates is for the kernels that calculate.
func calculates(*storedValues, int, int) bool { return false }
