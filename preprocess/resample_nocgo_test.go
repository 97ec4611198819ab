//go:build !cgo

package preprocess

// twins are what must equal the Go reference.
var twins = map[string]resampler8{"itself": resampleGo}
