//go:build !cgo

package resample

// resampleKernels must equal the pure-Go version.
var resampleKernels = map[string]resampler8{"itself": resampleGo}

var warpKernels = map[string]warper{"itself": warpGo}
