//go:build !cgo

package resample

// goKernels is 1 if the result of the first pass is kept as an image.
const goKernels = 1

var (
	resample8 resampler8 = resampleGo
	warp      warper     = warpGo
)

// kernelRequest and warpRequest are used by the C kernels only.
type (
	kernelRequest struct{}
	warpRequest   struct{}
)

// arithmeticIsExact is false: the pure-Go version uses tables.
func arithmeticIsExact(*elementValues, int, int) bool { return false }
