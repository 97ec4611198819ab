//go:build linux && cgo

package nvjpeg

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Batch decodes several images in one call: the only way to the GPU's JPEG engine. Before each Start and Decode, and
// before Close, the caller waits on the host for the former Decode's stream: the engine does not follow its order.
type Batch struct {
	handle *Handle
	size   int
	c      *C.dsconv_nvjpeg_batch
	jobs   []C.dsconv_nvjpeg_job
}

// NewBatch creates a Batch for at most size images. Close it.
func (h *Handle) NewBatch(size int) (*Batch, error) {
	if size < 1 {
		return nil, fmt.Errorf("nvJPEG: a batch of %d images", size)
	}
	b := &Batch{handle: h, size: size}
	//nolint:gocritic // what cgo generates for &b.c looks like comparing a value with itself
	if err := h.check(C.dsconv_nvjpeg_batch_new(h.c, C.int(size), &b.c), "prepare for batches of %d images", size); err != nil {
		return nil, err
	}
	return b, nil
}

// PreAllocate allocates what batches of count images of at most w x h need, so that Decode does not.
func (b *Batch) PreAllocate(count, w, h int, s Subsampling, f Format) error {
	code := C.dsconv_nvjpeg_batch_allocate(b.c, C.int(count), C.int(w), C.int(h), C.int(s), C.int(f))
	return b.handle.check(code, "allocate for batches of %d images", count)
}

// Supports reports whether a Batch of the Handle may have the image, as it was parsed and set.
func (h *Handle) Supports(i *Image) (bool, error) {
	var supported C.int
	err := h.check(C.dsconv_nvjpeg_batch_supports(i.c, &supported), "ask whether a batch can have an image")
	return err == nil && supported != 0, err
}

// Start prepares for batches of count images, and ends the trouble of one that failed.
func (b *Batch) Start(count int, f Format) error {
	return b.handle.check(C.dsconv_nvjpeg_batch_start(b.c, C.int(count), C.int(f)), "start batches of %d images", count)
}

// Decode decodes as many images as Start was called for. stream is a CUstream.
func (b *Batch) Decode(jobs []Job, stream uintptr) error {
	if len(jobs) < 1 || len(jobs) > b.size {
		return fmt.Errorf("nvJPEG: %d images for a batch of 1 to %d", len(jobs), b.size)
	}
	b.jobs = b.jobs[:0]
	for _, j := range jobs {
		b.jobs = append(b.jobs, j.c())
	}
	code := C.dsconv_nvjpeg_batch_decode(b.c, unsafe.SliceData(b.jobs), C.int(len(jobs)), C.uintptr_t(stream))
	return b.handle.check(code, "decode a batch of %d images", len(jobs))
}

// Close frees the Batch.
func (b *Batch) Close() error {
	err := b.handle.check(C.dsconv_nvjpeg_batch_free(b.c), "free a batch")
	b.c = nil
	return err
}
