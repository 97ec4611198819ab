//go:build linux && cgo

package gpudecode

import (
	"github.com/dsconv/dsconv/internal/cuda"
)

// workspace is memory of the GPU that grows as it is needed, with its counterpart in pinned memory if it is staged.
type workspace struct {
	device  *cuda.Device
	staged  bool
	address cuda.Address
	size    int
	most    int // that it may have; 0 is any size
	host    *cuda.Pinned
}

// grow makes the workspace size bytes large or larger. Its content is lost; work that uses it must be done.
func (w *workspace) grow(size int) error {
	if size <= w.size {
		return nil
	}
	// From the second time on a quarter more, because CUDA waits for all that the GPU does before it frees memory.
	if more := size + size/4; w.size > 0 && (w.most == 0 || more <= w.most) {
		size = more
	}
	w.free()
	address, err := w.device.Alloc(size)
	if err != nil {
		return err
	}
	w.address, w.size = address, size
	if !w.staged {
		return nil
	}
	if w.host, err = w.device.AllocPinned(size); err != nil {
		w.free()
	}
	return err
}

// free frees the memory. A GPU that is lost has freed it already, so that errors tell nothing.
func (w *workspace) free() {
	if w.size > 0 {
		_ = w.device.Free(w.address)
	}
	if w.host != nil {
		_ = w.host.Free()
	}
	w.size, w.host = 0, nil
}
