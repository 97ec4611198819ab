// Package cuda calls NVIDIA's driver, which [Open] loads when it is called: a program needs nothing of NVIDIA's to
// be built or to start.
//
// Everything works in the primary context of a GPU, which PyTorch and nvJPEG share. All values are safe for
// concurrent use, and may be used on any goroutine: each call makes the context the thread's own and restores the
// former one. What was allocated must be freed before its [Device] is closed.
//
// Only builds with cgo for Linux have more than [Open], which fails in the others.
package cuda

// library is the driver's library. Tests set it to that of a fake before they call Open.
var library = "libcuda.so.1"

// Properties describe a GPU.
type Properties struct {
	Name         string // such as "NVIDIA H200"
	UUID         string // such as "GPU-5a1c..."
	Major, Minor int    // compute capability
	Memory       int64  // bytes
}
