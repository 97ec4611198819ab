//go:build !cgo

package preprocess

// twins are what must equal the Go reference.
var twins = map[string]passes{"fused crop in Go": goPasses8}
