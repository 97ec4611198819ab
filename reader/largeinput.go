package reader

import (
	"context"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
)

// reserveInput waits until a sample of size bytes may be read into the worker's memory. freeInput ends that.
func (w *worker) reserveInput(size int64) {
	w.freeInput()
	w.input, _ = budget.SharedInputs.Reserve(context.Background(), size) // cannot fail: the context does not end
}

// freeInput frees the memory of the worker's sample if that is large.
func (w *worker) freeInput() {
	if w.input == 0 {
		return
	}
	w.sample = formats.Sample{}
	budget.SharedInputs.Release(w.input)
	w.input = 0
}
