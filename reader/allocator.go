package reader

import (
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// Allocator returns memory for the images of a batch, for callers that need a special kind: pinned,
// or another language's. It returns size bytes, aligned for any element type, or nil to let the
// Loader allocate. Start and Next call it before a batch is started. The memory belongs to the
// caller again when it is taken from the batch, or when the Run is stopped.
type Allocator func(size int) []byte

// MemorySize is the size in bytes of a batch's images: what an Allocator is asked for.
func (l *Loader) MemorySize() int {
	return l.config.BatchSize * l.frame.entryBytes()
}

// Slots is the maximum number of batches that are being built at a time.
func (l *Loader) Slots() int { return l.config.Prefetch + 1 }

// ImageBytes is the images as bytes, without a copy; nil if there are none.
func (b *Batch) ImageBytes() []byte {
	switch {
	case b.Uint8 != nil:
		return bytesOf(b.Uint8)
	case b.Uint16 != nil:
		return bytesOf(b.Uint16)
	case b.Float32 != nil:
		return bytesOf(b.Float32)
	case b.Half != nil:
		return bytesOf(b.Half)
	}
	return nil
}

// TakeImages takes the images' memory out of the batch and gives it to the caller. The batch has no
// images from then on.
func (b *Batch) TakeImages() []byte {
	taken := b.ImageBytes()
	b.Uint8, b.Uint16, b.Float32, b.Half = nil, nil, nil, nil
	return taken
}

// bytesOf is the bytes of s, up to its capacity.
func bytesOf[T uint8 | uint16 | float32](s []T) []byte {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), cap(s)*size)[:len(s)*size]
}

// lend gives b the caller's memory for its images, unless it has memory already.
func (r *Run) lend(b *Batch) {
	if b.ImageBytes() != nil {
		return
	}
	l := r.loader
	lent := r.allocate(l.MemorySize())
	if lent == nil {
		return
	}
	switch l.frame.dtype {
	case formats.Uint8:
		b.Uint8 = lent
	case formats.Uint16:
		b.Uint16 = Elements[uint16](lent)
	case formats.Float32:
		b.Float32 = Elements[float32](lent)
	default:
		b.Half = Elements[uint16](lent)
	}
}
