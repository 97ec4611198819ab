package gpudecode

import (
	"context"

	"github.com/dsconv/dsconv/internal/image/resample"
)

// Config is what all batches of a Decoder have in common.
type Config struct {
	// Spec is how results are stored: channels (1 or 3), type, layout, normalisation.
	Spec *resample.TensorSpec
	// Batch is the most images of a batch, Bytes the most bytes of all its results.
	Batch int
	Bytes int
	// Threads is how many goroutines decode Huffman codes for the path CUDA; 0 is one for each core.
	Threads int
	// Fast lets the engine reduce images that Image.H and Image.W make smaller than a half while it decodes them: the
	// pixels are near, not equal.
	Fast bool
}

// GPU is an open GPU with its libraries. It is safe for concurrent use.
type GPU struct{}

// Open opens the GPU and its libraries. Close it after what was made of it.
func Open(Options) (*GPU, error) { return nil, ErrUnavailable }

// Info describes the GPU.
func (*GPU) Info() Info { return Info{} }

// Close closes the GPU.
func (*GPU) Close() error { return nil }

// Decoder decodes batches. It belongs to one goroutine at a time; the Memory that it gives out does not.
type Decoder struct{}

// NewDecoder makes a Decoder. Close it.
func (*GPU) NewDecoder(Config) (*Decoder, error) { return nil, ErrUnavailable }

// Decode stores the results of images in out, and what became of each of them in outcomes, which is as long. It
// returns when all of it lies in the GPU's memory. An error is of the whole batch: of ctx, of the GPU, or of wrong
// arguments.
func (*Decoder) Decode(_ context.Context, _ []Image, _ *Memory, _ []Outcome) error {
	return ErrUnavailable
}

// Memory returns memory of Config.Bytes bytes, which was released or is new.
func (*Decoder) Memory() (*Memory, error) { return nil, ErrUnavailable }

// Counts returns how many images took which path so far. It may be called while Decode runs.
func (*Decoder) Counts() Counts { return Counts{} }

// Close frees the Decoder. Memory that it gave out stays valid until it is released.
func (*Decoder) Close() {}

// Memory is memory of the GPU, for the results of a batch. Release it once, or hand it over by DLPack.
type Memory struct{}

// Pointer is the address in the GPU's memory, Stream the CUDA stream that it was written on: work there is done.
func (*Memory) Pointer() uintptr { return 0 }

// Stream is the CUDA stream on which the memory is written.
func (*Memory) Stream() uintptr { return 0 }

// Release gives the memory back to its Decoder. Work that reads it must be done.
func (*Memory) Release() {}

// DLPack hands the memory over as a DLManagedTensor (DLPack 0.8), whose deleter releases it once the work is done
// that the CUDA stream consumer has by then. shape is in elements of the Spec's type, from byte offset on; strides
// are row-major, or those given.
func (*Memory) DLPack(_, _ []int64, _ int, _ uintptr) uintptr { return 0 }
