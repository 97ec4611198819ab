//go:build !cgo

package resample

// twins are what must equal the Go reference.
var twins = map[string]resampler8{"itself": resampleGo}
