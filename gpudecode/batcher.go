package gpudecode

import (
	"context"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// BatcherConfig is what a Batcher may use.
type BatcherConfig struct {
	// Batch is the most images that are decoded together; 0 is 64.
	Batch int
	// Bytes is the most bytes of pixels of the results of a batch; 0 is 256 MiB.
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

// Batcher decodes single images from many goroutines, as many at once as are waiting when the GPU becomes free. The
// results are pixels in host memory. It is safe for concurrent use.
type Batcher struct{}

// NewBatcher returns a Batcher. Close it.
func (*GPU) NewBatcher(BatcherConfig) (*Batcher, error) { return nil, ErrUnavailable }

// Decode decodes r to dst, uint8 with r.Channels channels. It waits for the image alone, not for a batch to be full. An
// error is the image's own if its Outcome has it; otherwise the GPU failed, ctx ended or the Batcher was closed.
func (*Batcher) Decode(context.Context, *Request, *pixel.Image) (Outcome, error) {
	return Outcome{}, ErrUnavailable
}

// Counts returns how many images took which path so far.
func (*Batcher) Counts() Counts { return Counts{} }

// Close waits for images that are being decoded and refuses those that wait.
func (*Batcher) Close() {}
