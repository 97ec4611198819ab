//go:build !cgo

package resample

import "github.com/dsconv/dsconv/preprocess/pixel"

// The kernels are C: without them available is an error, and they are not called.
var available = pixel.ErrNoCgo

func resample8(*Resampler, *resampling) {}

func warp(*Resampler, *warping) {}

type (
	kernelRequest struct{}
	warpRequest   struct{}
)

func arithmeticIsExact(*elementValues, int, int) bool { return false }
