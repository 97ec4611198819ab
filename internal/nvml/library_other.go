//go:build !linux || !cgo

package nvml

import "fmt"

// Library is NVML.
type Library struct{}

// Open fails: this build cannot load the library.
func Open() (*Library, error) {
	return nil, fmt.Errorf("%w: this build of dsconv cannot load it; build it for Linux with cgo", ErrNotInstalled)
}

// Close does nothing.
func (*Library) Close() error { return nil }

// GPUs fails.
func (*Library) GPUs() ([]GPU, error) { return nil, errClosed }

// Usage fails.
func (*Library) Usage(int) (Usage, error) { return Usage{}, errClosed }
