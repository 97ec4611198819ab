// Package nvml asks NVIDIA's management library what its GPUs do: how busy they are, and how much of their memory is in use.
// [Open] loads the library when it is called; a program needs nothing of NVIDIA's to be built or to start, and no CUDA.
//
// All values are safe for concurrent use. Only builds with cgo for Linux have more than [Open], which fails in the others.
package nvml

import "errors"

// library is NVML's file, which comes with the driver. Tests set it to that of a fake before they call Open.
var library = "libnvidia-ml.so.1"

// Errors that callers tell apart, by errors.Is.
var (
	// ErrNotInstalled is in the chain of Open's error if there is no library: most machines have no GPU of NVIDIA's.
	ErrNotInstalled = errors.New("NVIDIA's management library is not installed")
	// errNotSupported is in the chain of an error if the GPU does not tell, such as a part of one (MIG).
	errNotSupported = errors.New("the GPU does not tell")
	// errClosed is the error after Close.
	errClosed = errors.New("NVML was closed")
)

// GPU is one of the machine's GPUs.
type GPU struct {
	Name   string // such as "NVIDIA H200"
	Memory int64  // bytes
}

// Usage is what all programs use of a GPU.
type Usage struct {
	Busy   float64 // share of the driver's last sampling period, up to a second, in which something ran; -1: it does not tell
	Memory int64   // bytes
}
