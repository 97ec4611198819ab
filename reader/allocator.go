package reader

import (
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// Allocator gives memory for the images of a batch, for callers that have some of their own kind:
// pinned, or another language's. It gives size bytes, of which the first is aligned for any
// element type, or nil: then the Loader takes its own. It is called by Start and Next before a
// batch is begun. The memory is the caller's again when it is taken from the batch, or when the
// Run is stopped.
type Allocator func(size int) []byte

// MemorySize is the number of bytes that the images of a batch take, which Allocators are asked for.
func (l *Loader) MemorySize() int {
	return l.config.BatchSize * l.frame.entry() * l.frame.dtype.Size()
}

// Slots is the number of batches that are in the making at a time, at most.
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

// TakeImages takes the images' memory out of the batch: it is the caller's now, who need not
// put it back. The batch has no images from then on.
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

// lend gives b memory of the caller's for its images, if it has none of it yet.
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
