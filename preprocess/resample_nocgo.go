//go:build !cgo

package preprocess

// goKernels is 1 where passes keep what is between them as an image.
const goKernels = 1

var resample8 resampler8 = resampleGo

// kernelCall is for the kernels in C.
type kernelRequest struct{}

// calculates is for the kernels that calculate.
func arithmeticIsExact(*elementValues, int, int) bool { return false }
