package gpudecode

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// BatcherConfig is what a Batcher may use.
type BatcherConfig struct {
	// Batch is the most images that are decoded together; 0 is 64.
	Batch int
	// Bytes is the most bytes of pixels of the results of a batch, in the GPU's memory and in pinned host memory; 0 is
	// 64 MiB. A larger result is left to the CPU.
	Bytes int
	// Threads and Fast are Config's.
	Threads int
	Fast    bool
}

// Request is one image for a Batcher.
type Request struct {
	// JPEG, Window, H, W and Filter are Image's.
	JPEG   []byte
	Window pixel.Rect
	H, W   int
	Filter pixel.Filter
	// Channels is 3 for colours, 1 for grey.
	Channels int
	// CPU decodes the image to the destination where the GPU cannot or did not. It is called on the goroutine that
	// asked; its error is the image's.
	CPU func() error
}

// bytes is the size of the result.
func (r *Request) bytes() int { return r.H * r.W * r.Channels }

// check returns an error for nonsense.
func (r *Request) check(dst *pixel.Image) error {
	switch {
	case r == nil || dst == nil || r.CPU == nil:
		return errors.New("gpudecode.Batcher.Decode: the request, its CPU and dst must not be nil")
	case r.H <= 0 || r.W <= 0 || r.Channels != 1 && r.Channels != 3:
		return fmt.Errorf("gpudecode.Batcher.Decode: a result of %dx%dx%d", r.H, r.W, r.Channels)
	}
	f := r.Filter
	return f.UnmarshalText([]byte(f))
}
