package reader

import (
	"fmt"
	"slices"
	"unsafe"
)

// Allocator returns memory for the images of a batch, for callers that need a special kind: pinned,
// or another language's. It returns size bytes, aligned for any element type, or nil to let the
// Loader allocate. StartWith and Next call it before a batch is started; it must not call the Run or
// the Loader. The memory belongs to the caller again when it is taken from the batch, when a batch
// that was kept is released, or when the Run is stopped.
type Allocator func(size int) []byte

// MemorySize is the size in bytes of a batch's images, of all views: what an Allocator is asked for.
func (l *Loader) MemorySize() int {
	return l.frame.imageBytes(l.config.BatchSize)
}

// Slots is the maximum number of batches that are being built at a time.
func (l *Loader) Slots() int { return l.config.Prefetch + 1 }

// ImageBytes is the images as bytes, without a copy; nil if there are none. Of several views it is the
// first, see ViewBytes. It panics if the batch is no longer valid.
func (b *Batch) ImageBytes() []byte {
	images, _ := b.memory("ImageBytes")
	return slices.Clip(images)
}

// LabelBytes is the designated labels as bytes of LabelDType, without a copy. It panics if the batch
// is no longer valid.
func (b *Batch) LabelBytes() []byte {
	_, labels := b.memory("LabelBytes")
	return labels
}

// lend gives b the caller's memory for its images, unless it has memory already.
func (r *running) lend(b *Batch) error {
	if b.images != nil {
		return nil
	}
	size := r.loader.MemorySize()
	lent := r.allocate(size)
	switch {
	case lent == nil:
		return nil
	case len(lent) < size:
		return fmt.Errorf("the Allocator gave %d bytes, it was asked for %d", len(lent), size)
	case uintptr(unsafe.Pointer(unsafe.SliceData(lent)))%uintptr(r.loader.frame.dtype.Size()) != 0:
		return fmt.Errorf("the Allocator gave memory that is not aligned for %s", r.loader.frame.dtype)
	}
	b.images = lent
	return nil
}
